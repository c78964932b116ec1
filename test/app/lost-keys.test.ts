import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { acceptFork } from '../../src/evidence/index.ts'
import { furnish, people, siteUrl, testGateway } from '../support/gateway.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { configText } from './daemon-folder.ts'

const config = { site: { id: 'daemon-test', url: siteUrl }, webhooks: { allowNetworks: ['127.0.0.0/8'] } }

function newFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-keys-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Folder of a closed gateway whose log is signed, and which has a webhook. */
async function signedBox(t: Test): Promise<string> {
  const folder = newFolder(t)
  const gateway = await testGateway({ folder, config })
  await furnish(gateway, ['A-01'])
  const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
  const hook = { url: 'https://127.0.0.1:9/', events: ['event.created'] }
  t.equal((await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })).status, 201)
  await gateway.checkpoints.make()
  gateway.close()
  return folder
}

t.test('a key that is missing, damaged or of another box is refused with its name and the remedy', async (t) => {
  const [box, stranger] = [await signedBox(t), await signedBox(t)]
  const keyOf = (folder: string, name: string) => join(folder, 'state/keys', name)
  const missing = (name: string) => (folder: string) => rmSync(keyOf(folder, name))
  const replaced = (name: string) => (folder: string) => cpSync(keyOf(stranger, name), keyOf(folder, name))
  const empty = (name: string) => (folder: string) => writeFileSync(keyOf(folder, name), '')
  const logRemedy = /from a backup.*restore --accept-fork/s
  const boxRemedy = /from a backup.*touch .*box\.key\.lost/s
  const cases: [string, (folder: string) => void, RegExp, RegExp][] = [
    ['log.key is missing', missing('log.key'), /keys\/log\.key is missing/, logRemedy],
    ['log-mldsa.key is missing', missing('log-mldsa.key'), /keys\/log-mldsa\.key is missing/, logRemedy],
    ['box.key is missing', missing('box.key'), /keys\/box\.key is missing/, boxRemedy],
    [
      'keys/ is missing',
      (folder) => rmSync(keyOf(folder, '.'), { recursive: true }),
      /keys\/\w+\.key is missing/,
      /backup/,
    ],
    ['log.key is another', replaced('log.key'), /keys\/log\.key is not the key/, logRemedy],
    ['log-mldsa.key is another', replaced('log-mldsa.key'), /keys\/log-mldsa\.key is not the key/, logRemedy],
    ['box.key is another', replaced('box.key'), /keys\/box\.key is not the key/, boxRemedy],
    ['box.key is empty', empty('box.key'), /keys\/box\.key has 0 bytes/, boxRemedy],
    ['log.key is empty', empty('log.key'), /keys\/log\.key/, /from a backup/],
  ]
  for (const [name, damage, message, remedy] of cases) {
    const folder = newFolder(t)
    cpSync(box, folder, { recursive: true })
    damage(folder)
    const before = readFileSync(join(folder, 'state/gatehouse.db'))
    const refusal = await testGateway({ folder, config }).then(
      () => ({ exitCode: 0, message: 'it starts' }),
      (error) => error,
    )
    t.match(refusal, { exitCode: 78, message }, name)
    t.match(refusal.message, remedy, name)
    t.ok(before.equals(readFileSync(join(folder, 'state/gatehouse.db'))), 'the database is as it was')
  }
})

t.test('the daemon ends with 78 without a key, and its message is on stderr', async (t) => {
  const cwd = await signedBox(t)
  rmSync(join(cwd, 'state/keys/log.key'))
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText())
  const ended = await runToEnd(gatehouse, ['serve', '--config', file], { cwd })
  t.match(ended, { code: 78, stderr: /keys\/log\.key is missing.*restore --accept-fork/s })
})

t.test('a command that shows the keys makes none in place of missing ones', async (t) => {
  const cwd = await signedBox(t)
  const key = join(cwd, 'state/keys/log.key')
  rmSync(key)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText())
  const ended = await runToEnd(gatehouse, ['ledger', 'key', '--config', file], { cwd })
  t.match(ended, { code: 78, stderr: /keys\/log\.key is missing.*restore --accept-fork/s })
  t.equal(existsSync(key), false)
})

t.test('a box whose keys are lost for good starts again after the named remedies', async (t) => {
  const folder = await signedBox(t)
  const keys = join(folder, 'state/keys')
  rmSync(keys, { recursive: true })
  acceptFork(join(folder, 'state'), { makeId: () => '0198c0de-0000-7000-8000-000000000001', nowMs: Date.now() })
  writeFileSync(join(keys, 'box.key.lost'), '')
  const gateway = await testGateway({ folder, config })
  const [hook] = (await gateway.ask('GET', '/api/webhooks', { by: people.ada })).body.data
  const rotated = await gateway.ask('POST', `/api/webhooks/${hook.id}/rotate-secret`, { by: people.ada })
  t.equal(rotated.status, 200, rotated.text)
  await gateway.checkpoints.make()
  const again = await gateway.restart()
  t.equal((await again.ask('GET', '/api/whms/events', { by: people.ada })).body.pagination.total, 1)
  again.close()
})
