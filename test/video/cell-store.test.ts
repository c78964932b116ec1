import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { CellRecorder } from '../../src/video/history/cell-recorder.ts'
import { type ReplaySpec, replayCells } from '../../src/video/history/cell-replay.ts'
import type { CellStore } from '../../src/video/history/cell-store.ts'
import { type CellEntry, readBlock, writeBlock } from '../../src/video/motion/cell-block.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { busyCells, cellStore, quietCells, storeCells } from '../support/stored-cells.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2026, 2, 2, 8)
const settings = { sensitivity: 0.3, cooldownMs: 0, preRecordMs: 0, postRecordMs: 1000 }

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cells-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const replay = (folder: string, more: Partial<ReplaySpec> = {}) =>
  replayCells({
    ...{ folder, cameraId: 1, fromMs: startMs, toMs: startMs + hourMs, settings, wants: 'scores' },
    ...{ area: { masks: [], zones: [] }, ...more },
  })

/** Plays an hour of frames to a store, one block every ten seconds; each hour 360 blocks of the same size. */
async function playHour(
  store: CellStore,
  recorder: CellRecorder,
  clock: SimulatedClock,
  look = () => {},
): Promise<void> {
  for (let i = 0; i < 5 * 3600; i += 1) {
    const takenMs = Math.round(clock.monotonic())
    recorder.frame(quietCells, { takenMs, arrivedMs: takenMs + 500 })
    clock.advance(200)
    if (i % 50 !== 49) continue
    await store.written()
    look()
  }
}

const sizes = (folder: string) => readdirSync(folder).map((name) => statSync(join(folder, name)).size)
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

const frame = fc.record({
  kind: fc.constant('frame' as const),
  cells: fc.record({
    changed: fc.uint8Array({ minLength: 144, maxLength: 144, max: 100 }),
    whole: fc.constantFrom(null, 'light' as const, 'view' as const),
    view: fc.constantFrom(null, 'normal' as const, 'covered' as const, 'turned' as const),
  }),
  ahead: fc.integer({ min: 0, max: 5000 }),
  late: fc.integer({ min: -3, max: 20 }),
})
const interruption = fc.record({
  kind: fc.constant('interrupted' as const),
  why: fc.constantFrom('stopped' as const, 'stream-ended' as const),
  endMs: fc.integer({ min: -1000, max: 2 ** 40 }),
  nowMs: fc.integer({ min: 0, max: 2 ** 40 }),
})

t.test('what was judged is read back as it was, and a block that is cut off or damaged is none', async () => {
  const some = fc.array(fc.oneof(frame, interruption, fc.constant({ kind: 'reconnected' as const })), { maxLength: 60 })
  fc.assert(
    fc.property(some, fc.nat(2 ** 40), fc.nat(1000), (drawn, firstMs, place) => {
      let takenMs = firstMs
      const entries = drawn.map((one): CellEntry => {
        if (one.kind !== 'frame') return one
        takenMs += one.ahead
        return { kind: 'frame', cells: one.cells, times: { takenMs, arrivedMs: takenMs + one.late * 500 } }
      })
      const bytes = writeBlock({ wallOffsetMs: startMs, entries }, firstMs)
      const back = readBlock(Buffer.concat([bytes, Buffer.from('what follows')]))
      const at = place % bytes.length
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      const plain = (list: readonly CellEntry[] | undefined) =>
        JSON.stringify(list, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value))
      return (
        back?.length === bytes.length &&
        plain(back.block.entries()) === plain(entries) &&
        readBlock(bytes.subarray(0, at)) === undefined &&
        readBlock(damaged) === undefined
      )
    }),
    { numRuns: 200 },
  )
})

t.test('a file that a crash has cut off is read up to there, and goes on in another file', async (t) => {
  const folder = newFolder(t)
  await storeCells(folder, 1, startMs, Array(100).fill(busyCells()))
  const [name = ''] = readdirSync(folder)
  truncateSync(join(folder, name), statSync(join(folder, name)).size - 1)
  await storeCells(folder, 1, startMs + 30_000, Array(50).fill(quietCells))
  appendFileSync(join(folder, readdirSync(folder).at(-1) ?? ''), 'GHC1 and nothing more')
  const { seen } = await replay(folder)
  const part = (fromMs: number, toMs: number) => ({ fromMs: startMs + fromMs, toMs: startMs + toMs })
  t.same(seen, [part(0, 10_000), part(30_000, 40_000)])
})

t.test('all cameras together keep to the bytes that are allowed; the oldest hour gives way', async (t) => {
  const folder = newFolder(t)
  const clock = new SimulatedClock(startMs)
  const free = cellStore(folder, clock)
  const recorder = new CellRecorder({ cameraId: 1, shelf: free, clock })
  await playHour(free, recorder, clock)
  const hourBytes = sum(sizes(folder))
  free.limits = { days: 7, mostBytes: 2.5 * hourBytes }
  const other = new CellRecorder({ cameraId: 2, shelf: free, clock })
  let most = 0
  const look = () => {
    most = Math.max(most, sum(sizes(folder)))
  }
  for (const _ of Array(4)) await playHour(free, other, clock, look)
  t.ok(most <= 2.5 * hourBytes, `${most} of ${hourBytes} an hour`)
  t.ok(sum(sizes(folder)) >= hourBytes, 'and what fits is kept')
  t.ok(readdirSync(folder).every((name) => name.startsWith('2_')))
  await free.stop()
})

t.test(
  'what is older than its days goes, and all of a camera that is gone, or when nothing is to be kept',
  async (t) => {
    const folder = newFolder(t)
    await storeCells(folder, 1, startMs, [quietCells])
    await storeCells(folder, 1, startMs + 24 * hourMs, [quietCells])
    await storeCells(folder, 2, startMs + 24 * hourMs, [quietCells])
    const clock = new SimulatedClock(startMs + 26 * hourMs)
    const store = cellStore(folder, clock, { days: 1 })
    store.clockIsTrusted = false
    await store.tidy()
    t.equal(readdirSync(folder).length, 3, 'by a clock that is wrong nothing is old')
    store.clockIsTrusted = true
    await store.tidy()
    t.same(
      readdirSync(folder).map((name) => name[0]),
      ['1', '2'],
      'an hour that was over a day ago is gone',
    )
    store.know(2, false)
    await store.tidy()
    t.same(
      readdirSync(folder).map((name) => name[0]),
      ['1'],
    )
    store.limits = { days: 0, mostBytes: 1e9 }
    await store.tidy()
    t.same(readdirSync(folder), [])
    t.notOk(store.isOn)
    await store.stop()
  },
)

t.test('a disk that is short of room gets no more, and what was kept makes room before clips do', async (t) => {
  const folder = newFolder(t)
  await storeCells(folder, 1, startMs, [quietCells])
  const clock = new SimulatedClock(startMs + hourMs)
  let free = 1000
  const store = cellStore(folder, clock, {}, () => free)
  store.minFreeBytes = 1000
  await store.tidy()
  t.same(readdirSync(folder), [], 'at 1,000 of 1,000 bytes')
  free = 999
  const recorder = new CellRecorder({ cameraId: 1, shelf: store, clock })
  recorder.frame(quietCells, { takenMs: 0, arrivedMs: 500 })
  recorder.flush()
  await store.written()
  t.same(readdirSync(folder), [])
  await store.stop()
})
