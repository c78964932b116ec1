import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { initTls } from '../../src/http/index.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { gatehouse, runToEnd } from '../support/process.ts'

fileNeeds(t, 'postgresql')

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const authority = (name: string, names: string[]) =>
  initTls({ dir: join(folder, name), names, days: 9, nowMs: Date.now(), force: false })
const own = await authority('own', ['localhost'])
const other = await authority('other', ['localhost'])

/** Only this process listens there: all of 127/8 is this machine. */
const address = `127.${process.pid & 127}.${(process.pid >> 7) & 255}.9`
const { certFile, keyFile } = own
const postgres = await startPostgres(t, { tls: { address, certFile, keyFile } })
await postgres.database('hub')
const plain = await startPostgres(t)
const dayMs = 86_400_000
const past = await initTls({
  ...{ dir: join(folder, 'past'), names: ['localhost'], days: 9, nowMs: Date.now() - 30 * dayMs, force: false },
})
const expired = await startPostgres(t, {
  tls: { address: address.replace(/9$/, '10'), certFile: past.certFile, keyFile: past.keyFile },
})
await expired.database('hub')

/** Passes bytes on from a port at localhost. */
async function localPort(to: { host: string; port: number } | { path: string }): Promise<number> {
  const server = createServer((socket) => {
    const onward = connect('path' in to ? to : { ...to, localAddress: '127.0.0.1' })
    for (const one of [socket, onward]) one.on('error', () => undefined)
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

const port = await localPort({ host: address, port: 5432 })
const expiredPort = await localPort({ host: address.replace(/9$/, '10'), port: 5432 })
const plainPort = await localPort({ path: join(plain.folder, '.s.PGSQL.5432') })

/** Runs `gatehouse hub migrate`, or another command of it, with this database. */
function migrate(url: string, caFile: string | undefined, command = 'migrate') {
  const file = join(folder, 'hub.yaml')
  const database = { url, ...(caFile !== undefined && { caFile }) }
  writeFileSync(
    file,
    stringify({ site: { id: 'hub', url: 'https://hub.example' }, dataDir: 'state', hub: { database } }),
  )
  return runToEnd(gatehouse, ['hub', command, '--config', file])
}

const at = (host: string, mode = '?sslmode=verify-full') => `postgres://super@${host}/hub${mode}`

t.test('a database is reached over TLS when its certificate is by the named authority and for its name', async (t) => {
  t.match(await migrate(at(`localhost:${port}`), own.caFile), { code: 0, stdout: /applied 0001/ })
  t.match(await migrate(at(`localhost:${port}`, ''), own.caFile), { code: 0 }, 'the authority alone demands TLS too')
})

t.test('a database with a certificate by another authority is refused, and the message says what to do', async (t) => {
  const said = /cannot be reached: no authority that is known here signed its certificate .*hub\.database\.caFile/
  t.match(await migrate(at(`localhost:${port}`), other.caFile), { code: 1, stderr: said })
  t.match(await migrate(at(`localhost:${port}`), undefined), { code: 1, stderr: said }, 'none of the system did')
})

t.test('a database with a certificate for another name is refused, and the message has both names', async (t) => {
  const said = /its certificate is for DNS:localhost, not for 127\.0\.0\.1; .*hub\.database\.url/
  t.match(await migrate(at(`127.0.0.1:${port}`), own.caFile), { code: 1, stderr: said })
})

t.test(
  'a database whose certificate has run out is refused: it is not migrated, and no head office starts',
  async (t) => {
    for (const command of ['migrate', 'serve']) {
      const { code, stderr, stdout } = await migrate(at(`localhost:${expiredPort}`), past.caFile, command)
      t.equal(code, 1, command)
      t.match(`${stdout}${stderr}`, /the database cannot be reached: its certificate has run out; renew it there/)
    }
    t.same(await expired.ask('hub', `SELECT 1 FROM pg_tables WHERE schemaname = 'public'`), [])
  },
)

t.test(
  'nothing goes to a database without TLS where TLS is demanded, nor in clear text where the database demands it',
  async (t) => {
    t.match(await migrate(at(`localhost:${plainPort}`), own.caFile), { code: 1, stderr: /it has no TLS/ })
    t.match(await migrate(at(`localhost:${port}`, ''), undefined), { code: 1, stderr: /no encryption/ })
  },
)
