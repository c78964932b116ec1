/** Log lines about a camera: one for each problem, with another text when the camera still gives pictures. */
import t, { type Test } from 'tap'
import { CameraLog } from '../../src/cameras/camera-log.ts'
import type { Logger } from '../../src/platform/index.ts'
import { type CameraState, type Problem, plainWords } from '../../src/video/index.ts'

function open(_t: Test) {
  const lines: string[] = []
  const line = (level: string) => (_: object, message: string) => lines.push(`${level}: ${message}`)
  const log = new CameraLog({ warn: line('warn'), info: line('info') } as unknown as Logger)
  return (state: CameraState['state'], problem: Problem | null = null) => {
    lines.length = 0
    const words = problem && plainWords(problem)
    log.heard({ type: 'state', cameraId: 1, state, problem, words } as CameraState, 'Dock door 1')
    return [...lines]
  }
}

t.test('a live camera with a problem is not said to give no pictures', async (t) => {
  const hears = open(t)
  t.same(hears('live'), [])
  const [said, ...more] = hears('live', 'damaged-pictures')
  t.match(
    said,
    /^warn: Dock door 1 gives pictures, but there is a problem\. Many pictures of the camera arrive damaged/,
  )
  t.same(more, [])
  t.same(hears('live', 'damaged-pictures'), [], 'once')
  t.match(hears('live', 'few-pictures'), [
    /^warn: Dock door 1 gives pictures, but there is a problem\. The camera sends fewer/,
  ])
  t.same(hears('live'), ['info: Dock door 1 gives pictures without a problem again'])
  t.same(hears('live'), [])
})

t.test('a camera that gives no pictures is said to give them again, also when a problem is left', async (t) => {
  const hears = open(t)
  t.match(hears('stalled', 'frozen'), [/^warn: Dock door 1 gives no pictures\. The stream is frozen/])
  t.same(hears('connecting', 'frozen'), [], 'once')
  t.same(hears('connecting'), [])
  t.match(hears('live', 'few-pictures'), [
    /^info: Dock door 1 gives pictures again$/,
    /^warn: .* but there is a problem\. The/,
  ])
  t.match(hears('backing-off', 'unreachable'), [/^warn: Dock door 1 gives no pictures\. Nothing answers/])
  t.same(hears('live'), ['info: Dock door 1 gives pictures again'])
})

t.test('a camera whose problem is left over from when it was live is only trying again', async (t) => {
  const hears = open(t)
  t.equal(hears('live', 'damaged-pictures').length, 1)
  t.same(hears('connecting', 'damaged-pictures'), [])
  t.same(hears('live'), ['info: Dock door 1 gives pictures without a problem again'])
})
