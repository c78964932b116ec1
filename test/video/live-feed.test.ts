import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { LiveFeeds } from '../../src/video/live/live-feed.ts'
import type { FromCameras } from '../../src/video/messages.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const ffmpeg = locateFfmpeg().path
const lavfi = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=10:duration=3']
const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '7', '-bf', '0', '-f', 'mpegts', '-muxdelay', '0']
const stream = execFileSync(ffmpeg, ['-loglevel', 'error', ...lavfi, ...encoder, 'pipe:1'], { maxBuffer: 64 << 20 })

/** Plays the stream in two pieces; the feed is wanted in between. */
function feedFrom(at: number): Uint8Array[] {
  const ring = new Ring({ keepMs: 60_000 })
  const sent: FromCameras[] = []
  const clock = new SimulatedClock()
  const emit = (message: FromCameras) => void sent.push(message)
  const feeds = new LiveFeeds({ cameraId: 1, ffmpeg, ring, clock, log: silentLogger(), emit })
  ring.push(stream.subarray(0, at), 0)
  feeds.want('mpegts', 1)
  ring.push(stream.subarray(at), 0)
  feeds.want('mpegts', null)
  return sent.flatMap((message) => (message.type === 'livePicture' ? [message.bytes] : []))
}

t.test(
  'wherever a viewer joins, the feed begins with program tables and a key frame, and misses no picture',
  async () => {
    const unitsIn = (bytes: Buffer) => {
      const splitter = new UnitSplitter()
      return [...splitter.push(bytes, 0), ...splitter.flush()]
    }
    const all = unitsIn(stream)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: stream.length }), (at) => {
        const pieces = feedFrom(at)
        const units = unitsIn(Buffer.concat(pieces))
        const [first] = pieces
        const startsWithTables = first !== undefined && (Buffer.from(first).readUInt16BE(1) & 0x1fff) === 0
        const isWhole = pieces.every(({ length }) => length % 188 === 0)
        const from = all.findIndex(({ ptsMs }) => ptsMs === units[0]?.ptsMs)
        const missesNone = units.every(({ ptsMs }, i) => ptsMs === all[from + i]?.ptsMs)
        // The last picture would be known as whole with the one after it.
        const reachesTheEnd = from + units.length === all.length - 1
        return startsWithTables && isWhole && missesNone && reachesTheEnd && units[0]?.key === true
      }),
      { numRuns: 40, examples: [[0], [stream.length]] },
    )
  },
)

t.test('nothing is converted before somebody wants it, nor after', async (t) => {
  const ring = new Ring({ keepMs: 60_000 })
  const said: string[] = []
  // A program that is not there says when it is started.
  const log = { ...silentLogger(), warn: () => said.push('started') }
  const needs = { cameraId: 1, ffmpeg: '/nowhere/ffmpeg', ring, clock: new SimulatedClock(), log: log as never }
  const ended = new Promise((resolve) => {
    const feeds = new LiveFeeds({ ...needs, emit: resolve })
    ring.push(stream, 0)
    t.same(said, [])
    feeds.want('mpeg1', 5)
  })
  t.match(await ended, { type: 'liveEnded', feed: 5, why: 'failed' })
  t.same(said, ['started'])
})
