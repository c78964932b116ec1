import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { databaseFile } from '../../src/database/index.ts'
import { cheapHash } from '../support/gateway.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'

const site = { id: 'test-site', url: 'http://127.0.0.1:8480' }

/** A folder whose config has Ada, and the command on it. */
function folderOfAda(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-erase-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const users = [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }]
  const file = join(folder, 'gatehouse.yaml')
  const listen = [{ host: '127.0.0.1', port: 0 }]
  writeFileSync(file, stringify({ site, listen, dataDir: 'state', runtimeDir: 'run', auth: { users } }))
  const erase = (...args: string[]) =>
    runToEnd(gatehouse, ['person', 'erase', ...args, '--config', file], { cwd: folder })
  const start = async () => {
    const daemon = await startDaemon(['--config', file], { cwd: folder })
    t.teardown(() => (daemon.child.exitCode === null ? daemon.end('SIGKILL') : undefined))
    return daemon
  }
  return { state: join(folder, 'state'), erase, start }
}

t.test('where there is no ledger the command says so, and makes none', async (t) => {
  const { state, erase } = folderOfAda(t)
  t.match(await erase('ada'), { code: 1, stderr: /there is no database/ })
  t.notOk(existsSync(state))
})

t.test('the command works with the daemon and without it', async (t) => {
  const { erase, start } = folderOfAda(t)
  const daemon = await start()
  const made = await fetch(`${daemon.url}/api/whms/warehouses`, {
    method: 'POST',
    headers: {
      Authorization: 'Bearer ada-secret',
      'X-Storage-Instance': site.url,
      'X-Storage-Username': 'ada',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ name: 'Hall', timezone: 'Europe/Berlin' }),
  })
  t.equal(made.status, 201)
  const viaDaemon = await erase('ada')
  t.match(viaDaemon, { code: 0, stdout: /shown as by erased\n/ })
  t.match(viaDaemon.stdout, /The config has an account of this name/)
  t.match(await erase('nobody'), { code: 1, stderr: /no person is known as "nobody"/ })
  t.equal(await daemon.end('SIGTERM'), 0)
  const offline = await erase('ada', '--json')
  t.equal(offline.code, 0)
  t.match(JSON.parse(offline.stdout), { outcome: 'erased-before', shownAs: 'erased', accountInConfig: true })
  const unknown = await erase('nobody', '--json')
  t.match({ code: unknown.code, printed: JSON.parse(unknown.stdout) }, { code: 1, printed: { outcome: 'unknown' } })
})

t.test(
  'of two people of one name the command erases the one that is meant, and nobody until that is said',
  async (t) => {
    const { state, erase, start } = folderOfAda(t)
    await (await start()).end('SIGTERM')
    const known = (name: string) => {
      const db = new BetterSqlite3(databaseFile(state), { readonly: true })
      const instances = db.prepare('SELECT instance FROM person WHERE name = ? ORDER BY instance').pluck().all(name)
      db.close()
      return instances
    }
    const db = new BetterSqlite3(databaseFile(state))
    const insert = db.prepare(`INSERT INTO person (name, instance, salt) VALUES ('dana', ?, zeroblob(32))`)
    for (const instance of ['https://a.example', 'https://b.example', null]) insert.run(instance)
    db.close()
    const which = await erase('dana')
    t.match(which, { code: 1, stdout: '' })
    t.match(
      which.stderr,
      /2 people are called "dana": dana@https:\/\/a.example, dana@https:\/\/b.example\. Nothing was erased/,
    )
    t.strictSame(known('dana'), [null, 'https://a.example', 'https://b.example'])
    const asked = await erase('dana', '--json')
    t.equal(asked.code, 1)
    t.match(JSON.parse(asked.stdout), {
      outcome: 'ambiguous',
      identities: ['dana@https://a.example', 'dana@https://b.example'],
    })
    t.match(await erase('dana@https://a.example'), {
      code: 0,
      stdout: /Rows that know the name alone .* stay as they are/,
    })
    t.strictSame(known('dana'), [null, 'https://b.example'])
    t.match(await erase('dana@https://a.example'), { code: 0, stdout: /erased already, at / })
    t.match(await erase('dana'), { code: 0 })
    t.strictSame(known('dana'), [])
  },
)
