import { StorageAgents } from '../auth/index.ts'
import { answerBounds, type Clock, outsideRequest, wholeAnswer } from '../platform/index.ts'
import type { FetchPart } from './mirror.ts'

export type RemoteLog = {
  /** Prefix of the log, without a slash at its end. */
  readonly url: string
  readonly caFile: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Returns what fetches parts of a log over HTTP: without redirects, each answer bounded in bytes and time. */
export function remoteLog(
  { url, caFile, headers }: RemoteLog,
  { clock, signal }: { readonly clock: Pick<Clock, 'after'>; readonly signal: AbortSignal },
): FetchPart {
  const agents = new StorageAgents()
  return async (path) => {
    const limits = path === 'checkpoint' ? answerBounds.evidence : answerBounds.logBundle
    const request = outsideRequest(`${url}/${path}`, { method: 'GET', headers, agent: agents.of({ url, caFile }) })
    const answer = await wholeAnswer(request, limits, { clock, signal })
    if (answer.kind === 'none') return { why: answer.why, isMissing: false }
    const { statusCode } = answer.head
    if (statusCode === 200) return answer.body
    const hint = statusCode === 401 || statusCode === 403 ? '; --username and --secret-file name an auditor there' : ''
    return { why: `HTTP ${statusCode}${hint}`, isMissing: statusCode === 404 }
  }
}
