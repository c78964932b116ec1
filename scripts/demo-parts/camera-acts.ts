import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Received } from '../../test/support/receiver.ts'
import { type Cameras, clipSettings, demoCameras } from './cameras.ts'
import type { Client } from './client.ts'
import { holds, same } from './expect.ts'
import type { Gateway } from './gateway.ts'
import { type Inbox, rightlySigned } from './inbox.ts'
import { leafBytes } from './leaf.ts'
import { playToEnd } from './playback.ts'
import { commandLinesBelow } from './processes.ts'

/** The acts of the story in which cameras play, each with all that it claims checked. */

export type CameraScene = {
  readonly gateway: Gateway
  /** Owns the cameras. */
  readonly owner: Client
  readonly inbox: Inbox
  readonly cameras: Cameras
}

/** Counters of one camera since it was started. */
type Counts = { readonly frames: number; readonly motion: number }
type BothCounts = { readonly dock: Counts; readonly aisle: Counts }

export type Seen = { readonly fired: Received; readonly before: BothCounts }

export type RecordedClip = { readonly id: number; readonly path: string; readonly sha256: string }

const detectionsPath = '/api/iot/detection-events'
const framesPerSecond = 5
const liveLimitMs = 60_000
const motionLimitMs = 30_000
const clipLimitMs = 60_000
/** From the start of the footage until somebody comes. */
const leadMs = 1000
const lookEveryMs = 200
/** A clip begins and ends with whole pictures, of which there are 15 a second. */
const pictureSeconds = 0.1

/** Both cameras look at an empty hall; then somebody walks past the dock door. */
export async function seesPerson({ owner, inbox, cameras }: CameraScene): Promise<Seen & { detail: string }> {
  const { receiver, secret } = inbox
  await owner.create('/api/webhooks', { url: receiver.url, events: ['motion.detected', 'event.created'], secret })
  const before = await bothLive(owner)
  same('pictures with motion of the empty hall', [before.dock.motion, before.aisle.motion], [0, 0])
  const enteredMs = performance.now() + sendPerson(cameras)
  const fired = await receiver.waitFor(({ type }) => type === 'motion.detected', motionLimitMs)
  const arrivedMs = inbox.arrivedMs.get(fired.event.id) ?? Number.NaN
  const checked = await rightlySigned(fired, 'motion.detected', secret)
  const { cctvId, sceneChange, score, clip } = fired.event.data
  same('what motion.detected tells', { cctvId, sceneChange }, { cctvId: demoCameras.dock.id, sceneChange: false })
  holds(typeof clip === 'string', `motion.detected names no clip: ${clip}`)
  const delay = ((arrivedMs - enteredMs) / 1000).toFixed(1)
  return { fired, before, detail: `${delay} s after the person came into view, score ${score}; ${checked}` }
}

/** Waits until the pre-roll of both cameras is full. */
async function bothLive(owner: Client): Promise<BothCounts> {
  const least = (clipSettings.preRecordSeconds + 1) * framesPerSecond
  for (const end = performance.now() + liveLimitMs; ; ) {
    const counts = await countBoth(owner)
    if (counts.dock.frames >= least && counts.aisle.frames >= least) return counts
    holds(performance.now() < end, `the cameras gave ${counts.dock.frames} and ${counts.aisle.frames} pictures in time`)
    await pause(lookEveryMs)
  }
}

async function countBoth(owner: Client): Promise<BothCounts> {
  const [dock, aisle] = await Promise.all([countOf(owner, demoCameras.dock.id), countOf(owner, demoCameras.aisle.id)])
  return { dock, aisle }
}

async function countOf(owner: Client, id: number): Promise<Counts> {
  const { frameCount, motionFrames } = await owner.get(`/api/iot/detection/motion-stream?cctvId=${id}`)
  return { frames: frameCount, motion: motionFrames.count }
}

