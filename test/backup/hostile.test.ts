import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import {
  type AnyManifest,
  backedUp,
  manifestIn,
  newFolder,
  repacked,
  restored,
  stocked,
  unpacked,
} from '../support/backups.ts'

/** A backup of one event, made once: each story changes a copy of it. */
const good: { file: string } = { file: '' }
t.before(async () => {
  const gateway = await stocked(t)
  good.file = await backedUp(t, gateway, true)
})

/** Says what a restore into an empty folder answers, and that it left nothing there. */
async function refusalOf(t: Test, file: string, siteId = 'test-site'): Promise<string> {
  const dataDir = join(newFolder(t), 'state')
  const answer = await restored(file, dataDir, { siteId }).then(
    () => 'restored',
    (error: Error) => error.message,
  )
  t.same(
    readdirSync(dataDir).filter((name) => name !== 'gatehouse.lock'),
    [],
    'nothing is left',
  )
  return answer
}

const changed = (t: Test, change: (bytes: Buffer) => Buffer) => {
  const path = join(newFolder(t), 'changed.tar')
  writeFileSync(path, change(readFileSync(good.file)))
  return path
}

t.test('what is no backup is named for what it is', async (t) => {
  t.match(await refusalOf(t, join(newFolder(t), 'none.tar')), /there is no file/)
  t.match(
    await refusalOf(
      t,
      changed(t, () => Buffer.alloc(0)),
    ),
    /ends in the middle, after 0 bytes/,
  )
  t.match(
    await refusalOf(
      t,
      changed(t, () => Buffer.from('x'.repeat(2000))),
    ),
    /it is no tar file/,
  )
  t.match(
    await refusalOf(
      t,
      changed(t, (bytes) => gzipSync(bytes)),
    ),
    /is compressed; unpack it with gunzip/,
  )
  t.match(await refusalOf(t, join(unpacked(t, good.file), 'gatehouse.db')), /is a database; a backup is made by/)
  t.match(await refusalOf(t, newFolder(t)), /is not a file|EISDIR|no backup/)
})

t.test('a backup that was cut anywhere is refused', async (t) => {
  const { length } = readFileSync(good.file)
  for (const size of [100, 512, 700, Math.floor(length / 2), length - 1024, length - 1536]) {
    const file = changed(t, (bytes) => bytes)
    truncateSync(file, size)
    t.match(await refusalOf(t, file), /ends in the middle|no manifest/, `${size} of ${length}`)
  }
})

t.test('one changed byte of any file is found', async (t) => {
  const bytes = readFileSync(good.file)
  const at = bytes.indexOf('PLACED')
  t.ok(at > 0)
  t.match(
    await refusalOf(
      t,
      changed(t, (all) => flipped(all, at)),
    ),
    /gatehouse\.db does not have the bytes/,
  )
  t.match(
    await refusalOf(
      t,
      changed(t, (all) => flipped(all, 3)),
    ),
    /it is no tar file/,
    'in a header',
  )
})

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes
}

t.test(
  'a name that leads out of the data folder, a link and a folder are refused before anything is written',
  async (t) => {
    const folder = unpacked(t, good.file)
    const pack = (...args: string[]) => {
      const out = join(newFolder(t), 'bad.tar')
      execFileSync('tar', ['--format=ustar', '-cf', out, '-C', folder, ...args, 'gatehouse.db', 'manifest.json'])
      return out
    }
    writeFileSync(join(folder, 'evil'), 'evil')
    symlinkSync('/etc/passwd', join(folder, 'link'))
    for (const name of ['../evil', '/tmp/gatehouse-evil', 'keys/../../evil', 'photos/./x', 'gatehouse.db/x', 'evil']) {
      const file = pack('-P', '--transform', `s,^evil$,${name},`, 'evil')
      t.match(await refusalOf(t, file), /has no place in a data folder/, name)
    }
    t.notOk(existsSync('/tmp/gatehouse-evil'))
    t.match(await refusalOf(t, pack('link')), /"link" is not a plain file/)
    t.match(await refusalOf(t, pack('keys')), /"keys\/" is not a plain file/)
    t.match(await refusalOf(t, pack('keys/box.key', 'keys/box.key')), /twice|not a plain file/)
  },
)

t.test('a file that states a size beyond its end is refused, however large', async (t) => {
  const huge = (bytes: Buffer) => {
    const header = bytes.subarray(0, 512)
    header.fill(0, 124, 136)
    header[124] = 0x80
    header.writeBigUInt64BE(2n ** 52n, 128)
    header.fill(0x20, 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return bytes
  }
  t.match(await refusalOf(t, changed(t, huge)), /ends in the middle of gatehouse\.db/)
})

t.test('a manifest that says something else is refused', async (t) => {
  const folder = unpacked(t, good.file)
  const original = manifestIn(folder)
  const withManifest = (change: (manifest: AnyManifest) => void) => {
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(original))
    return repacked(t, folder, change)
  }
  const refusals: [RegExp, (manifest: AnyManifest) => void][] = [
    [/schema 999, and this gatehouse knows/, (manifest) => (manifest.schema = 999)],
    [/not one of gatehouse \(format/, (manifest) => (manifest.format = 'gatehouse-backup/9')],
    [/states 2 leaves .* its ledger has 1/, (manifest) => (manifest.size = 2)],
    [/not a signed checkpoint/, (manifest) => (manifest.checkpoint = 'no note')],
    [
      /is one of gatehouse\/other/,
      (manifest) =>
        (manifest.checkpoint = manifest.checkpoint
          .replaceAll('/test-site/', '/-/')
          .replace('gatehouse/-/', 'gatehouse/other/')),
    ],
    [
      /not signed by the keys of its log/,
      (manifest) => (manifest.checkpoint = withOtherSignature(manifest.checkpoint)),
    ],
    [/keys are not those of its manifest/, (manifest) => (manifest.keys = [manifest.keys[0]])],
  ]
  for (const [words, change] of refusals) t.match(await refusalOf(t, withManifest(change)), words)
  t.match(await refusalOf(t, good.file, 'dc-8'), /is one of site test-site, and the config says site.id dc-8/)
})

/** Exchanges one letter of the first signature. */
function withOtherSignature(note: string): string {
  const at = note.indexOf('\n\n') + 80
  return `${note.slice(0, at)}${note[at] === 'A' ? 'B' : 'A'}${note.slice(at + 1)}`
}

t.test(
  'a ledger that was changed inside the backup does not come back, though the manifest agrees with it',
  async (t) => {
    const folder = unpacked(t, good.file)
    const db = new BetterSqlite3(join(folder, 'gatehouse.db'))
    const guards = db
      .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'placement_event'`)
      .all() as { name: string; sql: string }[]
    for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`)
    db.exec(`UPDATE placement_event SET asset_barcode = 'P-7'`)
    for (const { sql } of guards) db.exec(sql)
    db.close()
    t.match(await refusalOf(t, repacked(t, folder)), /does not verify:\n +event 1 .*differs from its leaf/)
  },
)
