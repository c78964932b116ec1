import { type ClipLost, type Impairment, type Problem, plainWords } from '../../video/index.ts'
import type { GapCause } from '../watch.ts'

const causes: Readonly<Record<Problem, GapCause>> = {
  unreachable: 'offline',
  'name-unknown': 'offline',
  refused: 'refused',
  'wrong-path': 'offline',
  busy: 'offline',
  'no-video': 'offline',
  'udp-only': 'offline',
  'not-a-stream': 'offline',
  redirected: 'offline',
  'no-picture': 'stalled',
  'no-key-frame': 'no_keyframe',
  frozen: 'stalled',
  'few-pictures': 'stalled',
  'damaged-pictures': 'stalled',
  'damaged-detection': 'stalled',
  'size-changed': 'restarted',
  'time-jump': 'stalled',
  reordered: 'restarted',
  'motion-jpeg': 'restarted',
  closed: 'offline',
  'password-unreadable': 'offline',
  'program-failed': 'restarted',
  'no-program': 'restarted',
}

/** Returns the cause of a gap from the problem of the stream. */
export function causeOfProblem(problem: Problem): GapCause {
  return causes[problem]
}

const lostCauses: Readonly<Record<ClipLost['reason'], GapCause>> = {
  'no-video': 'no_keyframe',
  unreadable: 'no_keyframe',
  damaged: 'disk_full',
  'given-up': 'restarted',
  'disk-full': 'disk_full',
  'disk-too-slow': 'disk_full',
  'disk-failed': 'disk_full',
  'nothing-left': 'restarted',
  // Only films are lost so, and they make no gap.
  'nothing-kept': 'offline',
  'clock-set-back': 'offline',
}

/** Returns the cause of a gap from the reason why a clip was lost. */
export function causeOfLoss(reason: ClipLost['reason']): GapCause {
  return lostCauses[reason]
}

const few = plainWords('few-pictures')
const impairedWords: Readonly<Record<Impairment, string>> = {
  still: 'Every picture was the same, bit by bit: the camera was probably broken.',
  covered: 'The picture had lost its detail: a cover, dirt, no focus, or darkness.',
  turned: 'The camera showed another place than before: it was turned or moved, or something large stood before it.',
  few_pictures: `${few.what} ${few.hint}`,
  no_events:
    'The analytics of the camera were to find motion, and their events did not come: gatehouse had no subscription. The state of the camera says why.',
  too_busy:
    'gatehouse was too busy to look at the pictures: of each second it looked at fewer than 3. Find the other work that loads the processor.',
}

/** Says why motion could not be found though pictures came. */
export function wordsOfImpairment(why: Impairment): string {
  return impairedWords[why]
}
