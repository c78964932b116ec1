/** One camera with numbered pictures, and its clips read back picture by picture. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import type { CameraSettings, FfmpegDialect } from '../../src/video/index.ts'
import { countersIn } from '../support/footage/counter.ts'
import { type Footage, type FootageName, footage } from '../support/footage.ts'
import { type RtspServer, startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench, type MessageOf } from './camera-bench.ts'

export const system = locateFfmpeg().path
/** The number at the top edge changes with every picture and is no motion. */
const top = [
  [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 0.12 },
    { x: 0, y: 0.12 },
  ],
]
const motion = {
  sensitivity: 0.3,
  cooldownSeconds: 0,
  preRecordSeconds: 2,
  postRecordSeconds: 1,
  masks: top,
  zones: [],
}

export type Hall = { readonly cam: RtspServer; readonly b: CameraBench; readonly clip: Footage }

export async function watch(
  t: Test,
  name: FootageName,
  options: { ffmpeg?: string; dialect?: Partial<FfmpegDialect>; motion?: Partial<CameraSettings['motion']> } = {},
): Promise<Hall> {
  const clip = await footage(name)
  const cam = await startRtspServer({ streams: { hall: clip } })
  t.teardown(() => cam.stop())
  const b = await CameraBench.open({ ffmpeg: options.ffmpeg ?? system, dialect: options.dialect ?? {} })
  t.teardown(() => b.close())
  b.camera(1, cam.url('hall'), { motion: { ...motion, ...options.motion } })
  return { cam, b, clip }
}

/**
 * Returns the clip of the first motion after the round has restarted. The round restarts once the camera is live, so more
 * of it has been seen than the pre-roll, however long the connection took. Motion of the earlier round may be seen late.
 */
export async function firstClip({ cam, b, clip }: Hall): Promise<MessageOf<'clipClosed'>> {
  await b.state(1, 'live')
  cam.seek('hall', 0)
  const [soughtAt, appearsMs] = [Date.now(), clip.motion[0]?.fromMs ?? 0]
  const find = () => b.of('clipClosed').find(({ motionAt }) => motionAt > soughtAt + appearsMs - 500)
  await b.until(() => find() !== undefined, 'a clip is closed')
  return find() as MessageOf<'clipClosed'>
}

/** Numbers of a round, in the order in which they are seen. */
export const timesSeen = (clip: Footage) => [...clip.timesMs].sort((a, b) => a - b)

/** Compares the facts of a clip with the numbers in its pictures, and with the times when the camera sent them. */
export async function compare(t: Test, { cam, b, clip }: Hall, closed: MessageOf<'clipClosed'>): Promise<number[]> {
  const shown = await countersIn(join(b.folder, 'clips', closed.file), system)
  const times = timesSeen(clip)
  t.ok(shown.length > 10, `${shown.length} pictures`)
  t.same(
    shown,
    shown.map((_, i) => ((shown[0] ?? 0) + i) % times.length),
    'all pictures are there, in order',
  )
  t.equal(closed.pictures, shown.length)
  const [first = -1, last = -1] = [shown[0], shown.at(-1)]
  const roundsMs = Math.floor((first + shown.length - 1) / times.length) * clip.durationMs
  const trueMs = (times[last] ?? 0) + roundsMs - (times[first] ?? 0)
  t.ok(Math.abs(closed.durationSeconds * 1000 - trueMs) <= 3, `${closed.durationSeconds} s, in truth ${trueMs} ms`)
  t.equal(Math.round(closed.durationSeconds * 1000), closed.endedAt - closed.startedAt)
  const offMs = cam.takenAt('hall', times[last] ?? -1).map((takenMs) => Math.abs(closed.endedAt - takenMs))
  // At most 60 ms on an idle machine. On a busy one ffmpeg itself is late, which no one can know; `clip.test.ts` is exact.
  t.ok(Math.min(...offMs) <= 3000, `its end is off by ${Math.min(...offMs)} ms`)
  return shown
}
