import type { MeasuredClock } from '../cameras/index.ts'
import { askOptions, type StreamSource } from '../video/index.ts'
import { askDeviceClock, type OnvifNeeds } from './onvif-thread.ts'

const answerWithinMs = 4000
/** Where ONVIF cameras have their device service, unless they say something else when they are searched. */
export const usualPlace = { port: 80, path: '/onvif/device_service', secure: false }
/** Both ways of asking leave the fraction of the second out. */
const halfSecondMs = 500

/** What a camera said of its clock. `stranger`: the first line of what answered and is no RTSP server. */
export type AskedClock = { readonly measured: MeasuredClock | null; readonly stranger: string | null }

/**
 * Asks a camera for its time: by RTSP at the address of its stream, and by ONVIF on port 80 of the same host when it says
 * nothing there. Neither needs credentials, and none are sent. Ends within 10 s.
 */
export async function askCameraClock(source: StreamSource, needs: OnvifNeeds): Promise<AskedClock> {
  const { protocol, hostname } = new URL(source.url)
  const answer = await askOptions(source, needs.clock, answerWithinMs)
  // What does not speak RTSP is no camera that should be asked more.
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
