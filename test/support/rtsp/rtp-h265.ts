/** H.265 in RTP (RFC 7798) without DONL: single NAL units, aggregation packets and fragmentation units. */
import type { VideoCodec } from './codec.ts'
import { fragmentsOf, withSizes } from './rtp.ts'

const vps = 32
const sps = 33
const pps = 34
const aggregation = 48
const fragmentation = 49

const spropNames: Record<number, string> = { [vps]: 'sprop-vps', [sps]: 'sprop-sps', [pps]: 'sprop-pps' }

const typeOf = (nal: Buffer) => ((nal[0] ?? 0) >> 1) & 0x3f

export const h265: VideoCodec = {
  encoding: 'H265',
  typeOf,
  isSlice: (type) => type < 32,
  // first_slice_segment_in_pic_flag follows the two bytes of the header.
  isFirstSlice: (nal) => ((nal[2] ?? 0) & 0x80) !== 0,
  // Parameter sets, delimiter, prefix information, and what is reserved for that place (7.4.2.4.4).
  precedesSlices: (type) => (type >= vps && type <= 35) || type === 39 || (type >= 41 && type <= 44) || type >= 48,
  isKeyframe: (type) => type >= 16 && type <= 21,
  isParameterSet: (type) => type in spropNames,

  formatParameters(sets) {
    return sets.map((nal) => `${spropNames[typeOf(nal)]}=${nal.toString('base64')}`).join(';')
  },

  // The payload header of both is that of a NAL unit: layer and temporal id of the first one, type replaced.
  aggregate(nals) {
    return Buffer.concat([payloadHeader(nals[0], aggregation), ...withSizes(nals)])
  },

  fragment(nal, limit) {
    const header = (edge: number) =>
      Buffer.concat([payloadHeader(nal, fragmentation), Buffer.from([edge | typeOf(nal)])])
    return fragmentsOf(nal.subarray(2), limit - 3, header)
  },
}

function payloadHeader(nal: Buffer | undefined, type: number): Buffer {
  return Buffer.from([((nal?.[0] ?? 0) & 0x81) | (type << 1), nal?.[1] ?? 1])
}
