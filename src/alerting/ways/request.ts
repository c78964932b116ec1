import { Agent as HttpAgent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent } from 'node:https'
import { answerBounds, type Clock, outsideRequest, wholeAnswer } from '../../platform/index.ts'
import { attemptMs, failed, type Outcome } from './outcome.ts'

type RequestNeeds = { readonly clock: Pick<Clock, 'after'>; readonly signal: AbortSignal }

export type AlertRequest = {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  /** Default: one connection to any address. */
  readonly agent?: { readonly http?: HttpAgent; readonly https?: HttpsAgent }
}

/** Sends one request. Never rejects. Redirects are not followed, and the answer is read up to its limit. */
export async function sendRequest(
  { url, method, headers, body, agent }: AlertRequest,
  { clock, signal }: RequestNeeds,
): Promise<Outcome> {
  if (signal.aborted) return { kind: 'abandoned' }
  const request = outsideRequest(url, {
    ...{ method, headers, body },
    https: { rejectUnauthorized: true },
    ...(agent && { agent }),
  })
  const { bytes } = answerBounds.alert
  // The head says whether the message was taken, so nothing is read of the body, which may be endless.
  const hasHead = new AbortController()
  const answer = await wholeAnswer(
    request,
    { bytes, totalMs: attemptMs },
    { clock, signal: AbortSignal.any([signal, hasHead.signal]), onProgress: () => hasHead.abort() },
  )
  const { head } = answer
  if (!head && signal.aborted) return { kind: 'abandoned' }
  if (!head) return failed(answer.kind === 'none' ? answer.why : 'no answer')
  const { statusCode } = head
  if (statusCode >= 200 && statusCode < 300) return { kind: 'sent' }
  if (statusCode >= 300 && statusCode < 400) return failed(`HTTP ${statusCode}: redirects are not followed`)
  const retryAfter = head.headers['retry-after']
  return {
    kind: 'failed',
    error: `HTTP ${statusCode}`,
    isFinal: false,
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** Returns agents that trust further authorities. */
export const agentsWith = (secureContext: AgentOptions['secureContext']) => ({
  http: new HttpAgent(),
  https: new HttpsAgent({ secureContext }),
})
