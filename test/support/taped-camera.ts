/** Real footage as a camera sends it, on a simulated clock, and the parts that a clip of it needs. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TaskLimit } from '../../src/flow/index.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { Recording } from '../../src/video/clips/clip.ts'
import type { ClipTools } from '../../src/video/clips/clip-loss.ts'
import { type ClipResult, makeClip } from '../../src/video/clips/clip-making.ts'
import { listLeftovers, readLeftover } from '../../src/video/clips/leftovers.ts'
import { type Codec, packetBytes, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { type DetectionFacts, Ring } from '../../src/video/index.ts'
import { type Footage, footage } from './footage.ts'

const ffmpeg = locateFfmpeg().path
export const crossing = await footage('crossing-long-gop')
export const startMs = 1_000_000
export const wallMs = Date.UTC(2026, 2, 2, 8)
export const wallOffsetMs = wallMs - startMs

export type Tape = { readonly units: readonly Unit[]; readonly tables: Buffer; readonly codec: Codec }

/** The footage as the ingest's ffmpeg writes it; copied, unless it is to be encoded. */
export function tapeOf(clip: Footage, encode: readonly string[] = ['-c', 'copy']): Tape {
  const input = ['-nostdin', '-loglevel', 'error', '-r', String(clip.fps), '-f', clip.codec, '-i', clip.file]
  const output = [...encode, '-f', 'mpegts', '-muxdelay', '0', '-muxpreload', '0', 'pipe:1']
  const stream = execFileSync(ffmpeg, [...input, ...output], { maxBuffer: 64 << 20 })
  const splitter = new UnitSplitter()
  const units = splitter.push(stream, 0)
  return { units, tables: stream.subarray(0, 3 * packetBytes), codec: splitter.codec }
}

const hall = tapeOf(crossing)

/** A camera whose pictures arrive when they are taken, on a simulated clock. */
export class TapedCamera {
  readonly ring = new Ring({ keepMs: 60_000 })
  readonly #units: readonly Unit[]
  #next = 0

  constructor({ units, tables } = hall) {
    this.#units = units
    this.ring.push(tables, startMs)
  }

  /** When its newest picture was taken. */
  get newestMs(): number {
    return startMs + (this.ring.newest?.ptsMs ?? 0)
  }

  /** Lets time pass until `untilMs` after the start of the stream. */
  play(untilMs: number): void {
    for (let unit = this.#units[this.#next]; unit && unit.ptsMs <= untilMs; unit = this.#units[this.#next]) {
      this.ring.push(unit.bytes, startMs + unit.ptsMs)
      this.#next += 1
    }
  }
}

const endless = { take: () => true, takeAgain: () => true, giveBack: () => {} }

export function tools(folder: string, program = ffmpeg): ClipTools {
  const turns = new TaskLimit(1)
  const again = async () => false
  return {
    ffmpeg: program,
    pictures: { decode: async () => undefined },
    folder,
    log: silentLogger(),
    inTurn: (task) => turns.run(task),
    room: endless,
    again,
    waits: () => {},
    givenUp: () => undefined,
  }
}

export function facts(detectionId: number, motionMs: number): DetectionFacts {
  return { detectionId, cameraId: 1, motionAt: Math.round(motionMs + wallOffsetMs), score: 0.5, sceneChange: false }
}

/** Start of a clip with so much requested pre-roll, and no cooldown. */
export function from(motionMs: number, askedPreRollMs: number) {
  return { fromMs: motionMs - askedPreRollMs, notBeforeMs: -Infinity, askedPreRollMs }
}

/** Records five seconds as detection `id`. */
export async function record(at: ClipTools, id: number, tape = hall) {
  const camera = new TapedCamera(tape)
  camera.play(6000)
  const motionMs = startMs + 4000
  const request = { facts: facts(id, motionMs), ring: camera.ring, ...from(motionMs, 2000), wallOffsetMs }
  const recording = new Recording(at, request)
  await recording.drained
  return { recording, endMs: startMs + 5900 }
}

/** Leaves a clip as a gateway does that is killed while it records. */
export async function leaveSpool(folder: string, id: number, tape = hall): Promise<void> {
  const { recording, endMs } = await record(tools(folder), id, tape)
  const left = [`${id}.ts.part`, `${id}.json`].map((name) => join(folder, name))
  const contents = left.map((path) => readFileSync(path))
  // Its file is closed here, and is as it was again: a process that is killed leaves no open ones.
  await recording.end(endMs)
  for (const [i, path] of left.entries()) writeFileSync(path, contents[i] ?? '')
}

/** Makes the clips that the next start makes from the folder, one after the other. */
export async function leftoversOf(at: ClipTools): Promise<(ClipResult | undefined)[]> {
  const results: (ClipResult | undefined)[] = []
  for (const leftover of await listLeftovers(at)) {
    const plan = await readLeftover(at, leftover)
    results.push('type' in plan ? plan : await makeClip(at, plan))
  }
  return results
}
