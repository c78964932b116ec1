import { type Backoff, backoffMs } from '../../flow/index.ts'
import type { PlainWords } from '../problems.ts'

/** Reasons why a camera gives no events. */
export const eventProblems = [
  'unreachable',
  'refused',
  'no-events',
  'no-place',
  'forgotten',
  'too-large',
  'unreadable',
  'password-unreadable',
] as const
export type EventProblem = (typeof eventProblems)[number]

export class EventFailure extends Error {
  readonly problem: EventProblem

  constructor(problem: EventProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

const words: Record<EventProblem, PlainWords> = {
  unreachable: {
    what: 'The ONVIF service of the camera does not answer.',
    hint: 'Switch ONVIF on in the camera, and check the host and port of analytics.url.',
  },
  refused: {
    what: 'The ONVIF service of the camera refuses the user name or the password.',
    hint: 'ONVIF often has separate accounts: add this one in the camera. Check the clock of the camera too.',
  },
  'no-events': {
    what: 'The camera offers no events by ONVIF.',
    hint: 'Check its firmware and analytics.url, or set motion.source to pictures.',
  },
  'no-place': {
    what: 'The camera has no subscription left.',
    hint: 'Other recorders may hold all of them. Disconnect one, or restart the camera.',
  },
  forgotten: { what: 'The camera ended the subscription.', hint: 'It may have restarted.' },
  'too-large': {
    what: 'The camera sent an answer larger than any list of events.',
    hint: 'Restart the camera, and update its firmware.',
  },
  unreadable: {
    what: 'The answer of the ONVIF service cannot be read.',
    hint: 'Check that analytics.url is the device service of the camera.',
  },
  'password-unreadable': {
    what: 'The passwordFile of the camera cannot be read.',
    hint: 'Check that the file exists and that gatehouse may read it.',
  },
}

export function eventWords(problem: EventProblem): PlainWords {
  return words[problem]
}

/** Returns what a fault of the camera means. */
export function problemOfFault(fault: string): EventProblem {
  if (/not ?authori[sz]ed|unauthori[sz]ed|FailedAuthentication|authentication/i.test(fault)) return 'refused'
  if (/MaxPullPoints|too many|SubscribeCreationFailed/i.test(fault)) return 'no-place'
  if (/ResourceUnknown|does not exist|UnableToGetMessages|InvalidFilter.*Subscription/i.test(fault)) return 'forgotten'
  return /ActionNotSupported|NotSupported|NotImplemented|NoSuchService/i.test(fault) ? 'no-events' : 'unreadable'
}

const usualWait: Backoff = { firstMs: 1000, longestMs: 60_000 }
const refusedWait: Backoff = { firstMs: 10_000, longestMs: 30_000 }
/** Cameras lock accounts, so credentials that were refused so often are sent every half hour, as for the stream. */
const mostRefusals = 3
const lockedWaitMs = 30 * 60_000

/** Attempts that failed since the last subscription that was well; those of them that the camera refused. */
export type Failures = { readonly inRow: number; readonly refusals: number }

/** Returns the wait before the next attempt. `chance`: 0 to 1. */
export function waitMs(problem: EventProblem, { inRow, refusals }: Failures, chance: number): number {
  if (problem !== 'refused') return backoffMs(usualWait, inRow, chance)
  return refusals < mostRefusals ? backoffMs(refusedWait, refusals) : lockedWaitMs
}
