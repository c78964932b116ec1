import type { ClipLost, Problem } from '../video/index.ts'
import type { GapCause } from './watch.ts'

const causes: Readonly<Record<Problem, GapCause>> = {
  unreachable: 'offline',
  'name-unknown': 'offline',
  refused: 'refused',
  'wrong-path': 'offline',
  busy: 'offline',
  'no-video': 'offline',
  'udp-only': 'offline',
  'not-a-stream': 'offline',
  'no-picture': 'stalled',
  'no-key-frame': 'no_keyframe',
  frozen: 'stalled',
  'few-pictures': 'stalled',
  'size-changed': 'restarted',
  'time-jump': 'stalled',
  reordered: 'restarted',
  'motion-jpeg': 'restarted',
  closed: 'offline',
  'password-unreadable': 'offline',
  'program-failed': 'restarted',
}

/** Returns the cause of a gap from what is wrong with the stream. */
export function causeOfProblem(problem: Problem): GapCause {
  return causes[problem]
}

const lostCauses: Readonly<Record<ClipLost['reason'], GapCause>> = {
  'no-video': 'no_keyframe',
  unreadable: 'no_keyframe',
  'disk-full': 'disk_full',
  'disk-too-slow': 'disk_full',
  'disk-failed': 'disk_full',
  'nothing-left': 'restarted',
  // Only films are lost so, and they make no gap.
  'nothing-kept': 'offline',
}

/** Returns the cause of a gap from the reason why a clip was lost. */
export function causeOfLoss(reason: ClipLost['reason']): GapCause {
  return lostCauses[reason]
}
