import type { ClientRequest } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import got, { type OptionsInit, type Request } from 'got'
import type { Clock } from '../clock/clock.ts'
import { errorCode, errorMessage } from '../faults.ts'

export type { Request as OutsideRequest } from 'got'
export { TimeoutError as OutsideTimeout } from 'got'

/** Status line and headers of an answer; names in lower case. */
export type AnswerHead = { readonly statusCode: number; readonly headers: Readonly<Record<string, string | undefined>> }

export type WholeAnswer = { readonly kind: 'answer'; readonly head: AnswerHead; readonly body: Buffer }
export type NoAnswer = {
  readonly kind: 'none'
  /** One line for the admin. */
  readonly why: string
  /** `bytes`, `time`: the answer exceeded its limit. */
  readonly limit: 'bytes' | 'time' | undefined
  /** The error of the connection; undefined at a limit. */
  readonly error: unknown
  /** Received before that. */
  readonly head: AnswerHead | undefined
  readonly body: Buffer
  /** Whether the connection had served an earlier request. */
  readonly isReused: boolean
}

export type AnswerLimits = {
  readonly bytes: number
  /** From now to the last byte. */
  readonly totalMs?: number
  /** From the head of the answer to the last byte. */
  readonly answerMs?: number
}

type AnswerNeeds = {
  readonly clock: Pick<Clock, 'after'>
  /** Gives the exchange up, with its reason as `why`. */
  readonly signal?: AbortSignal
  /** Called when the head or a piece of the body came. */
  readonly onProgress?: () => void
}

/** Provisional answers (1xx) that a request accepts. They have no body, and need not end. */
const maxProvisionalAnswers = 10

/**
 * Starts a request to another machine. It follows no redirect, repeats nothing and unpacks nothing, so `decompress` and
 * `followRedirect` cannot be set. An error status is an answer.
 */
export function outsideRequest(
  url: string,
  options: Omit<OptionsInit, 'decompress' | 'followRedirect' | 'retry'>,
): Request {
  const started = got.stream(url, {
    throwHttpErrors: false,
    ...options,
    retry: { limit: 0 },
    followRedirect: false,
    decompress: false,
  })
  started.once('request', refuseProvisionalFlood)
  return started
}

/** The same as a plain request of Node, for an agent that checks each address. */
export function outsideHttpsRequest(options: RequestOptions): ClientRequest {
  const started = request({ ...options, rejectUnauthorized: true })
  refuseProvisionalFlood(started)
  return started
}

function refuseProvisionalFlood(started: ClientRequest): void {
  let count = 0
  started.on('information', () => {
    count += 1
    if (count > maxProvisionalAnswers)
      started.destroy(new Error(`more than ${maxProvisionalAnswers} provisional answers`))
  })
}

/** Resolves with the whole answer, or with the reason why there is none. Never rejects. The connection is free or gone then. */
export function wholeAnswer(
  request: Request,
  { bytes, totalMs, answerMs }: AnswerLimits,
  { clock, signal, onProgress = () => {} }: AnswerNeeds,
): Promise<WholeAnswer | NoAnswer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let size = 0
    let head: AnswerHead | undefined
    let isReused = false
    const timers: (() => void)[] = []
    const settle = (answer: WholeAnswer | NoAnswer) => {
      for (const cancel of timers) cancel()
      signal?.removeEventListener('abort', abort)
      request.destroy()
      resolve(answer)
    }
    const fail = (why: string, { limit, error }: { limit?: NoAnswer['limit']; error?: unknown } = {}) =>
      settle({ kind: 'none', why, limit, error, head, body: Buffer.concat(parts), isReused })
    const abort = () => fail(errorMessage(signal?.reason))
    const within = (ms: number, why: string) => timers.push(clock.after(ms, () => fail(why, { limit: 'time' })))
    signal?.addEventListener('abort', abort)
    if (totalMs !== undefined) within(totalMs, `no whole answer within ${totalMs / 1000} s`)
    request.once('request', (sent: ClientRequest) =>
      sent.once('socket', () => {
        isReused = sent.reusedSocket
      }),
    )
    request.once('response', ({ statusCode, headers }: AnswerHead) => {
      head = { statusCode, headers }
      if (answerMs !== undefined) within(answerMs, `the answer did not end within ${answerMs / 1000} s`)
      onProgress()
    })
    request.on('data', (part: Buffer) => {
      size += part.length
      if (size > bytes) return fail(`the answer has more than ${bytes} bytes`, { limit: 'bytes' })
      parts.push(part)
      onProgress()
    })
    request.once('end', () =>
      head ? settle({ kind: 'answer', head, body: Buffer.concat(parts) }) : fail('the connection ended'),
    )
    // Stays for the life of the request, so that a late error is handled; it changes nothing after the answer.
    request.on('error', (error) => fail(errorLine(error), { error }))
    if (signal?.aborted) abort()
  })
}

/** Returns code and message of a failed exchange in one line. */
export function errorLine(error: unknown): string {
  const code = errorCode(error)
  const message = errorMessage(error)
  return (code && !message.includes(code) ? `${code}: ${message}` : message).replace(/\s+/g, ' ').slice(0, 300)
}

/** Returns whole seconds of a `Retry-After`; undefined without one, and for a date. */
export function retryAfterSeconds({ headers }: AnswerHead): number | undefined {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined
}
