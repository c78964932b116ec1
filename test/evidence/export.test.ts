import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/run.ts'
import { databaseFile } from '../../src/database/index.ts'
import { acceptFork } from '../../src/evidence/index.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { sha256 } from '../support/evidence/merkle.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { mirrorLog } from '../support/evidence/tiles.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { gatehouse } from '../support/process.ts'
import { filesBelow } from '../support/segments.ts'
import { place, signedLedger } from '../support/tamper.ts'

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-export-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Exports to a name in a new folder; returns its path. */
async function exported(t: Test, gateway: TestGateway, name: string): Promise<string> {
  const out = join(newFolder(t), name)
  const config = join(gateway.folder, 'gatehouse.yaml')
  t.equal(await run(['ledger', 'export', '--out', out, '--config', config]), 0)
  t.notOk(existsSync(`${out}.part`))
  return out
}

/** Checks a log of a copy as an auditor would who has only the copy and a key. */
function mirrored(folder: string, vkeys: readonly string[]) {
  const fetch = async (path: string) => (existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : undefined)
  return mirrorLog({ fetch, keys: vkeys.map(parseVkey) })
}

const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n')

t.test('a stranger checks the whole log in a copy, also while the gateway runs, and finds no name in it', async (t) => {
  const gateway = await signedLedger(t)
  await gateway.checkpoints.make()
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  await place(gateway, 9)
  const out = await exported(t, gateway, 'copy')
  const [log = ''] = readdirSync(join(out, 'logs'))
  t.equal(log, gateway.logIdentity.logId)
  const folder = join(out, 'logs', log)
  const { size, leaves } = await mirrored(folder, [logKey])
  t.equal(size, 7, 'what no checkpoint covers is left out')
  t.strictSame(linesOf(join(folder, 'keys'))[0], logKey)
  t.strictSame(linesOf(join(folder, 'leaves.jsonl')), leaves.map(String))
  const sizes = linesOf(join(folder, 'checkpoints.jsonl')).map((line) => JSON.parse(line).size)
  t.equal(sizes[0], size)
  t.strictSame(
    sizes,
    sizes.toSorted((a, b) => b - a),
  )
  const [hash = ''] = /sed -n 42p.*$/m.exec(readFileSync(join(out, 'README.txt'), 'utf8')) ?? []
  const shell = hash.replace('42p', '2p').replace(/\) \|.*/, '')
  const bytes = execFileSync('sh', ['-c', `(printf '\\000'; ${shell})`], { cwd: folder })
  t.equal(
    sha256(bytes).toString('hex'),
    readFileSync(join(folder, 'tile/0/000.p', String(size))).toString('hex', 32, 64),
  )
  for (const file of filesBelow(out)) t.notOk(/olga|note 3/.test(readFileSync(file, 'latin1')), file)
})

t.test('the same as a tar, with every log of a box whose log was forked and whose keys were rotated', async (t) => {
  const gateway = await signedLedger(t)
  const first = gateway.logIdentity.logId
  await gateway.rotateKeys('root')
  gateway.close()
  const makeId = uuidv7Maker({ now: () => gateway.clock.now() }, systemRandom)
  acceptFork(gateway.dataDir, { makeId, nowMs: gateway.clock.now() })
  const again = await gateway.restart()
  t.teardown(() => again.end())
  await again.checkpoints.make()
  const tar = await exported(t, again, 'copy.tar')
  const into = newFolder(t)
  execFileSync('tar', ['-xf', tar, '-C', into])
  const logs = readdirSync(join(into, 'logs')).toSorted()
  t.same(logs, [first, again.logIdentity.logId].toSorted())
  for (const log of logs) {
    const folder = join(into, 'logs', log)
    t.equal((await mirrored(folder, linesOf(join(folder, 'keys')))).origin, `gatehouse/test-site/${log}`)
  }
  const handOvers = JSON.parse(readFileSync(join(into, 'logs', first, 'hand-overs.json'), 'utf8'))
  t.equal(handOvers.length, 1)
  t.equal(linesOf(join(into, 'logs', first, 'keys')).length, 4, 'the old and the new ones signed its last checkpoint')
})

t.test('standard output has the tar to itself, and what is said goes beside it', async (t) => {
  const gateway = await signedLedger(t)
  const config = join(gateway.folder, 'gatehouse.yaml')
  const { status, stdout, stderr } = spawnSync(gatehouse, ['ledger', 'export', '--out', '-', '--config', config])
  t.equal(status, 0, stderr.toString())
  t.match(stderr.toString(), /7 leaves/)
  const into = newFolder(t)
  execFileSync('tar', ['-xC', into], { input: stdout })
  const folder = join(into, 'logs', gateway.logIdentity.logId)
  t.equal((await mirrored(folder, linesOf(join(folder, 'keys')))).size, 7)
  const files = filesBelow(into).map((file) => readFileSync(file).length)
  const blocks = files.reduce((sum, length) => sum + 1 + Math.ceil(length / 512), 2)
  t.equal(stdout.length, blocks * 512, 'headers, files and the end of the tar, and not a byte else')
})

t.test('an export overwrites nothing, and needs a ledger with a checkpoint', async (t) => {
  const gateway = await signedLedger(t)
  const config = join(gateway.folder, 'gatehouse.yaml')
  const out = newFolder(t)
  t.equal(await run(['ledger', 'export', '--out', out, '--config', config]), 2)
  t.same(readdirSync(out), [])
  mkdirSync(join(out, 'other'))
  const empty = join(out, 'other', 'gatehouse.yaml')
  writeFileSync(empty, 'site: { id: other }\ndataDir: state\n')
  t.equal(await run(['ledger', 'export', '--out', join(out, 'copy'), '--config', empty]), 1)
  t.notOk(existsSync(databaseFile(join(out, 'other', 'state'))))
  t.equal((await gateway.ask('GET', '/api/health', { by: people.ada })).status, 200)
})
