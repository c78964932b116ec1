import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { payloadOf, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { type Footage, footage } from '../../test/support/footage.ts'
import { accessUnits } from '../../test/support/rtsp/annexb.ts'
import { codecs } from '../../test/support/rtsp/codec.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { type Figure, millis } from './figure.ts'
import { type Served, serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { median, quantile } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const clips = 10
const returns = 5
const views = 3
/** Pictures of a view whose way is measured, after those that are sent at once. */
const followed = 100
/** Without a viewer a feed ends after this, so that the next view begins anew. */
const forgottenMs = 11_000
/** So much of the end of a picture tells it from all others. */
const tailBytes = 32

type Times = Readonly<Record<'clips' | 'mpegts' | 'mpeg1' | 'ways' | 'back', readonly number[]>>

/**
 * How soon a gateway with one 1080p25 camera on loopback shows its live pictures, its clips, and pictures again after the
 * camera was away.
 */
export async function measureCameraTimes(workshop: Workshop): Promise<Figure[]> {
  const scene = await footage('crossing-1080p')
  const rtsp = await startRtspServer({ streams: { door: scene } })
  try {
    const motion = { preRecordSeconds: 5, postRecordSeconds: 1, cooldownSeconds: 0 }
    const cameras = [{ id: 1, url: rtsp.url('door'), motion }]
    const served = await serveGateway(workshop, workshop.newFolder('times'), await makeAccount(), { cameras })
    await until(served, '/api/iot/cctv', (body) => body.data[0].online)
    const times = {
      clips: await beyondPostRecord(served),
      mpegts: await firstPictures(served, 'mpegts'),
      mpeg1: await firstPictures(served, 'mpeg1'),
      ways: await waysOfPictures(served, rtsp, scene),
      back: await backAfter(served, rtsp),
    }
    await served.end()
    return figuresOf(times)
  } finally {
    await rtsp.stop()
  }
}

function figuresOf({ clips, mpegts, mpeg1, ways, back }: Times): Figure[] {
  const figure = (id: string, what: string, values: readonly number[], value: number, limit: number): Figure => ({
    ...{ id, what, value, unit: 'ms', target: { limit, sense: 'at most' } },
    raw: values.map((ms) => millis(ms)).join(', '),
    numbers: Object.fromEntries(values.map((ms, i) => [`time${i + 1}Ms`, ms])),
  })
  const ready =
    'From the last picture that a clip shows until it can be played, 95th percentile, looked for every 50 ms'
  const first = 'First live picture after the socket was asked for, H.264 as it is, while nobody else watches'
  const way = 'From the camera’s sending of a picture until a viewer has it, 95th percentile'
  const ofPictures = `p50 ${millis(median(ways))} of ${ways.length} pictures; the decoding of the browser comes on top`
  const again = 'Pictures again after the port of a lost camera answers, the slowest'
  return [
    figure('clip-ready', ready, clips, quantile(clips, 0.95), 800),
    figure('live-mpegts', first, mpegts, median(mpegts), 500),
    figure('live-mpeg1', 'The same, converted to MPEG-1', mpeg1, median(mpeg1), 500),
    { ...figure('live-way', way, ways, quantile(ways, 0.95), 1000), raw: ofPictures },
    figure('pictures-again', again, back, Math.max(...back), 3000),
  ]
}

const liveUrl = (served: Served, format: 'mpegts' | 'mpeg1') =>
  `${served.url.replace('http', 'ws')}/api/iot/cctv/1/live?format=${format}`

/** From the call of the address to the first pictures, each time while no one watches. */
async function firstPictures(served: Served, format: 'mpegts' | 'mpeg1'): Promise<number[]> {
  const took: number[] = []
  for (let view = 0; view < views; view += 1) {
    await pause(forgottenMs)
    const startedMs = performance.now()
    const socket = new WebSocket(liveUrl(served, format), { headers: signedIn })
    await once(socket, 'message')
    took.push(performance.now() - startedMs)
    socket.close()
    await once(socket, 'close')
  }
  return took
}

/** For pictures of a view: milliseconds from when the camera sent each until the viewer has it. */
async function waysOfPictures(served: Served, rtsp: RtspServer, scene: Footage): Promise<number[]> {
  const pictures = accessUnits(readFileSync(scene.file), codecs.h264)
  const shownMs = new Map(pictures.map(({ nals }, i) => [tailOf(nals.at(-1)), scene.timesMs[i]]))
  const socket = new WebSocket(liveUrl(served, 'mpegts'), { headers: signedIn })
  const ways: number[] = []
  let isPast = true
  socket.on('message', (message: Buffer) => {
    const arrivedAt = Date.now()
    const positionMs = isPast ? undefined : shownMs.get(tailOf(pictureOf(message)))
    isPast = false
    const sentAt = positionMs === undefined ? undefined : rtsp.takenAt('door', positionMs).at(-1)
    if (sentAt !== undefined) ways.push(arrivedAt - sentAt)
    if (ways.length === followed) socket.close()
  })
  await once(socket, 'close')
  return ways
}

function pictureOf(message: Buffer): Buffer | undefined {
  const splitter = new UnitSplitter({ timesAreKnown: true })
  const unit = [...splitter.push(message, 0), ...splitter.flush()][0]
  return unit && payloadOf(unit)
}

/** The end of a picture; the zeros after it are none of it. */
function tailOf(picture: Buffer | undefined): string {
  const end = picture?.findLastIndex((byte) => byte !== 0) ?? -1
  return picture?.subarray(Math.max(end + 1 - tailBytes, 0), end + 1).toString('hex') ?? ''
}

/** From the moment in which the camera's port answers again to its first picture, several times. */
async function backAfter(served: Served, rtsp: RtspServer): Promise<number[]> {
  const took: number[] = []
  while (took.length < returns) {
    await rtsp.unplug()
    await until(served, '/api/iot/cctv', (body) => !body.data[0].online)
    await rtsp.plugIn()
    const backMs = performance.now()
    await until(served, '/api/iot/cctv', (body) => body.data[0].online)
    took.push(performance.now() - backMs)
  }
  return took
}

/** For the next clips: milliseconds from the time of the last picture until the clip's address answers. */
async function beyondPostRecord(served: Served): Promise<number[]> {
  const waited: number[] = []
  const known = (await ask(served, '/api/iot/detection-events?limit=500')).data.map((d: { id: number }) => d.id)
  while (waited.length < clips) {
    const fits = (body: { data: { id: number; clipSha256: string | null }[] }) =>
      body.data.some((d) => d.clipSha256 !== null && !known.includes(d.id))
    const { data } = await until(served, '/api/iot/detection-events?limit=500', fits)
    const seenMs = performance.timeOrigin + performance.now()
    for (const { id, clipEnd } of data.filter((d: { id: number }) => !known.includes(d.id))) {
      known.push(id)
      if (clipEnd !== null) waited.push(seenMs - Date.parse(clipEnd))
    }
  }
  return waited
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function ask(served: Served, path: string): Promise<any> {
  return (await fetch(`${served.url}${path}`, { headers: signedIn })).json()
}

/** Asks every 50 ms until the answer fits; rejects after a minute. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function until(served: Served, path: string, fits: (body: any) => boolean): Promise<any> {
  for (let tries = 0; tries < 1200; tries += 1) {
    const body = await ask(served, path)
    if (fits(body)) return body
    await pause(50)
  }
  throw new Error(`${path} never answered what was waited for`)
}
