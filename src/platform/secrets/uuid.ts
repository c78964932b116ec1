import type { Clock } from '../clock/clock.ts'
import type { RandomBytes } from './random.ts'

/**
 * Returns a maker of UUIDv7 (RFC 9562): 48 bits of wall clock, then a 12-bit counter, then random bits. The counter is method 1 of
 * section 6.2, so ids ascend within one millisecond and after the clock went back.
 */
export function uuidv7Maker(clock: Pick<Clock, 'now'>, random: RandomBytes): () => string {
  let lastMs = 0
  let counter = 0
  return () => {
    const nowMs = clock.now()
    const bytes = random(16)
    if (nowMs > lastMs) {
      lastMs = nowMs
      counter = bytes.readUInt16BE(6) & 0x07ff
    } else if (++counter > 0x0fff) {
      lastMs += 1
      counter = 0
    }
    bytes.writeUIntBE(lastMs, 0, 6)
    bytes.writeUInt16BE(0x7000 | counter, 6)
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
    const hex = bytes.toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}
