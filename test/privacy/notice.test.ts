import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { people, signedIn, testGateway } from '../support/gateway.ts'

const address = '/api/iot/cctv/7/notice'
const camera = { id: 7, name: 'Dock <door> 1 & 2', url: 'rtsp://192.0.2.7/main', owner: 'vera' }
const full = {
  privacy: {
    controller: 'Example Logistics GmbH, Hafenstrasse 1, 20457 Hamburg',
    contact: 'privacy@dc7.example, +49 40 123456',
    legalBasis: 'Legitimate interests: protection of goods (Art. 6 (1) (f) GDPR).',
  },
  retention: { clips: { maxAgeDays: 14 } },
  cameras: [{ ...camera, purpose: 'To show "how" pallets were <received>.' }],
}
const asJson = { by: people.vera, headers: { Accept: 'application/json' } }

t.test('the notice says who, why, when, how long, whom to ask, and that no sound is recorded', async (t) => {
  const gateway = await testGateway({ config: full })
  t.teardown(() => gateway.end())
  const { status, body } = await gateway.ask('GET', address, asJson)
  t.equal(status, 200)
  t.match(body, {
    who: full.privacy.controller,
    why: 'To show "how" pallets were <received>.',
    legalBasis: full.privacy.legalBasis,
    when: /^Day and night; pictures are recorded when something moves/,
    howLong: /after 14 days at the latest; longer only while/,
    whom: full.privacy.contact,
    sound: 'No sound is recorded.',
    issuedAt: new Date(gateway.clock.now()).toISOString(),
    missing: { length: 0 },
  })
  t.strictSame((await gateway.ask('GET', `${address}?format=json`, { by: people.vera })).body, body)
  const { body: listed } = await gateway.ask('GET', '/api/iot/cctv', { by: people.vera })
  t.match(listed.data, [{ id: 7, purpose: 'To show "how" pallets were <received>.' }])
})

t.test('the notice says during which hours a camera records', async (t) => {
  const cameras = [{ ...camera, recordingHours: ['Mo-Fr 06:00-22:00'], retentionDays: 1 }]
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  const { body } = await gateway.ask('GET', address, asJson)
  t.match(body, { when: /^Mo-Fr 06:00-22:00 \(UTC\); pictures/, howLong: /after 1 day at the latest/ })
})

t.test('the notice says how long anything stays: continuous video, and copies elsewhere', async (t) => {
  writeFileSync(join(t.testdir(), 'cloud'), 'secret')
  const instance = 'https://cloud.example.com:8443/nc'
  const passwordFile = join(t.testdirName, 'cloud')
  const upload = { instance, username: 'dc7', passwordFile }
  const motion = { uploadToStorage: false }
  const cameras = [
    { ...camera, retentionDays: 1, history: { hours: 25 }, motion },
    { ...camera, id: 8, retentionDays: 0, slots: ['A-01'] },
    { ...camera, id: 9, retentionDays: 0, history: { hours: 1 }, motion },
  ]
  const config = { cameras, storage: { instances: [{ url: instance }], upload } }
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  const noticeOf = async (id: number) => (await gateway.ask('GET', `/api/iot/cctv/${id}/notice`, asJson)).body
  t.match(await noticeOf(7), {
    retentionDays: 1,
    howLong: /^Recordings are deleted after 2 days at the latest; [^.]+\.$/,
  })
  t.match(await noticeOf(8), {
    when: /recorded when something moves, and when goods in front of it are booked\.$/,
    howLong:
      /^Recordings are deleted at once; .*\. Copies are stored at cloud\.example\.com:8443; they are not deleted by/,
  })
  t.match(await noticeOf(9), { howLong: /^Recordings are deleted after 1 day at the latest; [^.]+\.$/ })
  const start = { cctvId: 9, action: 'start', uploadToStorage: true }
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by: people.ada, body: start })
  t.match(await noticeOf(9), { howLong: /Copies are stored at cloud/ }, 'as the start through the API has it')
})

