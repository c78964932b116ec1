import type { StreamFacts } from './measure.ts'

/**
 * Verdict on one property of a stream.
 * - `good`: nothing to do.
 * - `note`: works, and costs something or misses something.
 * - `change`: works badly; something should be changed in the camera.
 * - `unknown`: could not be measured.
 */
export type Verdict = 'good' | 'note' | 'change' | 'unknown'

/** One property of a stream, judged. `words` is a sentence for the admin. */
export type Finding = {
  readonly topic: string
  readonly value: string
  readonly verdict: Verdict
  readonly words: string
}

export type Wanted = {
  readonly preRecordSeconds: number
  /** Memory of a camera's ring. */
  readonly ringBytes: number
}

/** How far the camera's clock is ahead of this box's, and how that was found out; null: unknown. */
export type ClockOffset = { readonly seconds: number; readonly from: 'rtsp' | 'onvif' } | null

/** Pre-roll of a camera that the config does not have yet. */
export const usualPreRecordSeconds = 5
/** Frames a second that detection looks at; a stream with fewer is seen less often. */
const detectedPerSecond = 5
/** Measured: a 1080p stream at 25 pictures a second takes this share of a core to decode. */
const coreShare = { share: 0.094, pixelsPerSecond: 1920 * 1080 * 25 }
const largestForDetection = 1280 * 720
const clockToleranceSeconds = 2
const MB = 1024 * 1024

/** Judges the measured facts, in the order in which they are shown. */
export function judgeStream(facts: StreamFacts, offset: ClockOffset, wanted: Wanted): Finding[] {
  return [
    codec(facts),
    size(facts),
    rate(facts),
    keyFrames(facts, wanted),
    bitrate(facts, wanted),
    order(facts),
    sound(facts),
    transport,
    streamTime(facts),
    clock(offset),
    live(facts),
  ].filter((finding) => finding !== undefined)
}

function codec({ codec: name }: StreamFacts): Finding {
  const topic = 'codec'
  switch (name) {
    case 'h264':
      return { topic, value: 'H.264', verdict: 'good', words: 'Recorded as it is.' }
    case 'hevc':
      return { topic, value: 'H.265', verdict: 'note', words: 'Recorded as it is. Many browsers do not play it.' }
    case 'mjpeg':
      return {
        topic,
        value: 'Motion JPEG',
        verdict: 'change',
        words: 'Clips are encoded again, which costs processor time and changes the video. Set the camera to H.264.',
      }
    case 'other':
      return {
        topic,
        value: 'unknown',
        verdict: 'change',
        words: 'This codec is not recorded. Set the camera to H.264.',
      }
  }
}

function size({ size: found, sizeChanges, picturesPerSecond }: StreamFacts): Finding {
  const topic = 'size'
  if (!found) return { topic, value: 'unknown', verdict: 'unknown', words: 'No key frame stated a size.' }
  const value = `${found.width} x ${found.height}`
  if (sizeChanges > 0) {
    const words =
      'The size changed while it was measured, which ends a clip each time. Set one fixed size in the camera.'
    return { topic, value, verdict: 'change', words }
  }
  const pixels = found.width * found.height
  if (pixels <= largestForDetection) return { topic, value, verdict: 'good', words: 'Cheap to decode for detection.' }
  const share = (coreShare.share * pixels * (picturesPerSecond ?? 25)) / coreShare.pixelsPerSecond
  const words = `Decoding it for detection takes about ${Math.max(1, Math.round(share * 100))} % of a processor core. Set detectUrl to a smaller stream of the camera, such as 640 x 360.`
  return { topic, value, verdict: 'note', words }
}

function rate({ picturesPerSecond }: StreamFacts): Finding {
  const topic = 'pictures a second'
  if (picturesPerSecond === null)
    return { topic, value: 'unknown', verdict: 'unknown', words: 'Too few pictures came.' }
  const value = rounded(picturesPerSecond)
  if (picturesPerSecond >= detectedPerSecond - 0.5)
    return { topic, value, verdict: 'good', words: 'Detection looks at 5.' }
  const words = `Detection looks at 5 a second, so fast motion may be missed. Set the camera to 10 or more.`
  return { topic, value, verdict: 'change', words }
}

function keyFrames({ keyFrameSeconds, keyFrames: count }: StreamFacts, { preRecordSeconds }: Wanted): Finding {
  const topic = 'key frame interval'
  if (keyFrameSeconds === null) {
    const value = count === 0 ? 'no key frame' : 'only one key frame'
    const words =
      'It is over a minute. Set the key frame interval (I-frame interval, GOP) of the camera to 1 or 2 seconds.'
    return { topic, value, verdict: 'change', words }
  }
  const value = `${rounded(keyFrameSeconds)} s`
  if (keyFrameSeconds <= preRecordSeconds) {
    return { topic, value, verdict: 'good', words: `Within preRecordSeconds (${preRecordSeconds} s).` }
  }
  const words = `Longer than preRecordSeconds (${preRecordSeconds} s): after each reconnect, clips lack their pre-roll until the next key frame, and memory holds up to ${rounded(keyFrameSeconds)} s more. Set the key frame interval of the camera to 1 or 2 seconds.`
  return { topic, value, verdict: 'change', words }
}

