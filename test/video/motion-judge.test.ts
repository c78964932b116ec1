import t from 'tap'
import type { FrameCells } from '../../src/video/motion/cells.ts'
import { cellCount, columns } from '../../src/video/motion/grid.ts'
import { type JudgeOutcome, MotionJudge } from '../../src/video/motion/motion-judge.ts'

const settings = { sensitivity: 0.3, cooldownMs: 0, preRecordMs: 5000, postRecordMs: 4000 }
const frameMs = 200
const still: FrameCells = { changed: new Uint8Array(cellCount), whole: null, view: 'normal' }
const window = [0, 1, columns, columns + 1]
const moving: FrameCells = {
  changed: Uint8Array.from(still.changed, (_, cell) => (window.includes(cell) ? 100 : 0)),
  whole: null,
  view: 'normal',
}

/** Judges still pictures with motion in these spans (milliseconds, both included), until the clip is closed. */
function closedWith(spans: readonly (readonly [fromMs: number, toMs: number])[]): JudgeOutcome | undefined {
  const judge = new MotionJudge({ masks: [], zones: [] })
  for (let takenMs = 0; takenMs < 120_000; takenMs += frameMs) {
    const isMoving = spans.some(([fromMs, toMs]) => takenMs >= fromMs && takenMs <= toMs)
    const { outcomes } = judge.frame(isMoving ? moving : still, { takenMs, arrivedMs: takenMs }, settings)
    const closed = outcomes.find(({ kind }) => kind === 'closed')
    if (closed) return closed
  }
  return undefined
}

t.test('a clip knows how long it moved before the first pause', async (t) => {
  const first = [40_000, 42_000] as const
  t.match(closedWith([first]), { movedForMs: 2000, endMs: 46_000 })
  t.match(
    closedWith([first, [42_400, 44_000]]),
    { movedForMs: 4000, endMs: 48_000 },
    'one picture without a change is no pause',
  )
  t.match(closedWith([first, [44_000, 47_000]]), { movedForMs: 2000, endMs: 51_000 }, 'somebody else comes later')
})
