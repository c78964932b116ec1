import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { initTls } from '../../src/http/index.ts'
import { authorityOf } from '../../src/hub/authority.ts'
import { newSigner, type TestLog, testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { feedOf, feedPathOf, type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { certificate } from '../support/receiver.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const log = testLog({ leaves: floorLeaves({ count: 5 }) })

const enrol = (hub: TestHub, code: string, more: Partial<Record<string, unknown>> = {}, of: TestLog = log) =>
  hub.ask('POST', '/api/hub/v1/enrol', {
    body: {
      ...{ code, siteId: of.siteId, name: 'a name', timezone: 'Europe/Berlin', logId: of.logId },
      vkeys: of.signers.map(({ vkey }) => vkey),
      ...more,
    },
  })

const codeFor = async (hub: TestHub, siteId = 'dc-7') =>
  (await hub.enrolments.makeCode({ siteId, name: 'Hall seven' }, 'ab12')).code

t.test('a code lets one gateway in, once, and its token feeds its log', async (t) => {
  const hub = await testHub(t, postgres)
  const code = await codeFor(hub)
  t.match(code, /^[\w-]{27}\.ab12$/, 'secret and fingerprint')
  const { status, body } = await enrol(hub, code)
  t.equal(status, 201)
  t.equal((await hub.ask('POST', feedPathOf(log), { token: body.token, body: feedOf(log, 0, 5) })).status, 200)
  t.equal((await enrol(hub, code)).status, 403, 'used')
  t.match(await hub.rows('SELECT * FROM site'), [{ site_id: 'dc-7', name: 'Hall seven', timezone: 'Europe/Berlin' }])
  const secrets = JSON.stringify([
    await hub.rows('SELECT * FROM enrolment'),
    await hub.rows('SELECT * FROM gateway_token'),
  ])
  t.notMatch(secrets, code.split('.')[0] ?? '-', 'the code is not stored')
  t.notMatch(secrets, body.token, 'the token is not stored')
})

t.test('a code is refused when it is guessed, too old or of another site', async (t) => {
  const hub = await testHub(t, postgres)
  t.match(await enrol(hub, 'guessed.ab12'), { status: 403, body: { error: { code: 'ENROLMENT_REFUSED' } } })
  const [ofOther, old] = [await codeFor(hub, 'dc-8'), await codeFor(hub)]
  t.equal((await enrol(hub, ofOther)).status, 403, 'of another site')
  hub.clock.advance(24 * 60 * 60 * 1000 + 1)
  t.equal((await enrol(hub, old)).status, 403, 'too old')
  t.same(await hub.rows('SELECT * FROM gateway_token'), [])
})

t.test('a gateway that lost its token enrols again, but not with other keys', async (t) => {
  const hub = await testHub(t, postgres)
  await enrol(hub, await codeFor(hub))
  t.equal((await enrol(hub, await codeFor(hub))).status, 201, 'the same keys')
  const stranger = testLog({ leaves: log.leaves })
  const again = await codeFor(hub)
  t.match(await enrol(hub, again, {}, stranger), { status: 409, body: { error: { code: 'LOG_TAKEN' } } })
  t.equal((await enrol(hub, again)).status, 201, 'a refusal does not use the code up')
})

t.test('an enrolment that is wrong is refused before its code is used', async (t) => {
  const hub = await testHub(t, postgres)
  const code = await codeFor(hub)
  const cases: [string, Record<string, unknown>][] = [
    ['keys of another log', { vkeys: [newSigner('gatehouse/dc-7/another', 1).vkey] }],
    ['a witness key', { vkeys: [newSigner(log.origin, 4).vkey] }],
    ['no key', { vkeys: [] }],
    ['a time zone that is none', { timezone: 'Mars/Olympus' }],
    ['a log id that is none', { logId: 'x' }],
  ]
  for (const [name, more] of cases) t.equal((await enrol(hub, code, more)).status, 400, name)
  t.equal((await enrol(hub, code)).status, 201)
})

t.test('a stranger may try 20 codes a minute', async (t) => {
  const hub = await testHub(t, postgres)
  const statuses: number[] = []
  for (let i = 0; i < 21; i += 1) statuses.push((await enrol(hub, `guess-${i}.`)).status)
  t.same([...new Set(statuses.slice(0, 20))], [403])
  t.equal(statuses[20], 429)
})

t.test('a revoked token feeds nothing any more', async (t) => {
  const hub = await testHub(t, postgres)
  const token = await hub.enrol(log)
  await hub.rows('UPDATE gateway_token SET revoked_at = now()')
  t.equal((await hub.ask('POST', feedPathOf(log), { token, body: feedOf(log, 0, 5) })).status, 401)
})

t.test('the code carries the authority that gateways find at this address', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const listen = (certFile: string) =>
    [{ host: '0.0.0.0', port: 8443, allowPlainHttp: false, tls: { certFile, keyFile: 'unused' } }] as const
  const made = await initTls({ dir: folder, names: ['hub.example'], days: 90, nowMs: Date.now(), force: false })
  const shown = made.caFingerprint?.replaceAll(':', '').toLowerCase()
  t.equal(authorityOf(listen(made.certFile))?.fingerprint, shown, 'as "tls init" shows it')
  const own = join(folder, 'self-signed.pem')
  const { cert } = await certificate()
  writeFileSync(own, cert)
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  t.equal(authorityOf(listen(own))?.fingerprint, fingerprint, 'a certificate that vouches for itself')
  t.equal(authorityOf([{ host: '127.0.0.1', port: 80, allowPlainHttp: false, tls: null }]), undefined)
})
