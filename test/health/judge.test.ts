import fc from 'fast-check'
import t from 'tap'
import type { Kind } from '../../src/health/kinds.ts'
import { diskObservation } from '../../src/health/sources.ts'
import { judge, type Observation, statusOf, type Trouble, wordsOf } from '../../src/health/troubles.ts'

const minute = 60_000
const startMs = Date.UTC(2026, 2, 2, 8)

const camera = (forMs: number | null): Observation => ({
  component: 'cameras',
  subject: '1',
  name: 'Camera 1 (Dock)',
  wrong: forMs === null ? null : { kind: 'camera.offline', forMs, message: 'No pictures.' },
})

t.test('a camera counts as offline when it has given no pictures for a minute, not before', async (t) => {
  t.same(judge([], [camera(minute - 1)], startMs), { troubles: [], changes: [] })
  const { troubles, changes } = judge([], [camera(minute)], startMs)
  t.match(troubles, [{ kind: 'camera.offline', sinceMs: startMs - minute }])
  t.match(changes, [{ direction: 'worse' }])
  t.same(statusOf('cameras', troubles).status, 'degraded')
})

t.test('after a restart an offline camera stays offline until it gives pictures', async (t) => {
  const { troubles } = judge([], [camera(minute)], startMs)
  const again = judge(troubles, [camera(1000)], startMs + minute)
  t.same(again, { troubles, changes: [] }, 'a new attempt is no picture')
  const well = judge(troubles, [camera(null)], startMs + 8 * minute)
  t.same(well.troubles, [])
  const [change] = well.changes
  t.match(change && wordsOf(change, startMs + 8 * minute), {
    kind: 'camera.online',
    subject: '1',
    message: 'Camera 1 (Dock) is well again, after 9 minutes.',
  })
})

t.test('a camera that was taken out of the config ends its trouble without giving pictures', async (t) => {
  const { troubles } = judge([], [camera(minute)], startMs)
  const [change] = judge(troubles, [], startMs).changes
  t.match(change && wordsOf(change, startMs), { kind: 'cameras.unwatched', message: /not watched any more/ })
})

t.test('every change is told once, and troubles are what the changes say', async (t) => {
  const state = fc.constantFrom<number | null>(null, 1000, minute, 10 * minute)
  const holds = fc.check(
    fc.property(fc.array(state, { maxLength: 50 }), (states) => {
      let troubles: readonly Trouble[] = []
      let isOffline = false
      for (const [n, forMs] of states.entries()) {
        const judged = judge(troubles, [camera(forMs)], startMs + n * 20 * minute)
        troubles = judged.troubles
        for (const change of judged.changes) {
          if ((change.direction === 'worse') === isOffline) return false
          isOffline = change.direction === 'worse'
        }
        if (troubles.length > 0 !== isOffline) return false
      }
      return true
    }),
  )
  t.notOk(holds.failed, JSON.stringify(holds.counterexample))
})

const MiB = 1024 * 1024
const limits = { minFreeBytes: 2048 * MiB, ledgerReserveBytes: 256 * MiB }
const disk = (
  free: number | undefined,
  fault?: { isFull: boolean; details: string },
  before: readonly Trouble[] = [],
) =>
  diskObservation({ free: free === undefined ? undefined : { bytes: free, files: 1000 }, fault, limits }, before).wrong
    ?.kind ?? null

t.test('a disk is said to be nearly full long before events are refused', async (t) => {
  const rows: [number | undefined, { isFull: boolean; details: string } | undefined, Kind | null][] = [
    [2048 * MiB, undefined, null],
    [2047 * MiB, undefined, 'disk.low'],
    [256 * MiB, undefined, 'disk.low'],
    [255 * MiB, undefined, 'disk.reserve'],
    [1000, undefined, 'disk.full'],
    [0, { isFull: true, details: 'SQLITE_FULL' }, 'disk.full'],
    [2048 * MiB, { isFull: true, details: 'SQLITE_FULL' }, 'disk.full'],
    [2048 * MiB, { isFull: false, details: 'SQLITE_IOERR_FSYNC' }, 'disk.failing'],
    [undefined, undefined, 'disk.failing'],
  ]
  for (const [free, fault, kind] of rows) t.equal(disk(free, fault), kind, `${free} ${fault?.details ?? ''}`)
})

t.test('a disk on the edge of a limit does not flicker', async (t) => {
  const low: Trouble = {
    ...{ component: 'disk', subject: 'disk', kind: 'disk.low', name: 'The disk', message: '', sinceMs: startMs },
  }
  t.equal(disk(2048 * MiB + 1, undefined, [low]), 'disk.low')
  t.equal(disk(2300 * MiB, undefined, [low]), null)
})

t.test('a disk on which no further file can be made is full, however much space is left', async (t) => {
  const wrong = diskObservation({ free: { bytes: 9000 * MiB, files: 0 }, fault: undefined, limits }, []).wrong
  t.match(wrong, { kind: 'disk.full', message: /no further file/ })
})

t.test('of two things that are wrong with one disk the worse one is shown, and each step is told', async (t) => {
  const observation = (kind: Kind | null): Observation => ({
    ...{ component: 'disk', subject: 'disk', name: 'The disk' },
    wrong: kind && { kind, forMs: 0, message: kind },
  })
  let troubles: readonly Trouble[] = []
  const steps: string[] = []
  for (const kind of ['disk.low', 'disk.reserve', 'disk.full', 'disk.low', null] as const) {
    const judged = judge(troubles, [observation(kind)], startMs)
    troubles = judged.troubles
    steps.push(...judged.changes.map((change) => `${change.direction} ${wordsOf(change, startMs).kind}`))
  }
  t.same(steps, ['worse disk.low', 'worse disk.reserve', 'worse disk.full', 'better disk.low', 'better disk.recovered'])
})