function bitrate(facts: StreamFacts, { preRecordSeconds, ringBytes }: Wanted): Finding {
  const topic = 'bitrate'
  const { averageBitrate: average, peakBitrate: peak, keyFrameSeconds } = facts
  if (average === null || peak === null)
    return { topic, value: 'unknown', verdict: 'unknown', words: 'Too few pictures came.' }
  const value = `${megabits(average)} on average, ${megabits(peak)} in the busiest second`
  const heldSeconds = preRecordSeconds + 2 + (keyFrameSeconds ?? 0)
  const needed = (average / 8) * heldSeconds
  if (needed <= ringBytes) {
    const words = `The pre-roll needs ${Math.ceil(needed / MB)} MB of the ${Math.round(ringBytes / MB)} MB of memory for a camera.`
    return { topic, value, verdict: 'good', words }
  }
  const words = `The pre-roll needs ${Math.ceil(needed / MB)} MB, and the memory of a camera is ${Math.round(ringBytes / MB)} MB: clips lack part of it. Lower the bitrate of the camera, its key frame interval or preRecordSeconds.`
  return { topic, value, verdict: 'change', words }
}

function order({ bFrames, codec: name }: StreamFacts): Finding | undefined {
  if (name === 'mjpeg') return undefined
  if (!bFrames)
    return {
      topic: 'B-frames',
      value: 'none',
      verdict: 'good',
      words: 'Pictures come in the order in which they are shown.',
    }
  const words = 'They delay the pictures, and ffmpeg before 4.4 cannot record them. Switch B-frames off in the camera.'
  return { topic: 'B-frames', value: 'yes', verdict: 'change', words }
}

function sound({ audio }: StreamFacts): Finding {
  if (audio === null) return { topic: 'sound', value: 'none', verdict: 'good', words: 'Sound is never recorded.' }
  const words = 'Sound is never recorded. Switch it off in the camera to save bandwidth.'
  return { topic: 'sound', value: audio, verdict: 'note', words }
}

const transport: Finding = {
  topic: 'transport',
  value: 'RTP inside the RTSP connection (TCP)',
  verdict: 'good',
  words: 'One connection through one port; nothing is lost on the way.',
}

function streamTime({ jumps }: StreamFacts): Finding | undefined {
  if (jumps === 0) return undefined
  const words = 'Each jump ends a clip, and the stream is opened anew. Check the time server that the camera is set to.'
  return {
    topic: 'clock of the stream',
    value: jumps === 1 ? 'jumped once' : `jumped ${jumps} times`,
    verdict: 'change',
    words,
  }
}

function clock(offset: ClockOffset): Finding {
  const topic = 'clock of the camera'
  if (!offset) {
    const words =
      'The camera tells its time neither by RTSP nor by ONVIF. Compare the time that it writes into its picture.'
    return { topic, value: 'unknown', verdict: 'unknown', words }
  }
  const { seconds } = offset
  const value =
    Math.abs(seconds) < 1
      ? 'less than a second off'
      : `${durationWords(Math.abs(seconds))} ${seconds > 0 ? 'ahead' : 'behind'}`
  const by = offset.from === 'rtsp' ? 'the RTSP answer' : 'ONVIF'
  if (Math.abs(seconds) <= clockToleranceSeconds) {
    return {
      topic,
      value,
      verdict: 'good',
      words: `By ${by}, which is exact to a second. Clips carry the time of this box.`,
    }
  }
  const words = `By ${by}. Clips carry the time of this box, but the time written into the picture is wrong: set the time server (NTP) of the camera.`
  return { topic, value, verdict: 'change', words }
}

function live({ codec: name }: StreamFacts): Finding {
  const topic = 'in a browser'
  if (name === 'h264') return { topic, value: 'plays', verdict: 'good', words: 'Browsers play H.264 as it is.' }
  return {
    topic,
    value: 'not in every browser',
    verdict: 'note',
    words: 'Set the camera, or a second stream of it, to H.264.',
  }
}

function rounded(number: number): string {
  return String(Math.round(number * 10) / 10)
}

function megabits(bitsPerSecond: number): string {
  return `${rounded(bitsPerSecond / 1e6)} Mb/s`
}

function durationWords(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const
  const [size, name] = units.find(([unit]) => seconds >= 2 * unit) ?? units[3]
  const count = Math.round(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
