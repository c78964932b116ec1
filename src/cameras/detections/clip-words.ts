import type { MediaRemovalRow } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { ClipClosed } from '../../video/index.ts'

/** Less missing pre-roll than this is not mentioned; times of pictures are this exact. */
const exactSeconds = 0.1
/** A longer time without a picture is mentioned: something may have happened in it. */
const longGapSeconds = 1

type ClipFacts = Pick<
  ClipClosed,
  'motionAt' | 'startedAt' | 'closedBy' | 'preRollSeconds' | 'askedPreRollSeconds' | 'longestGapSeconds' | 'original'
>

/** Returns facts about a clip that its viewer must know and cannot see; null when it is complete and as requested. */
export function clipReason(clip: ClipFacts, moment: 'motion' | 'event' = 'motion'): string | null {
  const parts = [ending(clip), beginning(clip, moment), gap(clip), encoding(clip)].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join('; ')
}

const causeWords: Record<MediaRemovalRow['cause'], string> = {
  age: 'because of its age',
  'free-space': 'because the disk was nearly full',
}

/** Returns when and why a clip was removed. */
export function expiryWords({ cause, policy, removed_at_ms: atMs }: MediaRemovalRow): string {
  return `removed at ${isoTime(atMs)} ${causeWords[cause]} (${policy})`
}

function ending({ closedBy }: ClipFacts): string | null {
  if (closedBy === 'post-roll') return null
  // The gap beside it has the same text.
  return closedBy === 'restarted' ? 'the stream was opened anew with other settings' : `closed by ${closedBy}`
}

function beginning(
  { motionAt, startedAt, preRollSeconds, askedPreRollSeconds }: ClipFacts,
  moment: string,
): string | null {
  if (askedPreRollSeconds === null || preRollSeconds >= askedPreRollSeconds - exactSeconds) return null
  const lateSeconds = (startedAt - motionAt) / 1000
  if (lateSeconds > exactSeconds)
    return `begins ${short(lateSeconds)} s after the ${moment === 'event' ? moment : 'motion did'}`
  return `begins ${short(preRollSeconds)} s before the ${moment}, not ${short(askedPreRollSeconds)} s`
}

function gap({ longestGapSeconds }: ClipFacts): string | null {
  return longestGapSeconds <= longGapSeconds ? null : `no picture for ${short(longestGapSeconds)} s in the middle`
}

function encoding({ original }: ClipFacts): string | null {
  return original ? null : 'encoded again as H.264, because browsers do not play what the camera sends'
}

function short(seconds: number): string {
  return String(Math.round(seconds * 10) / 10)
}
