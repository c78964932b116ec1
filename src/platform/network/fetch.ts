import type { OptionsInit } from 'got'
import type { Clock } from '../clock/clock.ts'
import { type AnswerLimits, outsideRequest, wholeAnswer } from './answer.ts'
import { outsideJson } from './json.ts'

type FetchOptions = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Text, or what becomes text: a form. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** No whole answer came, or one that exceeds its limits. The message is for the log. */
export class NoOutsideAnswer extends Error {
  override readonly name = 'NoOutsideAnswer'
}

/** Statuses with which `Response` takes no body. */
const bodiless = [204, 205, 304]

/**
 * Makes what libraries take in place of `fetch`: one request with the limits of every other one. A redirect is no answer. Rejects
 * with NoOutsideAnswer.
 * @param agentNow called for each request
 */
export function outsideFetch(
  limits: AnswerLimits,
  agentNow: () => NonNullable<OptionsInit['agent']>,
  { clock }: { readonly clock: Pick<Clock, 'after'> },
): (url: string, options: FetchOptions) => Promise<Response> {
  return async (url, { method, headers, body, signal }) => {
    const request = outsideRequest(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      agent: agentNow(),
      ...(body !== undefined && body !== null && { body: String(body) }),
    })
    const answer = await wholeAnswer(request, limits, { clock, ...(signal && { signal }) })
    if (answer.kind === 'none') throw new NoOutsideAnswer(answer.why)
    const { statusCode: status, headers: answered } = answer.head
    if (status >= 300 && status < 400) throw new NoOutsideAnswer(`HTTP ${status}: no redirect is followed`)
    const type = answered['content-type'] ?? ''
    const text = answer.body.toString('utf8')
    if (/\bjson\b/.test(type) && outsideJson(text) === undefined) throw new NoOutsideAnswer('no JSON within the limits')
    return new Response(bodiless.includes(status) ? null : text, { status, headers: headersOf(answered) })
  }
}

/** Returns the headers that a library reads. */
function headersOf(answered: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named = ['content-type', 'www-authenticate', 'retry-after'] as const
  return Object.fromEntries(
    named.flatMap((name) => {
      const value = answered[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
