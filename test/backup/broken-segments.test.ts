import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { folderSource } from '../../src/backup/index.ts'
import { packSegment, unpackSegment } from '../../src/backup/segments/payload.ts'
import { Seal } from '../../src/backup/segments/seal.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { barcodes, newFolder, opened, place } from '../support/backups.ts'
import type { TestGateway } from '../support/gateway.ts'
import { filesBelow, recoveryKeyOf, restoredFrom, segmenting, segmentsIn, written } from '../support/segments.ts'

/** Four pallets in as many segments. */
async function fourSegments(t: Test): Promise<{ gateway: TestGateway; folder: string; recoveryKey: Buffer }> {
  const { gateway, folder } = await segmenting(t)
  await written(gateway)
  for (const n of [2, 3, 4]) {
    gateway.clock.advance(60_000)
    await place(gateway, n)
    await written(gateway)
  }
  return { gateway, folder, recoveryKey: recoveryKeyOf(gateway) }
}

function copyOf(t: Test, folder: string): string {
  const copy = newFolder(t)
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Seals a segment again under the same name, with other bytes inside. */
function resealed(folder: string, file: string, recoveryKey: Buffer, change: (plain: Buffer) => Buffer): void {
  const name = file.slice(folder.length + 1)
  const seal = new Seal(recoveryKey)
  writeFileSync(file, seal.seal(change(seal.open(readFileSync(file), name)), name, systemRandom))
}

const withHeader = (plain: Buffer, change: (header: Record<string, unknown>) => void): Buffer => {
  const end = 4 + plain.readUInt32BE()
  const header = JSON.parse(plain.toString('utf8', 4, end))
  change(header)
  const head = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, plain.subarray(end)])
}

type Breakage = (folder: string, third: string, key: Buffer) => void
const flipped: Breakage = (_, file) => {
  const bytes = readFileSync(file)
  bytes[bytes.length - 40] = (bytes.at(-40) ?? 0) ^ 1
  writeFileSync(file, bytes)
}
const breakages: Record<string, [Breakage, RegExp]> = {
  'a missing segment': [(_, file) => rmSync(file), /segment 3 of .* is missing: it comes before 00000004-/],
  'a cut one': [(_, file) => writeFileSync(file, readFileSync(file).subarray(0, 200)), /00000003-.*is cut/],
  'an empty one': [(_, file) => writeFileSync(file, ''), /00000003-.*is no sealed file of gatehouse, or it is cut/],
  'one with a changed bit': [flipped, /00000003-.*does not open/],
  'one under the name of another': [
    (folder, file) => cpSync(segmentsIn(folder)[1] ?? '', file),
    /00000003-.*does not open/,
  ],
  'one of a newer format': [
    (_, file) =>
      writeFileSync(
        file,
        readFileSync(file, 'latin1').replace('age-encryption.org/v1', 'age-encryption.org/v2'),
        'latin1',
      ),
    /has format 2 of age, which a newer gatehouse wrote/,
  ],
  'one of a newer version inside': [
    (folder, file, key) =>
      resealed(folder, file, key, (plain) => withHeader(plain, (header) => (header['format'] = 'gatehouse-segment/9'))),
    /has the format gatehouse-segment\/9, which a newer gatehouse wrote/,
  ],
  'one of a newer schema': [
    (folder, _, key) => {
      for (const file of segmentsIn(folder)) {
        resealed(folder, file, key, (plain) => withHeader(plain, (header) => (header['schema'] = 99)))
      }
    },
    /with schema 99, and this gatehouse knows schema \d+; restore them with that version/,
  ],
  'one that goes on from another': [
    (folder, file, key) =>
      resealed(folder, file, key, (plain) => withHeader(plain, (header) => (header['previous'] = '00000002-x.seg'))),
    /goes on from 00000002-x\.seg/,
  ],
  'keys that are gone': [
    (folder) => rmSync(filesBelow(folder).find((file) => file.endsWith('.sealed')) ?? ''),
    /-keys-.*cannot be read/,
  ],
}

t.test('a segment that is missing or broken ends in a sentence, and nothing is replaced', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  gateway.close()
  for (const [what, [damage, says]] of Object.entries(breakages)) {
    const copy = copyOf(t, folder)
    damage(copy, segmentsIn(copy)[2] ?? '', recoveryKey)
    const box = join(newFolder(t), 'state')
    await t.rejects(restoredFrom(copy, box, { recoveryKey }), { message: says }, what)
    t.notOk(existsSync(join(box, 'gatehouse.db')), `${what}: nothing was put in place`)
    t.notOk(existsSync(join(box, 'restore.part')), `${what}: nothing is left`)
  }
})

t.test('as far as whole gives the newest state in front of a broken or missing segment', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  gateway.close()
  for (const damage of [breakages['a missing segment'], breakages['one with a changed bit']]) {
    const copy = copyOf(t, folder)
    damage?.[0](copy, segmentsIn(copy)[2] ?? '', recoveryKey)
    const box = newFolder(t)
    const restored = await restoredFrom(copy, join(box, 'state'), { recoveryKey, asFarAsWhole: true })
    t.equal(restored.segments, 2)
    t.same(await barcodes(await opened(t, box)), ['P-1', 'P-2'])
  }
})

