import fc from 'fast-check'
import t from 'tap'
import { type KeptFile, sizeOf, whatToRemove } from '../../src/retention/policy.ts'

const file = (id: number): fc.Arbitrary<KeptFile> =>
  fc.record({
    id: fc.constant(id),
    takenAtMs: fc.integer({ min: 0, max: 1000 }),
    sizeBytes: fc.integer({ min: 0, max: 100 }),
    maxAgeMs: fc.integer({ min: 0, max: 1000 }),
    isHeld: fc.boolean(),
  })
const files = fc.nat({ max: 30 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, id) => file(id))))
const policies = fc.record({
  nowMs: fc.option(fc.integer({ min: 0, max: 1500 })),
  freeBytes: fc.integer({ min: 0, max: 1000 }),
  minFreeBytes: fc.integer({ min: 0, max: 2000 }),
})

t.test(
  'whatever there is: no held file goes, all old ones go, and of the others the oldest, no more than needed',
  (t) => {
    fc.assert(
      fc.property(files, policies, (kept, policy) => {
        const chosen = whatToRemove(kept, policy)
        const ids = new Set(chosen.map(({ file: { id } }) => id))
        const stays = kept.filter(({ id }) => !ids.has(id))
        const isOld = (one: KeptFile) => policy.nowMs !== null && policy.nowMs - one.takenAtMs >= one.maxAgeMs
        const forRoom = chosen.filter(({ cause }) => cause === 'free-space').map((one) => one.file)
        const freed = policy.freeBytes + sizeOf(chosen.map((one) => one.file))
        const lastForRoom = forRoom.at(-1)
        return (
          ids.size === chosen.length &&
          chosen.every(({ file: one, cause }) => !one.isHeld && isOld(one) === (cause === 'age')) &&
          stays.every((one) => one.isHeld || !isOld(one)) &&
          forRoom.every((one) => stays.every((other) => other.isHeld || other.takenAtMs >= one.takenAtMs)) &&
          (freed >= policy.minFreeBytes || stays.every(({ isHeld }) => isHeld)) &&
          (lastForRoom === undefined || freed - lastForRoom.sizeBytes < policy.minFreeBytes)
        )
      }),
      { numRuns: 2000 },
    )
    t.end()
  },
)

t.test('the order in which files are listed changes nothing', (t) => {
  fc.assert(
    fc.property(files, policies, fc.infiniteStream(fc.nat()), (kept, policy, chance) => {
      const shuffled = kept.map((one) => ({ one, at: chance.next().value })).toSorted((a, b) => a.at - b.at)
      const ids = (list: readonly KeptFile[]) => whatToRemove(list, policy).map(({ file: { id } }) => id)
      return JSON.stringify(ids(kept).toSorted()) === JSON.stringify(ids(shuffled.map(({ one }) => one)).toSorted())
    }),
  )
  t.end()
})

t.test('an age is reached at its millisecond, and without a clock nothing is old', (t) => {
  const one: KeptFile = { id: 1, takenAtMs: 1000, sizeBytes: 1, maxAgeMs: 500, isHeld: false }
  const at = (nowMs: number | null) => whatToRemove([one], { nowMs, freeBytes: 0, minFreeBytes: 0 }).length
  t.strictSame([at(1499), at(1500), at(null)], [0, 1, 0])
  t.end()
})
