import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { packSegment, unpackSegment } from '../../src/backup/segments/payload.ts'
import { Seal } from '../../src/backup/segments/seal.ts'
import { systemRandom, writeFileDurably } from '../../src/platform/index.ts'
import { newFolder, place } from '../support/backups.ts'
import type { TestGateway } from '../support/gateway.ts'
import { filesBelow, recoveryKeyOf, restoredFrom, segmenting, segmentsIn, written } from '../support/segments.ts'

const day = 24 * 3_600_000

function seriesIn(folder: string): string[] {
  const site = join(folder, 'test-site', 'segments')
  return readdirSync(site)
    .flatMap((log) => readdirSync(join(site, log)).map((series) => join(site, log, series)))
    .toSorted()
}

/** Everything that a folder of segments says to a holder of the key. */
function opened(root: string, folder: string, key: Buffer): string {
  const seal = new Seal(key)
  return filesBelow(folder)
    .map((file) => seal.open(readFileSync(file), file.slice(root.length + 1)).toString('latin1'))
    .join('')
}

async function erasedAfterwards(t: Test): Promise<{ gateway: TestGateway; folder: string; key: Buffer }> {
  const { gateway, folder } = await segmenting(t)
  await place(gateway, 2, { operator: 'Dana Dock', notes: 'Dana Dock took it' })
  await written(gateway)
  gateway.clock.advance(60_000)
  const { outcome } = await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  t.equal(outcome, 'erased')
  await written(gateway)
  return { gateway, folder, key: recoveryKeyOf(gateway) }
}

t.test('an erasure begins a series without the name, and the one with it goes after its time', async (t) => {
  const { gateway, folder, key } = await erasedAfterwards(t)
  const [old = '', fresh = ''] = seriesIn(folder)
  t.match(opened(folder, old, key), 'Dana Dock')
  t.notMatch(opened(folder, fresh, key), 'Dana Dock')
  gateway.clock.advance(13 * day)
  await written(gateway)
  t.same(seriesIn(folder), [old, fresh], 'before its time')
  gateway.clock.advance(2 * day)
  await written(gateway)
  t.same(seriesIn(folder), [fresh])
})

t.test('an older series that has to do erases the name again', async (t) => {
  const { gateway, folder, key } = await erasedAfterwards(t)
  gateway.close()
  // The box died while it wrote the first segments of the new series.
  const [newest = ''] = segmentsIn(seriesIn(folder)[1] ?? '')
  const seal = new Seal(key)
  const name = newest.slice(folder.length + 1)
  const { header, members } = unpackSegment(seal.open(readFileSync(newest), name))
  const parts = [...members].map(([member, bytes]) => ({ name: member, bytes }))
  writeFileDurably(newest, seal.seal(packSegment({ ...header, isWhole: false }, parts), name, systemRandom))
  const names: string[] = []
  const erase = async (_: string, erased: readonly string[]) => {
    names.push(...erased)
  }
  const restored = await restoredFrom(folder, join(newFolder(t), 'state'), { recoveryKey: key, erase })
  t.same(names, ['Dana Dock'])
  t.equal(restored.erased, 1)
})

t.test('a damaged segment behind an erasure does not bring the name back', async (t) => {
  const { gateway, folder, key } = await erasedAfterwards(t)
  gateway.clock.advance(60_000)
  await place(gateway, 3)
  await written(gateway)
  gateway.close()
  const [first = '', second] = segmentsIn(seriesIn(folder)[1] ?? '')
  t.ok(second, 'a newer segment still says who was erased')
  writeFileSync(first, readFileSync(first).subarray(0, -1))
  const names: string[] = []
  const erase = async (_: string, erased: readonly string[]) => {
    names.push(...erased)
  }
  const options = { recoveryKey: key, asFarAsWhole: true, erase }
  const restored = await restoredFrom(folder, join(newFolder(t), 'state'), options)
  t.match(restored, { erased: 1, events: 2 })
  t.same(names, ['Dana Dock'])
})

t.test('a state without the name erases nothing', async (t) => {
  const { gateway, folder, key } = await erasedAfterwards(t)
  gateway.close()
  const restored = await restoredFrom(folder, join(newFolder(t), 'state'), { recoveryKey: key })
  t.match(restored, { erased: 0, events: 2 })
})

t.test('erasing a person names the copies that still have the name, and when each goes', async (t) => {
  const folder = newFolder(t)
  const { gateway } = await segmenting(t, { keep: '14d' })
  const { live } = gateway
  live.config = {
    ...live.config,
    backup: { ...live.config.backup, file: { to: { folder }, every: day, keep: 3, media: 'auto' } },
  }
  await place(gateway, 2, { operator: 'Dana Dock' })
  await gateway.backupSchedule.look()
  gateway.clock.advance(day)
  await gateway.backupSchedule.look()
  await written(gateway)
  gateway.clock.advance(day / 2)
  const { kept } = await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  t.equal(kept.problem, null)
  t.match(kept.copies, [
    {
      kind: 'backup',
      name: join(folder, 'gatehouse-test-site-20260303T080000Z.tar'),
      until: '2026-03-06T08:00:00.000Z',
    },
    {
      kind: 'backup',
      name: join(folder, 'gatehouse-test-site-20260302T080000Z.tar'),
      until: '2026-03-05T08:00:00.000Z',
    },
    { kind: 'segments', name: /^test-site\/segments\//, until: '2026-03-17T20:00:00.000Z' },
  ])
  await written(gateway)
  gateway.clock.advance(2 * day)
  const again = await gateway.erasePerson({ name: 'Dana Dock', texts: true }, 'root')
  t.equal(again.outcome, 'erased-before')
  t.same(again.kept.copies, kept.copies, 'the series that has followed does not have it')
})
