import { StorageAgents } from '../../auth/index.ts'
import { errorCode } from '../../platform/faults.ts'
import {
  type AnswerLimits,
  answerBounds,
  type Clock,
  errorLine,
  outsideRequest,
  retryAfterSeconds,
  wholeAnswer,
} from '../../platform/index.ts'
import type { WitnessReply } from './verdict.ts'

/** Where something is posted, and the authorities that are trusted there instead of the public ones. */
export type Address = { readonly url: string; readonly caFile: string | null }

export type Posting = {
  readonly path: string
  readonly contentType: string
  readonly body: string | Buffer
  /** Beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>
}

export type Raw = {
  readonly status: number
  readonly type: string
  readonly body: Buffer
  /** Whole seconds of `Retry-After`; undefined without one. */
  readonly retryAfterSeconds: number | undefined
}

type EvidenceClientNeeds = {
  readonly clock: Pick<Clock, 'after'>
  readonly version: string
  /** Limits of one answer; absent: `answerBounds.evidence`. */
  readonly limits?: AnswerLimits
  /** A connection is used again if the request before was not longer ago; left out: each request has its own. */
  readonly idleMs?: number
}

/** Posts to witnesses, time stamp authorities and the head office: without redirects and repeats, bounded in size and time. */
export class EvidenceClient {
  readonly #needs: EvidenceClientNeeds
  readonly #agents: StorageAgents
  #stopping = new AbortController()

  constructor(needs: EvidenceClientNeeds) {
    this.#needs = needs
    this.#agents = new StorageAgents({ idleMs: needs.idleMs })
  }

  /** Ends what is under way; each gets the answer that there is none. */
  stop(): void {
    this.#stopping.abort('the gateway is stopping')
    // A later request belongs to another stop.
    this.#stopping = new AbortController()
    this.#agents.close()
  }

  /** Posts and returns the answer as text. Never rejects. */
  async postText(address: Address, posting: Posting): Promise<WitnessReply> {
    const raw = await this.post(address, posting)
    if (typeof raw === 'string') return { kind: 'none', why: raw }
    return { kind: 'answer', status: raw.status, type: raw.type, body: raw.body.toString('utf8') }
  }

  /** Posts and returns the answer, or in words why there is none. Never rejects. */
  async post(address: Address, posting: Posting): Promise<Raw | string> {
    const answer = await this.#once(address, posting)
    return answer === closedWhileIdle ? await this.#once(address, posting) : answer
  }

  async #once(address: Address, { path, contentType, body, headers }: Posting): Promise<Raw | string> {
    const { version, limits = answerBounds.evidence, clock } = this.#needs
    try {
      const request = outsideRequest(`${address.url}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': contentType, 'user-agent': `gatehouse/${version}`, ...headers },
        agent: this.#agents.of(address),
      })
      const answer = await wholeAnswer(request, limits, { clock, signal: this.#stopping.signal })
      if (answer.kind === 'none') {
        const { isReused, head, error, why } = answer
        return isReused && !head && isCut(error) ? closedWhileIdle : why
      }
      const { head } = answer
      return {
        status: head.statusCode,
        type: head.headers['content-type'] ?? '',
        body: answer.body,
        retryAfterSeconds: retryAfterSeconds(head),
      }
    } catch (error) {
      return errorLine(error)
    }
  }
}

/** The other side closed a connection that nothing used, and that was not known when the next request went out by it. */
const closedWhileIdle = 'the connection was closed while nothing used it'

const isCut = (error: unknown): boolean => /^(ECONNRESET|EPIPE)$/.test(errorCode(error) ?? '')