/** @returns after how many milliseconds the person comes into view */
function sendPerson({ rtsp, crossing }: Cameras): number {
  const fromMs = personOf(crossing).fromMs
  rtsp.switchTo('dock', crossing)
  rtsp.seek('dock', fromMs - leadMs)
  return fromMs - rtsp.positionMs('dock')
}

function personOf(crossing: Cameras['crossing']) {
  const person = crossing.motion.find(({ what }) => what === 'person')
  holds(person, 'nobody is to be seen in the footage')
  return person
}

/** Once the person has left, the hall stays empty: no more detections come while the acts read the ledger. */
async function leavesHall({ rtsp, crossing, empty }: Cameras): Promise<void> {
  await pause(Math.max(personOf(crossing).toMs - rtsp.positionMs('dock'), 0))
  rtsp.switchTo('dock', empty)
}

/** The detection is announced, is stated by a leaf of the ledger, and its clip has the bytes that the leaf speaks of. */
export async function clipIsInLedger(scene: CameraScene, { fired }: Seen): Promise<RecordedClip & { detail: string }> {
  const { gateway, owner, inbox, cameras } = scene
  const id = Number(fired.event.data['id'])
  const [created, lines] = await Promise.all([
    // Alerts are event.created too, and have their own ids.
    inbox.receiver.waitFor(
      ({ event }) => event.data['kind'] === 'motion.detected' && detectionIn(event).id === id,
      clipLimitMs,
    ),
    processesUntil(gateway, leavesHall(cameras)),
  ])
  await rightlySigned(created, 'event.created', inbox.secret)
  same('type of the notification', created.type, 'event.created')
  const detection = await owner.get(`${detectionsPath}/${id}`)
  const { clipStatus, clipSha256, seq, evidenceHash, duration, preRollSeconds } = detection
  same('the detection', { clipStatus, eventId: detection.eventId }, { clipStatus: 'recorded', eventId: fired.event.id })
  same('clipSha256 in event.created', detectionIn(created.event).clipSha256, clipSha256)
  isInLeaf(gateway, { seq, evidenceHash, id, clipSha256 })

  const path = new URL(detection.clipUrls.playback).pathname
  const clip = await downloaded(owner, path, clipSha256)
  const file = join(gateway.folder, 'clip.mp4')
  writeFileSync(file, clip)
  const played = await playToEnd(file)
  const { preRecordSeconds, postRecordSeconds } = clipSettings
  holds(
    preRollSeconds >= preRecordSeconds - pictureSeconds,
    `only ${preRollSeconds} s of the clip show the time before`,
  )
  const atLeast = preRecordSeconds + postRecordSeconds
  for (const seconds of [duration, played.seconds])
    holds(seconds >= atLeast, `the clip lasts ${seconds} s instead of ${atLeast} or more`)
  keepsPassword(scene, lines)
  const length = `${played.seconds.toFixed(1)} s, ${preRollSeconds.toFixed(1)} of them before the motion`
  const size = `${played.pictures} pictures, ${Math.round(clip.length / 1000)} kB`
  return {
    ...{ id, path, sha256: clipSha256 },
    detail: `${length}; ${size}, sha256 ${clipSha256.slice(0, 16)}…, leaf ${seq}; plays to its end; camera password nowhere`,
  }
}

function detectionIn({ data }: Received['event']): { id?: number; clipSha256?: string } {
  return (data['event'] ?? {}) as { id?: number; clipSha256?: string }
}

/** Returns the command lines of all processes that the gateway starts until `work` is over. */
async function processesUntil(gateway: Gateway, work: Promise<unknown>): Promise<ReadonlySet<string>> {
  const lines = new Set<string>()
  const look = () => {
    for (const line of commandLinesBelow(gateway.pid)) lines.add(line)
  }
  const looking = setInterval(look, lookEveryMs)
  try {
    look()
    await work
  } finally {
    clearInterval(looking)
  }
  return lines
}

type Claimed = { readonly seq: number; readonly evidenceHash: string; readonly id: number; readonly clipSha256: string }