t.test('another key, another site and an empty folder are each named', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  gateway.close()
  const box = join(newFolder(t), 'state')
  const other = Buffer.alloc(32, 7)
  await t.rejects(restoredFrom(folder, box, { recoveryKey: other }), {
    message: /was sealed under another recovery key: its mark is [0-9a-f]{16}/,
  })
  await t.rejects(restoredFrom(folder, box, { recoveryKey, siteId: 'dc-9' }), {
    message: /has no segments of site dc-9 \(dc-9\/segments\): it has test-site/,
  })
  await t.rejects(restoredFrom(join(folder, 'test-site'), box, { recoveryKey }), { message: /has no segments of site/ })
  await t.rejects(restoredFrom(newFolder(t), box, { recoveryKey }), { message: /has no folder of a site/ })
})

t.test('a row that its leaf does not state does not come back', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  gateway.close()
  const file = segmentsIn(folder)[2] ?? ''
  resealed(folder, file, recoveryKey, (plain) => {
    const text = plain.toString('latin1')
    t.match(text, '"placement_event","r":')
    // In the rows alone: the leaf comes first in the file.
    const at = text.indexOf('P-3', text.indexOf('"placement_event","r":'))
    return Buffer.from(`${text.slice(0, at)}P-9${text.slice(at + 3)}`, 'latin1')
  })
  const box = join(newFolder(t), 'state')
  await t.rejects(restoredFrom(folder, box, { recoveryKey }), {
    message: /its ledger does not verify:.*the row differs from its leaf in asset/s,
  })
  t.notOk(existsSync(join(box, 'gatehouse.db')))
})

t.test('what a crash left between two segments is passed over', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  // The files are there, and the note of them is not: a kill between the two.
  const state = join(gateway.live.config.dataDir, 'segments', 'state.json')
  const before = readFileSync(state)
  await place(gateway, 5)
  await written(gateway)
  writeFileSync(state, before)
  await place(gateway, 6)
  await written(gateway)
  await place(gateway, 7)
  await written(gateway)
  const numbers = segmentsIn(folder).map((file) => Number(basename(file).slice(0, 8)))
  t.same(numbers, [1, 2, 3, 4, 5, 5, 6])
  t.equal(new Set(segmentsIn(folder).map(dirname)).size, 1)
  gateway.close()
  const box = newFolder(t)
  await restoredFrom(folder, join(box, 'state'), { recoveryKey })
  t.equal((await barcodes(await opened(t, box))).length, 7)
})

/** Puts the end of the moment of `file` into a separate segment, as if it had been too large for one. */
function inTwo(folder: string, file: string, recoveryKey: Buffer): void {
  const nameOf = (path: string) => path.slice(folder.length + 1)
  const next = join(dirname(file), basename(file).replace('00000005', '00000006'))
  const seal = new Seal(recoveryKey)
  const { header } = unpackSegment(seal.open(readFileSync(file), nameOf(file)))
  const end = packSegment({ ...header, number: 6, previous: basename(file) }, [])
  resealed(folder, file, recoveryKey, (plain) => withHeader(plain, (own) => (own['isWhole'] = false)))
  writeFileSync(next, seal.seal(end, nameOf(next), systemRandom))
}

t.test('of two moments that took the same numbers the newer one comes back', async (t) => {
  const { gateway, folder, recoveryKey } = await fourSegments(t)
  const state = join(gateway.live.config.dataDir, 'segments', 'state.json')
  const before = readFileSync(state)
  await place(gateway, 5)
  await written(gateway)
  const left = segmentsIn(folder).at(-1) ?? ''
  // The files are there, and the disk took no note of them.
  writeFileSync(state, before)
  gateway.clock.advance(60_000)
  await place(gateway, 6)
  await written(gateway)
  gateway.close()
  const all = ['P-1', 'P-2', 'P-3', 'P-4', 'P-5', 'P-6']
  const restoredNames = async (order: 1 | -1) => {
    const source = folderSource(folder)
    const list = async (path: string) => (await source.list(path)).toSorted((a, b) => (a < b ? -order : order))
    const box = newFolder(t)
    await restoredFrom(folder, join(box, 'state'), { recoveryKey, source: { ...source, list } })
    return barcodes(await opened(t, box))
  }
  t.equal(segmentsIn(folder).filter((file) => basename(file).startsWith('00000005-')).length, 2)
  t.same(await restoredNames(1), all, 'in one order of the folder')
  t.same(await restoredNames(-1), all, 'and in the other')
  inTwo(folder, left, recoveryKey)
  t.match(basename(segmentsIn(folder).at(-1) ?? ''), /^00000006-/)
  t.same(await restoredNames(1), all, 'although the older moment took more numbers')
})
