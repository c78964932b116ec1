import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { brightSpot, spot } from '../support/bright-spot.ts'
import { launchBrowser, open, signIn } from '../support/browser.ts'
import { cheapHash } from '../support/gateway.ts'
import { headers, site } from '../support/live-yard.ts'
import { fileNeeds } from '../support/needs.ts'
import { startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { screens } from '../support/screens.ts'
import { brightModel } from '../support/tiny-model.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'chromium-headless-shell')
t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

const folder = t.testdir({})
const model = join(folder, 'bright.onnx')
writeFileSync(model, brightModel({ names: `{0: 'bright'}` }))

const yard = (async () => {
  const rtsp = await startRtspServer({ streams: { spot: brightSpot(folder) } })
  t.teardown(() => rtsp.stop())
  const users = ['ada, role: admin', 'vic, role: viewer'].map(
    (user) => `{ username: ${user}, secretHash: "${cheapHash(`${user.split(',')[0]}-secret`)}" }`,
  )
  writeFileSync(
    join(folder, 'gatehouse.yaml'),
    `site: { id: objects, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [${users.join(', ')}] }
rateLimit: { requestsPerMinute: 100000 }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
console: { objectDetection: { enabled: true, modelFile: bright.onnx } }
cameras:
  - { id: 1, name: Door, url: "${rtsp.url('spot')}", owner: vic, motion: { preRecordSeconds: 1, postRecordSeconds: 1 } }
`,
  )
  const daemon = await startDaemon(['--config', join(folder, 'gatehouse.yaml')], { cwd: folder })
  t.teardown(() => daemon.end('SIGKILL'))
  return { daemon, rtsp }
})()

type Mark = { x: number; y: number; width: number; height: number; words: string }

/** The boxes on the screen, in shares of the shown picture. */
const marksOn = (page: Page): Promise<Mark[]> =>
  page.evaluate(`(() => {
    const video = document.querySelector('.live video, .live canvas')
    const frame = video.getBoundingClientRect()
    const [w, h] = [video.videoWidth || video.width, video.videoHeight || video.height]
    const scale = Math.min(frame.width / w, frame.height / h)
    const [left, top] = [frame.x + (frame.width - w * scale) / 2, frame.y + (frame.height - h * scale) / 2]
    return [...document.querySelectorAll('.object-mark')].map((mark) => {
      const box = mark.querySelector('rect').getBoundingClientRect()
      return {
        x: (box.x - left) / (w * scale), y: (box.y - top) / (h * scale),
        width: box.width / (w * scale), height: box.height / (h * scale),
        words: mark.textContent,
      }
    })
  })()`)

/** Whether the marks are what the model sees: the spot fills two of its cells, side by side. */
function areOnTheSpot(marks: readonly Mark[]): boolean {
  const isNear = (a: number, b: number) => Math.abs(a - b) < 0.03
  const half = spot.width / 2
  const expected = [spot.x, spot.x + half]
  const sorted = marks.toSorted((a, b) => a.x - b.x)
  return (
    marks.length === 2 &&
    sorted.every(
      (mark, n) =>
        isNear(mark.x, expected[n] ?? 0) &&
        isNear(mark.y, spot.y) &&
        isNear(mark.width, half) &&
        isNear(mark.height, spot.height) &&
        /^bright (9\d|100) %$/.test(mark.words),
    )
  )
}

t.test('a browser marks objects where they are, and no picture leaves it', async (t) => {
  const { daemon, rtsp } = await yard
  const { page, faults } = await open(t, browser, `${daemon.url}/cameras/1`)
  const sent: string[] = []
  const asked: string[] = []
  page.context().on('request', (request) => {
    asked.push(`${request.method()} ${new URL(request.url()).pathname.replace(/-[A-Z0-9]{8}\./, '.')}`)
    if (request.postDataBuffer() !== null) sent.push(`${request.method()} ${request.url()}`)
  })
  page.on('websocket', (socket) => socket.on('framesent', () => sent.push(socket.url())))
  await signIn(page, 'vic')
  const marking = page.getByRole('checkbox', { name: 'Mark objects in this picture' })
  await marking.waitFor()
  t.notOk(await marking.isChecked(), 'off at first')
  t.notMatch(asked.join('\n'), /object-worker|objects\.wasm|\/models\//, 'and nothing of it is loaded')
  const before = [...sent]
  await marking.check()
  await page.getByText(/It sends and stores none of them/).waitFor()
  await eventually(() => marksOn(page), areOnTheSpot)
  t.match(await page.locator('.object-marks').getAttribute('aria-label'), /^Found: bright \d+ %, bright \d+ %$/)
  for (const wanted of [
    /GET \/assets\/object-worker\.js/,
    /GET \/assets\/objects\.wasm/,
    /object-detection\/models\/\w{64}/,
  ]) {
    t.match(asked.join('\n'), wanted)
  }
  // A whole round of the camera with something that moves: it is recorded as ever.
  type Detection = { clipStatus: string; clipSha256: string | null }
  const answer = async () => {
    const list = await fetch(`${daemon.url}/api/iot/detection-events?cctvId=1`, { headers: headers('ada') })
    return ((await list.json()) as { data: Detection[] }).data
  }
  const [first] = await eventually(answer, (list) => list.some(({ clipStatus }) => clipStatus === 'recorded'))
  t.ok(first)
  t.equal(rtsp.clients('spot').mostAtOnce, 1, 'the camera has one connection')
  t.same(sent, before, 'the page has sent nothing')
  t.same(await violations(page), [])
  for (const [screen, { viewport }] of Object.entries(screens)) {
    await page.setViewportSize(viewport)
    await eventually(() => marksOn(page), areOnTheSpot)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${screen}: fits`)
  }
  await marking.uncheck()
  await page.locator('.object-marks').waitFor({ state: 'detached' })
  await waitUntil('the worker is gone', () => page.workers().length === 0)
  t.same(faults, [], 'and the content security policy has nothing against it')
})

t.test('marks are on converted pictures too', async (t) => {
  const { daemon } = await yard
  const { page } = await open(t, browser, `${daemon.url}/cameras/1?format=mpeg1`)
  await signIn(page, 'vic')
  await page.getByRole('checkbox', { name: 'Mark objects in this picture' }).check()
  await eventually(() => marksOn(page), areOnTheSpot)
})

t.test('the worker could ask nobody, and the page runs no WebAssembly', async (t) => {
  const { daemon } = await yard
  const page = await fetch(`${daemon.url}/cameras/1`)
  t.notMatch(page.headers.get('content-security-policy'), /unsafe/)
  const { page: tab } = await open(t, browser, `${daemon.url}/cameras/1`)
  await signIn(tab, 'vic')
  await tab.getByRole('checkbox', { name: 'Mark objects in this picture' }).check()
  await eventually(() => marksOn(tab), areOnTheSpot)
  const [worker] = tab.workers()
  const tries: readonly string[] | undefined = await worker?.evaluate(`Promise.all([
    fetch('/api/session', { method: 'POST', body: 'x' }).then(() => 'sent', (error) => error.name),
    new Promise((done) => { try { const s = new WebSocket('ws://' + location.host); s.onopen = () => done('sent'); s.onerror = () => done('refused') } catch (error) { done(error.name) } }),
    new Promise((done) => { try { importScripts('/assets/none.js'); done('ran') } catch (error) { done(error.name) } }),
  ])`)
  t.strictSame(tries, ['TypeError', 'refused', tries?.[2]])
  t.not(tries?.[2], 'ran')
})

t.test('without a model, or with one that cannot be used, the page says what to do', async (t) => {
  const { daemon } = await yard
  writeFileSync(model, 'not a model')
  const { page } = await open(t, browser, `${daemon.url}/cameras/1`, { locale: 'de-DE' })
  await signIn(page, 'ada')
  await page
    .getByText(/Modell von console\.objectDetection\.modelFile nicht brauchbar ist: The file is no ONNX model/)
    .waitFor()
  t.equal(await page.getByRole('checkbox').count(), 0)
  t.same(await violations(page), [])
  writeFileSync(model, brightModel())
  await page.reload()
  await page.getByRole('checkbox', { name: 'Objekte in diesem Bild markieren' }).waitFor()
})