/** The detection in the API equals the leaf on disk. */
function isInLeaf(gateway: Gateway, { seq, evidenceHash, id, clipSha256 }: Claimed): void {
  const bytes = leafBytes(join(gateway.dataDir, 'gatehouse.db'), seq)
  same(`SHA-256 of leaf ${seq}`, createHash('sha256').update(bytes).digest('hex'), evidenceHash)
  const leaf = JSON.parse(bytes.toString('utf8'))
  const stated = { kind: leaf.kind, id: leaf.id, cctvId: leaf.cctvId, clipSha256: leaf.clipSha256 }
  same(`leaf ${seq}`, stated, { kind: 'detection', id, cctvId: demoCameras.dock.id, clipSha256 })
}

async function downloaded(owner: Client, path: string, sha256: string): Promise<Buffer> {
  const { body, headers } = await owner.expect(200, 'GET', path)
  same('type of the clip', headers.get('content-type'), 'video/mp4')
  same('sha256 of the clip', createHash('sha256').update(body).digest('hex'), sha256)
  return body
}

/** @param lines command lines; those of both streams must be among them, or nothing was checked */
function keepsPassword({ gateway, cameras }: CameraScene, lines: ReadonlySet<string>): void {
  const running = [...lines].filter((line) => line.includes('ffmpeg'))
  holds(running.length > 0, 'no ffmpeg was seen among the processes of the gateway')
  for (const line of lines)
    holds(!line.includes(cameras.secret), 'the password of the cameras stands in a process list')
  const log = readFileSync(gateway.logFile, 'utf8')
  holds(log.includes('gatehouse is up'), 'the log of the gateway is not where it was looked for')
  holds(!log.includes(cameras.secret), `the password of the cameras stands in ${gateway.logFile}`)
}

/** The other camera has watched for as long without a detection. */
export async function emptyHallIsSilent(
  { owner, inbox }: CameraScene,
  { before }: Seen,
  { id }: RecordedClip,
): Promise<{ detail: string }> {
  const { dock, aisle } = grown(before, await countBoth(owner))
  holds(dock.motion > 0, 'camera 1 counted no picture with motion')
  holds(aisle.frames >= dock.frames / 2, `camera 2 gave ${aisle.frames} pictures while camera 1 gave ${dock.frames}`)
  same('pictures of camera 2 with motion', aisle.motion, 0)
  const { data } = await owner.get(detectionsPath)
  // Scans in front of the dock door have films too.
  const ofMotion = (data as { id: number; trigger: string }[]).filter(({ trigger }) => trigger === 'motion')
  same(
    'all detections',
    ofMotion.map((one) => one.id),
    [id],
  )
  const aboutAisle = inbox.receiver.received.filter(({ event }) => event.data['cctvId'] === demoCameras.aisle.id)
  same('notifications about camera 2', aboutAisle.length, 0)
  const counts = `${aisle.frames} pictures of camera 2, none with motion; ${dock.frames} of camera 1, ${dock.motion} with motion`
  return { detail: `none as it must: ${counts}` }
}

function grown(before: BothCounts, after: BothCounts): BothCounts {
  const more = (name: keyof BothCounts) => ({
    frames: after[name].frames - before[name].frames,
    motion: after[name].motion - before[name].motion,
  })
  return { dock: more('dock'), aisle: more('aisle') }
}

/** After whatever happened to the gateway. */
export async function clipIsStillThere(owner: Client, { id, path, sha256 }: RecordedClip): Promise<void> {
  const { clipSha256 } = await owner.get(`${detectionsPath}/${id}`)
  same(`clipSha256 of detection ${id}`, clipSha256, sha256)
  await downloaded(owner, path, sha256)
}

/** The gateway has ended, and so has every connection to the cameras. */
export async function nobodyWatches({ rtsp }: Cameras): Promise<void> {
  const connected = () => rtsp.clients('dock').connected + rtsp.clients('aisle').connected
  await rtsp
    .waitFor(() => connected() === 0, liveLimitMs)
    .catch(() => {
      throw new Error(`${connected()} connections to the cameras outlive the gateway`)
    })
}
