import t from 'tap'
import { cameraObservations } from '../../src/health/sources.ts'
import { judge, type Trouble } from '../../src/health/troubles.ts'

const nowMs = Date.UTC(2026, 2, 2, 8)
const dock = { id: 1, name: 'Dock', badSinceMs: null, problem: null, impairment: null }
const seen = (state: string, forSeconds: number, badSinceMs: number | null = null) =>
  cameraObservations([{ ...dock, badSinceMs, scene: { state, forSeconds } }], nowMs)
const impaired = (why: string, forSeconds: number) =>
  judge([], cameraObservations([{ ...dock, scene: null, impairment: { why, forSeconds } }], nowMs), nowMs).troubles
const troublesOf = (...args: Parameters<typeof seen>): readonly Trouble[] => judge([], seen(...args), nowMs).troubles

t.test('a camera that stays covered, turned or still is unwell, and the words say what to do', async (t) => {
  t.match(troublesOf('covered', 31), [{ kind: 'camera.covered', subject: '1' }])
  t.match(troublesOf('turned', 120), [
    { kind: 'camera.turned', message: /^Camera 1 \(Dock\) has shown another place for 2 minutes\. Turn it back\./ },
  ])
  t.match(troublesOf('still', 1), [{ kind: 'camera.still' }])
})

t.test('a camera of which too few pictures come, or are looked at, is unwell after a minute', async (t) => {
  t.same(impaired('few_pictures', 59), [])
  t.match(impaired('few_pictures', 120), [
    {
      kind: 'camera.few-pictures',
      message: /^Camera 1 \(Dock\) has sent fewer than 3 pictures a second for 2 minutes\./,
    },
  ])
  t.match(impaired('too_busy', 120), [{ kind: 'camera.too-busy', message: /could look at for 2 minutes/ }])
  t.same(impaired('covered', 9999), [], 'the scene says that')
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
