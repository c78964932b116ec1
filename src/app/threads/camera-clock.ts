import type { MeasuredClock } from '../../cameras/index.ts'
import { askOptions, type StreamSource, usualPlace } from '../../video/index.ts'
import { askDeviceClock, type OnvifNeeds } from './onvif-thread.ts'

const answerWithinMs = 4000
/** Both ways of asking leave the fraction of the second out. */
const halfSecondMs = 500

/** A camera's answer about its clock. `stranger`: the first line of an answer from a server that does not speak RTSP. */
export type AskedClock = { readonly measured: MeasuredClock | null; readonly stranger: string | null }

/**
 * Asks a camera for its time, first by RTSP at the address of its stream. Without a time there, asks by ONVIF on port 80 of the
 * same host. Sends no credentials; neither question needs them. Ends within 10 s.
 */
export async function askCameraClock(source: StreamSource, needs: OnvifNeeds): Promise<AskedClock> {
  const { protocol, hostname } = new URL(source.url)
  const answer = await askOptions(source, needs.clock, answerWithinMs)
  // A host that does not speak RTSP is no camera; it gets no more questions.
  if (protocol === 'rtsp:' && !answer?.isRtsp) return { measured: null, stranger: answer?.firstLine ?? null }
  if (answer && answer.aheadSeconds !== null) return { measured: measuredBy('rtsp', answer), stranger: null }
  const device = await askDeviceClock(needs, { ...usualPlace, host: hostname.replace(/^\[|\]$/g, '') })
  return { measured: device && measuredBy('onvif', device), stranger: null }
}

function measuredBy(
  by: MeasuredClock['by'],
  { aheadSeconds, roundTripMs }: { readonly aheadSeconds: number | null; readonly roundTripMs: number },
): MeasuredClock {
  return { offsetMs: (aheadSeconds ?? 0) * 1000, uncertaintyMs: halfSecondMs + Math.max(roundTripMs, 0) / 2, by }
}
