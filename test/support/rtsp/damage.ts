import { createHash } from 'node:crypto'

/**
 * Damage to a picture on its way:
 *
 * - `freeze`: nothing comes
 * - `garbage`: noise in place of packets, which breaks the framing
 * - `corrupt`: whole packets with wrong bits inside
 * - `keyless`: all pictures but the key frames
 */
export type Damage = 'freeze' | 'garbage' | 'corrupt' | 'keyless'

/** As many bytes, the same for the same seed, any value as likely as another. */
export function noise(bytes: number, seed: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(String(seed)).digest()
}

/**
 * Copies in which every 97th byte is inverted, behind the headers of fragmentation; other bytes in each picture, because decoders
 * complain only of some. Parameter sets are short and stay whole: without them nothing is decoded.
 */
export function damaged(payloads: readonly Buffer[], nth: number): Buffer[] {
  return payloads.map((payload) => {
    if (payload.length < 120) return payload
    const copy = Buffer.from(payload)
    for (let at = 16 + ((nth * 31) % 97); at < copy.length; at += 97) copy[at] = ~(copy[at] ?? 0)
    return copy
  })
}
