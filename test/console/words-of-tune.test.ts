import t from 'tap'
import { parse } from 'yaml'
import type { Entry } from '../../src/console/page/cameras/day/entries.ts'
import { configEntry, type Tried, trialOf } from '../../src/console/page/cameras/tune-trial.ts'
import {
  moved,
  rectangle,
  withCornerAfter,
  withCornerAt,
  withoutCorner,
} from '../../src/console/page/hall/polygon-edit.ts'

const picture = { width: 1, height: 1 }
const square = rectangle({ x: 0.6, y: 0.5 }, { x: 0.2, y: 0.1 }, picture)

t.test('a mask keeps its shape at the border of the picture, and never has fewer than three corners', async (t) => {
  const corners = [
    { x: 0.2, y: 0.1 },
    { x: 0.6, y: 0.1 },
    { x: 0.6, y: 0.5 },
    { x: 0.2, y: 0.5 },
  ]
  t.same(square, corners, 'drawn from any corner')
  const pushed = moved(square, { x: -9, y: 9 }, picture)
  t.same(
    pushed.map(({ x, y }) => [x, y].map((value) => Math.round(value * 1000) / 1000)),
    [
      [0, 0.6],
      [0.4, 0.6],
      [0.4, 1],
      [0, 1],
    ],
  )
  t.same(withCornerAt(square, 1, { x: 1.5, y: -1 }, picture)[1], { x: 1, y: 0 })
  t.same(withCornerAfter(square, 3)[4], { x: 0.2, y: 0.3 }, 'the last corner is followed by the first')
  const triangle = withoutCorner(square, 0)
  t.equal(triangle.length, 3)
  t.same(withoutCorner(triangle, 0), triangle)
})

t.test('a trial counts what goes, what comes, and what nobody can know', async (t) => {
  const motion = (id: number, trigger = 'motion'): Entry =>
    ({ key: `${id}`, kind: 'detection', fromMs: id, toMs: id, detection: { id, trigger } }) as unknown as Entry
  const answer = {
    ...{ sensitivity: 0.5, recorded: 9, lost: [2, 3], merged: [4], undecided: [5], added: 1 },
    events: [
      { timestamp: '2026-11-21T10:00:00Z', score: 0.7, detectionId: 1 },
      { timestamp: '2026-11-21T11:00:00Z', score: 0.6 },
    ],
    unknown: [{ from: '2026-11-21T00:00:00Z', to: '2026-11-21T00:10:00Z' }],
  }
  const trial = trialOf(answer, [motion(1), motion(2), motion(4), motion(5), motion(6, 'event')])
  t.equal(trial.would, 7)
  t.equal(trial.unknownMs, 600_000)
  t.same(trial.added, [{ atMs: Date.parse('2026-11-21T11:00:00Z'), score: 0.6 }])
  t.same(
    [...trial.verdicts],
    [
      [1, 'stays'],
      [2, 'gone'],
      [4, 'merged'],
      [5, 'undecided'],
    ],
  )
})

t.test('the entry for the config is YAML with the tried settings, and empties what was removed', async (t) => {
  const now: Tried = { sensitivity: 0.3, areas: [{ kind: 'zone', points: square }] }
  const tried: Tried = { sensitivity: 0.45, areas: [{ kind: 'mask', points: square }] }
  t.same(parse(configEntry(tried, now)), { motion: { sensitivity: 0.45, masks: [square], zones: [] } })
  t.same(parse(configEntry({ ...now, sensitivity: 0.1 }, { sensitivity: 0.3, areas: [] })), {
    motion: { sensitivity: 0.1, zones: [square] },
  })
})
