import t from 'tap'
import { cameraObservations } from '../../src/health/sources.ts'
import { judge, type Trouble } from '../../src/health/troubles.ts'

const nowMs = Date.UTC(2026, 2, 2, 8)
const seen = (state: string, forSeconds: number, badSinceMs: number | null = null) =>
  cameraObservations([{ id: 1, name: 'Dock', badSinceMs, problem: null, scene: { state, forSeconds } }], nowMs)
const troublesOf = (...args: Parameters<typeof seen>): readonly Trouble[] => judge([], seen(...args), nowMs).troubles

t.test('a camera that stays covered, turned or still is unwell, and the words say what to do', async (t) => {
  t.match(troublesOf('covered', 31), [{ kind: 'camera.covered', subject: '1' }])
  t.match(troublesOf('turned', 120), [
    { kind: 'camera.turned', message: /^Camera 1 \(Dock\) has shown another place for 2 minutes\. Turn it back\./ },
  ])
  t.match(troublesOf('still', 1), [{ kind: 'camera.still' }])
})

t.test('light and a hand before the lens raise no alert', async (t) => {
  t.same(troublesOf('light', 4), [])
  t.same(troublesOf('covered', 20), [])
  t.same(troublesOf('normal', 9999), [])
})

t.test('the alert ends when the camera sees again; without pictures it is offline instead', async (t) => {
  const covered = troublesOf('covered', 60)
  t.match(judge(covered, seen('normal', 1), nowMs).changes, [{ direction: 'better', now: null }])
  t.match(troublesOf('covered', 60, nowMs - 90_000), [{ kind: 'camera.offline' }])
})
