import { hash as hashOf } from 'node:crypto'

/** Chance that a seed repeats (mulberry32). Returns numbers from 0 up to 1. */
export function chanceOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Place = { readonly siteId: string; readonly logId: string; readonly seq: number; readonly atMs: number }

/**
 * Returns a leaf as a gateway makes it for an event of the floor. Each pallet is placed, verified, and taken out. One in ten shares
 * its name with pallets of other sites. `branch` distinguishes leaves of a second history from those of the first.
 */
export function leafAt({ siteId, logId, seq, atMs }: Place, branch: number): Buffer {
  const hash = (what: string) => hashOf('sha256', `${logId} ${seq} ${branch} ${what}`)
  const timestamp = new Date(atMs).toISOString()
  const step = Math.floor((seq - 1) / 3)
  const eventType = (['PLACED', 'VERIFIED', 'REMOVED'] as const)[(seq - 1) % 3] ?? 'PLACED'
  const slotId = 1 + ((step * 7 + branch) % 2000)
  const assetKey = `${step % 10 === 0 ? 'shared' : siteId}-${String(step).padStart(10, '0')}`
  return Buffer.from(
    JSON.stringify({
      ...{ v: 2, kind: 'placement', siteId, logId, seq, eventId: hash('event').slice(0, 32), id: seq, eventType },
      ...{ slotId, slotCode: `A-${slotId}`, assetBarcode: assetKey, assetKey },
      ...{ operator: hash('operator'), actor: hash('actor') },
      ...{ timestamp, deviceTimestamp: timestamp, receivedAt: timestamp, clockOffsetMs: 12, timeQuality: 'synced' },
      ...(eventType === 'PLACED' && { photoUrl: `/photos/${hash('photo')}.png`, photoSha256: hash('photo') }),
      ...{ photoEvidence: eventType === 'PLACED' ? 'held' : 'none', warnings: [] },
    }),
  )
}
