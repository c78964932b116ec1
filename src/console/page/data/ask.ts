import { gatewayWords } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'

/** A file that the gateway removed on purpose. */
export type MediaRemoval = {
  readonly removedAt: string
  readonly cause: string
  readonly policy: string
  readonly keptDays: number | null
}

/** The gateway refused a request; code and reason. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds: number
  /** Name of the wrong value and the expected one; empty when the message says all. */
  readonly details: string
  /** When and why the gateway removed the requested file. */
  readonly removal: MediaRemoval | undefined
  /** Problem of each field of the request, by its path. */
  readonly fields: ReadonlyMap<string, string>

  constructor(
    status: number,
    code: string,
    message: string,
    retryAfterSeconds: number,
    details = '',
    fields: ReadonlyMap<string, string> = new Map(),
    removal: MediaRemoval | undefined = undefined,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
    this.details = details
    this.fields = fields
    this.removal = removal
  }

  get isSignedOut(): boolean {
    return this.status === 401
  }
}

/** The gateway did not answer. */
export class Unreachable extends Error {}

const longestAnswerMs = 15_000
/** A list of ten thousand slots takes the gateway some seconds. */
const longestOfBytesMs = 120_000

/** The header `Date` has no milliseconds, and an answer is some time on its way. */
const mostErrorMs = 1000

const doubters = new Set<() => void>()

/** Calls the listener when the gateway refused something that the caller may not do. Returns a function that ends it. */
export function onForbidden(listener: () => void): () => void {
  doubters.add(listener)
  return () => {
    doubters.delete(listener)
  }
}

let showFactor: (() => Promise<boolean>) | undefined

/** Sets how the person is asked for the second factor; it resolves with whether it was shown. Returns a function that ends it. */
export function onStepUp(show: () => Promise<boolean>): () => void {
  showFactor = show
  return () => {
    showFactor = undefined
  }
}

/** Asks the person for the second factor, when the gateway has refused with this code for the lack of it. */
export const hasSteppedUp = async (code: string | undefined): Promise<boolean> =>
  code === 'STEP_UP_REQUIRED' && showFactor !== undefined && (await showFactor())

let csrfToken = ''
let aheadMs = 0
let isTimeKnown = false

/** Keeps the session's CSRF token, which is sent with every change. */
export function keepCsrfToken(token: string | null): void {
  csrfToken = token ?? ''
}

/** Returns milliseconds since the epoch by the gateway's clock, to a second or better: a tablet's clock is often wrong. */
export const gatewayNow = (): number => Date.now() + aheadMs

/** Stores a time of the gateway with its milliseconds, from a new answer. Ignores a time that no header `Date` confirms. */
export function keepExactTime(time: string): void {
  const errorMs = Date.parse(time) - gatewayNow()
  if (Math.abs(errorMs) <= mostErrorMs) aheadMs += errorMs
}

/**
 * Options of a request.
 *
 * - `ifMatch`: the version that was read; another one is refused
 * - `onceKey`: with the same key it is done once
 * - `bytes`: the raw body, in place of JSON
 */
export type Options = { method?: string; body?: unknown; bytes?: Blob; ifMatch?: number; onceKey?: string }

/** Sends one request to the gateway that served this page. Throws Refused or Unreachable. */
export async function ask<T>(path: string, options: Options = {}): Promise<T> {
  const { method = 'GET', body, bytes, ifMatch, onceKey } = options
  const response = await send(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(method !== 'GET' && { 'X-CSRF-Token': csrfToken }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(ifMatch !== undefined && { 'If-Match': `"${ifMatch}"` }),
      ...(onceKey !== undefined && { 'Idempotency-Key': onceKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(bytes !== undefined && { body: bytes }),
    signal: AbortSignal.timeout(bytes === undefined ? longestAnswerMs : longestOfBytesMs),
  })
  keepTime(response.headers.get('date'))
  if (response.status === 204) return undefined as T
  const answer = (await response.json().catch(() => ({}))) as T &
    object & {
      error?: Partial<Refusal>
    }
  // An unhealthy gateway answers 503 with its health.
  if (response.ok || (response.status === 503 && 'checks' in answer)) return answer
  if (response.status === 403) for (const doubt of doubters) doubt()
  const { code = '', message, details } = answer.error ?? {}
  if (await hasSteppedUp(code)) return ask(path, options)
  const words = message === undefined ? texts.answered(response.status) : gatewayWords(message)
  const why = typeof details === 'string' ? gatewayWords(details) : ''
  const fields = new Map((answer.error?.fields ?? []).map(({ path, message: what }) => [path, gatewayWords(what)]))
  const waitSeconds = Number(response.headers.get('retry-after') ?? 0)
  throw new Refused(response.status, code, words, waitSeconds, why, fields, answer.error?.removal)
}

type Refusal = {
  readonly code: string
  readonly message: string
  readonly details: unknown
  readonly fields: readonly FieldProblem[]
  readonly removal: MediaRemoval
}
type FieldProblem = { readonly path: string; readonly message: string }

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, {
      ...init,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
    })
  } catch (cause) {
    throw new Unreachable(texts.notReached, { cause })
  }
}

function keepTime(date: string | null): void {
  const ms = Date.parse(date ?? '')
  if (!Number.isFinite(ms)) return
  // Half a second is the fairest guess, unless the stored difference fits.
  const guessMs = ms + 500 - Date.now()
  if (!isTimeKnown || Math.abs(guessMs - aheadMs) > mostErrorMs) aheadMs = guessMs
  isTimeKnown = true
}
