import { open } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { ownFile } from '../../platform/index.ts'
import { packetBytes } from '../format/transport-stream.ts'
import type { FilmSpan } from '../history/history-index.ts'
import type { DetectionFacts } from '../messages.ts'
import { Ring } from '../stream/ring.ts'
import { Recording } from './clip.ts'
import type { ClipTools } from './clip-loss.ts'
import type { ClipResult } from './clip-making.ts'

export type RecordedFile = { readonly path: string; readonly startMs: number }

/** Bytes that are read at once. */
const partBytes = 174 * packetBytes
/** Video that the ring keeps. It is longer than one part of a stream of about 25 kb/s or more. */
const keepMs = 10_000
/** B-frames, and pictures that an estimate places late, come after the end in the file. */
const beyondMs = 1000

/**
 * Makes the film of a moment from continuous video, by playing it through a ring as if it came from the camera now. So it
 * is cut exactly like any other clip. Never rejects. Resolves with undefined when it is left to the next start.
 */
export async function filmFromHistory(
  tools: ClipTools,
  facts: DetectionFacts,
  { fromMs, atMs, toMs }: FilmSpan,
  files: readonly RecordedFile[],
): Promise<ClipResult | undefined> {
  const ring = new Ring({ keepMs, isReplay: true })
  let recording: Recording | undefined
  let problem: unknown
  try {
    for await (const newestMs of play(files, ring)) {
      if (newestMs >= fromMs) recording ??= begin(tools, facts, ring, { fromMs, atMs })
      await recording?.drained
      if (newestMs > toMs + beyondMs) break
    }
  } catch (error) {
    problem = error
  }
  // A recording that never began finds no video in the ring and says so.
  recording ??= begin(tools, facts, ring, { fromMs, atMs })
  if (problem) tools.log.warn({ err: problem, ...facts }, 'continuous video could not be read to its end')
  return recording.close(toMs, { closedBy: 'post-roll', peakScore: null })
}

function begin(tools: ClipTools, facts: DetectionFacts, ring: Ring, { fromMs, atMs }: Omit<FilmSpan, 'toMs'>) {
  const from = { fromMs, notBeforeMs: -Infinity, askedPreRollMs: atMs - fromMs }
  // The ring's clock is the wall clock here.
  return new Recording(tools, { facts, ring, ...from, wallOffsetMs: 0 })
}

/** Plays files of one run into a ring. Yields the time of the newest picture after each part. */
async function* play(files: readonly RecordedFile[], ring: Ring): AsyncGenerator<number> {
  for (const { path, startMs } of files) {
    const file = await open(path, ownFile.read)
    for await (const bytes of file.createReadStream({ highWaterMark: partBytes }) as AsyncIterable<Buffer>) {
      ring.replay(bytes, startMs)
      await turn()
      if (ring.newestMs !== undefined) yield ring.newestMs
    }
  }
}
