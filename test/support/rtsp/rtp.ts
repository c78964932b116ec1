/** RTP (RFC 3550) and its interleaving with RTSP on one TCP connection (RFC 2326, 10.12). */
import type { AccessUnit } from './annexb.ts'
import type { VideoCodec } from './codec.ts'

/** Payloads fit into a UDP packet, as those of cameras do even over TCP. */
const payloadLimit = 1400

const dollar = 0x24
const rtpVersion2 = 0x80
const interleavedHeaderBytes = 4
const rtpHeaderBytes = 12

/** Where the packets of one track of one client stand. */
export type RtpState = {
  readonly channel: number
  readonly payloadType: number
  readonly source: number
  /** Number of the next packet; 16 bits. */
  sequence: number
}

/** The RTP payloads of a picture: small NAL units together, big ones in pieces, the rest as they are. */
export function payloadsOf(picture: AccessUnit, codec: VideoCodec): Buffer[] {
  const payloads: Buffer[] = []
  let small: Buffer[] = []
  const flush = () => {
    if (small.length > 0) payloads.push(small.length === 1 ? (small[0] as Buffer) : codec.aggregate(small))
    small = []
  }
  for (const nal of picture.nals) {
    if (aggregatedBytes([...small, nal]) > payloadLimit) flush()
    if (nal.length > payloadLimit) payloads.push(...codec.fragment(nal, payloadLimit))
    else small.push(nal)
  }
  flush()
  return payloads
}

/** Each unit preceded by its size in two bytes: the inside of an aggregation packet of either codec. */
export function withSizes(nals: readonly Buffer[]): Buffer[] {
  return nals.flatMap((nal) => [Buffer.from([nal.length >> 8, nal.length & 0xff]), nal])
}

/** Pieces of at most `limit` bytes behind headers in which the first and last are marked (S and E bits). */
export function fragmentsOf(body: Buffer, limit: number, header: (edge: number) => Buffer): Buffer[] {
  const fragments: Buffer[] = []
  for (let at = 0; at < body.length; at += limit) {
    const edge = (at === 0 ? 0x80 : 0) | (at + limit >= body.length ? 0x40 : 0)
    fragments.push(Buffer.concat([header(edge), body.subarray(at, at + limit)]))
  }
  return fragments
}

/** The packets of one moment, ready for the socket; the last one carries the marker bit. Advances `state.sequence`. */
export function interleave(payloads: readonly Buffer[], timestamp: number, state: RtpState): Buffer {
  const overhead = interleavedHeaderBytes + rtpHeaderBytes
  const bytes = Buffer.allocUnsafe(payloads.reduce((sum, payload) => sum + overhead + payload.length, 0))
  let at = 0
  payloads.forEach((payload, i) => {
    const marker = i === payloads.length - 1 ? 0x80 : 0
    bytes.writeUInt8(dollar, at)
    bytes.writeUInt8(state.channel, at + 1)
    bytes.writeUInt16BE(rtpHeaderBytes + payload.length, at + 2)
    bytes.writeUInt8(rtpVersion2, at + 4)
    bytes.writeUInt8(marker | state.payloadType, at + 5)
    bytes.writeUInt16BE(state.sequence, at + 6)
    bytes.writeUInt32BE(timestamp, at + 8)
    bytes.writeUInt32BE(state.source, at + 12)
    payload.copy(bytes, at + overhead)
    at += overhead + payload.length
    state.sequence = (state.sequence + 1) & 0xffff
  })
  return bytes
}

function aggregatedBytes(nals: readonly Buffer[]): number {
  return nals.reduce((sum, nal) => sum + 2 + nal.length, 2)
}
