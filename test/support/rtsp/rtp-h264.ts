/** H.264 in RTP (RFC 6184), packetization mode 1: single NAL units, STAP-A and FU-A. */
import type { VideoCodec } from './codec.ts'
import { fragmentsOf, withSizes } from './rtp.ts'

const sps = 7
const pps = 8
const stapA = 24
const fuA = 28

const typeOf = (nal: Buffer) => (nal[0] ?? 0) & 0x1f
const importanceOf = (nal: Buffer) => (nal[0] ?? 0) & 0x60

export const h264: VideoCodec = {
  encoding: 'H264',
  typeOf,
  isSlice: (type) => type >= 1 && type <= 5,
  // first_mb_in_slice is 0, which ue(v) writes as a single 1.
  isFirstSlice: (nal) => ((nal[1] ?? 0) & 0x80) !== 0,
  // Supplemental information, parameter sets, access unit delimiter, and what is reserved for that place (7.4.1.2.3).
  precedesSlices: (type) => (type >= 6 && type <= 9) || (type >= 14 && type <= 18),
  isKeyframe: (type) => type === 5,
  isParameterSet: (type) => type === sps || type === pps,

  formatParameters(sets) {
    const profile = sets.find((nal) => typeOf(nal) === sps)?.toString('hex', 1, 4) ?? '42e01f'
    const sprop = sets.map((nal) => nal.toString('base64')).join(',')
    return `packetization-mode=1;profile-level-id=${profile};sprop-parameter-sets=${sprop}`
  },

  aggregate(nals) {
    const importance = Math.max(...nals.map(importanceOf))
    return Buffer.concat([Buffer.from([importance | stapA]), ...withSizes(nals)])
  },

  fragment(nal, limit) {
    const indicator = importanceOf(nal) | fuA
    const header = (edge: number) => Buffer.from([indicator, edge | typeOf(nal)])
    return fragmentsOf(nal.subarray(1), limit - 2, header)
  },
}