t.test('the page to print shows every value as text, runs nothing and fetches nothing', async (t) => {
  const gateway = await testGateway({ config: full })
  t.teardown(() => gateway.end())
  const { headers, text } = await gateway.ask('GET', address, { by: people.vera })
  t.match(headers.get('content-type'), 'text/html')
  t.match(
    headers.get('content-security-policy'),
    /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'/,
  )
  t.match(text, 'Dock &lt;door&gt; 1 &amp; 2')
  t.match(text, 'To show &quot;how&quot; pallets were &lt;received&gt;.')
  t.notMatch(text, /<script|<received>|src=|href=|url\(| on\w+=/)
})

t.test('what the config does not say is marked on the notice, and config check warns of it', async (t) => {
  const gateway = await testGateway({ config: { cameras: [camera] } })
  t.teardown(() => gateway.end())
  const { body } = await gateway.ask('GET', address, asJson)
  t.match(body, { who: null, why: null, whom: null, legalBasis: null, howLong: /after 30 days/ })
  t.strictSame(body.missing, ['privacy.controller', 'privacy.contact', 'cameras[id=7].purpose'])
  const { text } = await gateway.ask('GET', address, { by: people.vera })
  t.equal(text.match(/Not stated yet/g)?.length, 3)
  const { loadConfig } = await import('../../src/config/index.ts')
  t.match(
    loadConfig(`${gateway.folder}/gatehouse.yaml`).warnings.filter((one) => one.includes('notice at the door')),
    [/privacy: the notice .* set privacy\.controller, privacy\.contact, the purpose of camera 7$/],
  )
})

t.test('the notice is seen by whoever sees the camera, and is 404 for all others', async (t) => {
  const gateway = await testGateway({ config: full })
  t.teardown(() => gateway.end())
  t.equal((await gateway.ask('GET', address, { by: people.ada })).status, 200)
  const hidden = await gateway.ask('GET', address, { by: people.sven })
  const unknown = await gateway.ask('GET', '/api/iot/cctv/77/notice', { by: people.sven })
  t.match([hidden, unknown], [{ status: 404 }, { status: 404 }])
  t.equal(hidden.body.error.message, unknown.body.error.message)
})

t.test('the notice is in German for who asks for it, with the days of the week; programs get English', async (t) => {
  const cameras = [{ ...camera, recordingHours: ['Tu-Su 06:00-22:00'], retentionDays: 1 }]
  const gateway = await testGateway({ config: { ...full, cameras } })
  t.teardown(() => gateway.end())
  const get = (query: string, headers: Record<string, string>) =>
    gateway.ask('GET', `${address}${query}`, { by: people.vera, headers })
  const asked = await get('?language=de', {})
  t.match(asked.text, '<html lang="de">')
  t.match(asked.text, '<h1>Videoüberwachung</h1>')
  t.match(asked.text, /Di-So 06:00-22:00 \(UTC\); Bilder werden aufgezeichnet, wenn sich etwas bewegt\./)
  t.match(asked.text, 'spätestens nach 1 Tag gelöscht')
  t.match(asked.text, full.privacy.controller, 'what the config says stays as it is')
  t.match(asked.text, 'Die Verwaltung muss „purpose der Kamera“ in der Konfiguration setzen.')
  t.notMatch(asked.text, /\b(the|are|Not stated|Purpose)\b/)
  t.equal(asked.headers.get('content-language'), 'de')
  t.match(asked.headers.get('vary'), 'Accept-Language')
  const liked = { 'Accept-Language': 'de-AT, en;q=0.5' }
  t.match((await get('', liked)).text, '<h1>Videoüberwachung</h1>')
  t.match((await get('?language=en', liked)).text, '<h1>Video surveillance</h1>')
  t.match((await get('?format=json', liked)).body, { sound: 'No sound is recorded.' })
  t.match((await get('?format=json&language=de', {})).body, { sound: 'Es wird kein Ton aufgezeichnet.' })
  t.match(await get('?language=fr', {}), { status: 400 })
})

const browser = await launchBrowser()
t.teardown(() => browser?.close())

t.test('the printed notice is one sheet of A4, with its style and without a fault', inBrowser, async (t) => {
  const { url } = await place(t, full)
  const { page, faults } = await open(t, browser, 'about:blank', { extraHTTPHeaders: signedIn(people.vera) })
  await page.goto(`${url}api/iot/cctv/7/notice`)
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Video surveillance')
  t.ok(await page.getByText('Dock <door> 1 & 2', { exact: false }).first().isVisible())
  const sign = await page.locator('header svg').boundingBox()
  t.equal(Math.round(sign?.width ?? 0), 159, 'the style sheet is allowed: 42 mm')
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  t.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, 'one page')
  if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'], fullPage: true })
  await page.goto(`${url}api/iot/cctv/7/notice?language=de`)
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Videoüberwachung')
  const german = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  t.equal(german.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, 'one page in German too')
  t.same(await violations(page), [])
  t.strictSame(faults, [])
})

t.test('the console opens the notice in its language', inBrowser, async (t) => {
  const { url } = await place(t, full)
  const { page } = await open(t, browser, `${url}cameras/7`, { locale: 'de-DE' })
  await signIn(page, 'vera')
  const paper = page.context().waitForEvent('page')
  await page.locator('a[href*="/notice"]').click()
  await (await paper).getByRole('heading', { name: 'Videoüberwachung' }).waitFor()
})
