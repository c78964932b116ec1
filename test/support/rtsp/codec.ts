import type { NalSyntax } from './annexb.ts'
import { h264 } from './rtp-h264.ts'
import { h265 } from './rtp-h265.ts'

/** The server's view of a codec: how its byte stream is cut, how it travels in RTP, how SDP describes it. */
export type VideoCodec = NalSyntax & {
  /** Encoding name in SDP. */
  readonly encoding: string
  /** The `a=fmtp` parameters that name these parameter sets. */
  formatParameters(parameterSets: readonly Buffer[]): string
  /** One payload that holds several whole NAL units. */
  aggregate(nals: readonly Buffer[]): Buffer
  /** The payloads that carry one NAL unit which is longer than `limit` bytes. */
  fragment(nal: Buffer, limit: number): Buffer[]
}

export type CodecName = 'h264' | 'hevc' | 'mjpeg'

/** Those that consist of NAL units. */
export const codecs: Record<Exclude<CodecName, 'mjpeg'>, VideoCodec> = { h264, hevc: h265 }
