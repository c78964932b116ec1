import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { initTls } from '../../src/http/index.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

const dir = 'tls'
const listen = [{ host: '127.0.0.1', port: 8443, tls: { certFile: `${dir}/cert.pem`, keyFile: `${dir}/key.pem` } }]

/** A gateway with its own CA in its folder. */
async function box(t: Test): Promise<{ gateway: TestGateway; ca: string; fingerprint: string }> {
  const gateway = await testGateway({ config: { listen } })
  t.teardown(() => gateway.end())
  const made = await initTls({
    dir: join(gateway.folder, dir),
    ...{ names: ['gatehouse.test'], days: 30, nowMs: Date.now(), force: false },
  })
  return { gateway, ca: readFileSync(made.caFile ?? '', 'utf8'), fingerprint: made.caFingerprint ?? '' }
}

t.test('a device reads without sign-in how it comes to trust the box, and the fingerprint to compare', async (t) => {
  const { gateway, ca, fingerprint } = await box(t)
  const page = await gateway.ask('GET', '/trust')
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(page.headers.get('content-security-policy'), /script-src 'self'.*trusted-types 'none'/)
  const words = page.text.replaceAll(/<[^>]*>|\s/g, '')
  t.ok(
    words.includes(
      fingerprint
        .match(/.{1,24}/g)
        ?.map((row) => row.replace(/:$/, ''))
        .join('') ?? '-',
    ),
  )
  for (const name of ['Android', 'iPhone and iPad', 'Windows', 'Linux']) t.match(page.text, `<h3>${name}</h3>`)
  t.notMatch(page.text, /test-site|<script/, 'nothing of the site is told, and no script runs')
  const icon = page.text.match(/<link rel="icon" href="([^"]+)"/)?.[1] ?? '/no-icon'
  t.match(await gateway.ask('GET', icon), { status: 200 }, 'a browser asks for no other icon')
  const file = await gateway.ask('GET', '/trust/ca.crt')
  t.match(file, { status: 200 })
  t.equal(file.headers.get('content-type'), 'application/x-x509-ca-cert')
  t.equal(new X509Certificate(file.bytes).fingerprint256, new X509Certificate(ca).fingerprint256)
})

t.test('the page speaks the language of the device, and offers the other one', async (t) => {
  const { gateway } = await box(t)
  const titleFor = async (path: string, header?: string) => {
    const headers = header === undefined ? {} : { 'Accept-Language': header }
    const page = await gateway.ask('GET', path, { headers })
    t.match(page.headers.get('vary'), /Accept-Language/)
    return [
      page.headers.get('content-language'),
      /<html lang="(..)">.*<h1>(.*)<\/h1>/s.exec(page.text)?.slice(1).join(': '),
    ]
  }
  const [english, german] = [
    ['en', 'en: Trust this gateway'],
    ['de', 'de: Diesem Gateway vertrauen'],
  ]
  t.strictSame(await titleFor('/trust'), english)
  t.strictSame(await titleFor('/trust', 'de-AT,de;q=0.9,en;q=0.8'), german)
  t.strictSame(await titleFor('/trust', 'fr,en;q=0.5,de;q=0.7'), german)
  t.strictSame(await titleFor('/trust', 'pl'), english)
  t.strictSame(await titleFor('/trust?language=de', 'en'), german)
  t.strictSame(await titleFor('/trust?language=xx', 'de'), german)
  t.match((await gateway.ask('GET', '/trust')).text, '<a class="button" href="?language=de" lang="de">Deutsch</a>')
})

t.test('the code of a new handheld carries the fingerprint, so that it can be compared', async (t) => {
  const { gateway, fingerprint } = await box(t)
  const { body } = await gateway.ask('POST', '/api/devices', { by: people.ada, body: { name: 'handheld-7' } })
  t.strictSame(JSON.parse(body.enrolment.text), {
    url: 'http://127.0.0.1:8480',
    code: body.enrolment.code,
    caFingerprint: fingerprint,
  })
})

t.test('the file of the CA never gives away the key that somebody left in it', async (t) => {
  const { gateway, ca } = await box(t)
  const folder = join(gateway.folder, dir)
  writeFileSync(join(folder, 'ca.pem'), ca + readFileSync(join(folder, 'ca.key'), 'utf8'))
  const file = await gateway.ask('GET', '/trust/ca.crt')
  t.equal(file.status, 200)
  t.notMatch(file.text, /PRIVATE/)
})

t.test('a gateway without a CA of its own says that there is nothing to install', async (t) => {
  const { gateway } = await box(t)
  const other = await testGateway()
  t.teardown(() => other.end())
  t.match((await other.ask('GET', '/trust')).text, /There is nothing to install/)
  t.match(await other.ask('GET', '/trust/ca.crt'), { status: 404 })
  const folder = join(gateway.folder, dir)
  const foreign = await initTls({
    dir: join(gateway.folder, 'foreign'),
    ...{ names: ['other.test'], days: 30, nowMs: Date.now(), force: false },
  })
  writeFileSync(join(folder, 'ca.pem'), readFileSync(foreign.caFile ?? ''))
  t.match((await gateway.ask('GET', '/trust')).text, /There is nothing to install/, 'a CA of something else')
  t.match(await gateway.ask('GET', '/trust/ca.crt'), { status: 404 })
})
