import { membersOf } from '../data/parsing.ts'
import { gatewayWords } from '../i18n/language.ts'
import { warningWords } from '../kit/warning-words.ts'
import { scanTexts as texts } from './texts.ts'

/** Meaning of the gateway's answer for an item. `later`: nothing is known yet, so it stays and is sent again. */
export type Outcome =
  | {
      readonly kind: 'acknowledged'
      readonly warnings: readonly string[]
      readonly answer: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'refused'; readonly words: string }
  | { readonly kind: 'sign-in' }
  | {
      readonly kind: 'later'
      readonly words: string
      readonly afterSeconds: number
      /** The gateway could be reached and failed at this item: it may fail again each time. */
      readonly isFault?: boolean
    }

/** Meaning of an answer to several items: each item separately, or the same for all. */
export type RunOutcome =
  | { readonly kind: 'each'; readonly outcomes: readonly Settling[] }
  | Exclude<Outcome, { readonly kind: 'acknowledged' }>
export type Later = Extract<Outcome, { readonly kind: 'later' }>
/** An outcome that ends the waiting of an item. */
export type Settling = Extract<Outcome, { readonly kind: 'acknowledged' | 'refused' }>

type Answer = {
  readonly success?: unknown
  readonly warnings?: unknown
  readonly placed?: { readonly warnings?: unknown }
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown }
}

/** Statuses below 500 that say nothing about the item itself: try again. */
const passing = new Set([408, 409, 425, 429])

/**
 * Reads an answer; pure. Only the gateway's own answer counts: an item leaves the queue by `success: true`, and is refused by the
 * gateway's own error. The page of a hotspot or a proxy, whatever its status, is neither.
 */
export function outcomeOf(status: number, body: unknown, retryAfter: string | null): Outcome {
  const answer: Answer = typeof body === 'object' && body !== null ? body : {}
  if (answer.success === true && (status === 200 || status === 201)) {
    return { kind: 'acknowledged', warnings: warningsOf(answer), answer: membersOf(body) }
  }
  const { code, message, details } = answer.error ?? {}
  const isOurs = answer.success === false && typeof code === 'string'
  if (isOurs && status === 401) return { kind: 'sign-in' }
  if (isOurs && status >= 400 && status < 500 && !passing.has(status)) {
    return { kind: 'refused', words: refusalWords(code, String(message ?? ''), details) }
  }
  const seconds = Number(retryAfter ?? 0)
  const words = isOurs ? gatewayWords(String(message ?? code)) : texts.silent(status)
  const isFault = isOurs && status >= 500 && status !== 503
  return { kind: 'later', words, afterSeconds: Number.isFinite(seconds) ? seconds : 0, isFault }
}

/**
 * Reads the answer to so many items that were sent as one batch; pure. It counts only when it says of each of them, once, that it is
 * recorded or refused. Everything else is a fault: all of them stay and are sent again in smaller parts.
 */
export function runOutcomeOf(status: number, body: unknown, retryAfter: string | null, count: number): RunOutcome {
  const whole = outcomeOf(status, body, retryAfter)
  // A caller without the permission to record may record none of them.
  if (whole.kind === 'refused' && status === 403) return { kind: 'each', outcomes: Array(count).fill(whole) }
  if (whole.kind !== 'acknowledged') return whole
  const { results } = whole.answer
  const outcomes = Array.isArray(results) && results.length === count ? inPlaces(results) : []
  const isWhole = Object.keys(outcomes).length === count
  return isWhole
    ? { kind: 'each', outcomes }
    : { kind: 'later', words: texts.unclearAnswer, afterSeconds: 0, isFault: true }
}

type Result = {
  readonly index?: unknown
  readonly status?: unknown
  readonly event?: unknown
  readonly error?: unknown
}

/** Outcome of each item, at its place; places stay empty where the answer is not clear. */
function inPlaces(results: readonly Result[]): readonly Settling[] {
  const outcomes: Settling[] = []
  for (const { index, status, event, error } of results) {
    if (typeof index !== 'number' || !(index >= 0 && index < results.length) || typeof status !== 'number') continue
    const isRecorded = typeof event === 'object' && event !== null
    const outcome = outcomeOf(status, isRecorded ? { ...event, success: true } : { success: false, error }, null)
    if (outcome.kind === 'acknowledged' || outcome.kind === 'refused') outcomes[index] = outcome
  }
  return outcomes
}

function warningsOf({ warnings, placed }: Answer): string[] {
  const all = [warnings, placed?.warnings].flatMap((some) => (Array.isArray(some) ? some : []))
  return all.flatMap(({ code, message }: { code?: unknown; message?: unknown }) =>
    typeof message === 'string' ? [warningWords({ code: String(code), message })] : [],
  )
}

/** Returns why an item was refused, and the next step. */
function refusalWords(code: string, message: string, details: unknown): string {
  const more = typeof details === 'string' && details !== message ? ` (${details})` : ''
  return `${gatewayWords(`${message}${more}`)}. ${texts.refusals[code] ?? texts.refusedOtherwise}`
}
