import type { ReadTx } from '../../database/index.ts'
import { numberPath } from '../../evidence/index.ts'
import { entryBundle, type KnownLog, leavesBetween, tileHashes, tileWidth, widthOfTile } from '../../log/index.ts'
import type { Member } from './payload.ts'

/** Reach of a log in a series: leaves in tiles, which a checkpoint covers, and all leaves. */
export type LogReach = { readonly signed: number; readonly size: number }

/** The part of a log that a segment takes. */
export type LogPart = {
  readonly log: KnownLog
  readonly before: LogReach
  readonly now: LogReach
  readonly note: string | undefined
}

const tailAtOnce = 1024

/**
 * Yields the members of a log from one reach to the next. First come the entry bundles and hash tiles that are new or grew, up to
 * the checkpoint. Then come the checkpoint and the leaves behind it. A log without a checkpoint has all its leaves there.
 */
export function* membersOfLog(tx: ReadTx, { log, before, now, note }: LogPart): Generator<Member> {
  const { number, logId } = log
  for (let n = Math.floor(before.signed / tileWidth); n * tileWidth < now.signed; n += 1) {
    const width = widthOfTile(0, n, now.signed)
    yield { name: `${logId}/tile/entries/${placeOf(n, width)}`, bytes: entryBundle(tx, number, n, width) }
    yield refsOf(tx, log, n * tileWidth, width)
  }
  for (let level = 0; ; level += 1) {
    const from = Math.floor(before.signed / tileWidth ** level)
    const to = Math.floor(now.signed / tileWidth ** level)
    if (to === 0) break
    for (let n = Math.floor(from / tileWidth); from < to && n * tileWidth < to; n += 1) {
      const width = widthOfTile(level, n, now.signed)
      yield { name: `${logId}/tile/${level}/${placeOf(n, width)}`, bytes: tileHashes(tx, number, level, n, width) }
    }
  }
  if (note !== undefined) yield { name: `${logId}/checkpoint`, bytes: Buffer.from(note) }
  for (let first = Math.max(now.signed, before.size); first < now.size; first += tailAtOnce) {
    const width = Math.min(tailAtOnce, now.size - first)
    const leaves = leavesBetween(tx, number, first + 1, first + width, width)
    yield { name: `${logId}/tail/${first}`, bytes: bundle(leaves) }
    yield refsOf(tx, log, first, width)
  }
}

const placeOf = (n: number, width: number) => `${numberPath(n)}${width === tileWidth ? '' : `.p/${width}`}`

/** Returns the numbers of the rows that leaves state, because no leaf has the number of its row. */
function refsOf(tx: ReadTx, { number, logId }: KnownLog, first: number, width: number): Member {
  const refs = leavesBetween(tx, number, first + 1, first + width, width).map(({ ref }) => ref)
  return { name: `${logId}/refs/${first}`, bytes: Buffer.from(JSON.stringify(refs)) }
}

function bundle(leaves: readonly { readonly bytes: Buffer }[]): Buffer {
  return Buffer.concat(
    leaves.flatMap(({ bytes }) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** Returns the leaves of an entry bundle; undefined when its lengths do not come out. */
export function leavesOfBundle(bytes: Buffer): Buffer[] | undefined {
  const leaves: Buffer[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > bytes.length) return undefined
    leaves.push(bytes.subarray(at + 2, end))
    at = end
  }
  return at === bytes.length ? leaves : undefined
}
