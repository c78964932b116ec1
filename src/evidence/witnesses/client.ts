import type { ClientRequest } from 'node:http'
import got, { type Request } from 'got'
import { StorageAgents } from '../../auth/index.ts'
import type { Clock } from '../../platform/index.ts'
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

/** From the first byte out to the last byte in. */
const usualTimeoutMs = 20_000
const answerLimitBytes = 64 * 1024

type Head = { readonly statusCode: number; readonly headers: Record<string, string | undefined> }
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
  /** For the whole of a request; 20 s where it is left out. */
  readonly timeoutMs?: number
  /** A connection is used again if the request before was not longer ago; left out: each request has its own. */
  readonly idleMs?: number
}

/** Posts to witnesses, time stamp authorities and the head office: without redirects and repeats, bounded in size and time. */
export class EvidenceClient {
  readonly #needs: EvidenceClientNeeds
  readonly #timeoutMs: number
  readonly #agents: StorageAgents
  readonly #underWay = new Set<() => void>()

  constructor(needs: EvidenceClientNeeds) {
    this.#needs = needs
    this.#timeoutMs = needs.timeoutMs ?? usualTimeoutMs
    this.#agents = new StorageAgents({ idleMs: needs.idleMs })
  }

  /** Ends what is under way; each gets the answer that there is none. */
  stop(): void {
    for (const end of this.#underWay) end()
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
    try {
      return await this.#answerTo(
        got.stream.post(`${address.url}${path}`, {
          body,
          headers: { 'content-type': contentType, 'user-agent': `gatehouse/${this.#needs.version}`, ...headers },
          agent: this.#agents.of(address),
          retry: { limit: 0 },
          followRedirect: false,
          throwHttpErrors: false,
          decompress: false,
        }),
      )
    } catch (error) {
      return describe(error)
    }
  }

  #answerTo(request: Request): Promise<Raw | string> {
    return new Promise((resolve) => {
      const parts: Buffer[] = []
      let size = 0
      let head: Head | undefined
      let isReused = false
      const settle = (result: Raw | string) => {
        cancel()
        this.#underWay.delete(end)
        request.destroy()
        resolve(result)
      }
      const end = () => settle('the gateway is stopping')
      this.#underWay.add(end)
      const cancel = this.#needs.clock.after(this.#timeoutMs, () =>
        settle(`nothing whole within ${this.#timeoutMs / 1000} s`),
      )
      request.once('request', (sent: ClientRequest) => {
        sent.once('socket', () => {
          isReused = sent.reusedSocket
        })
      })
      request.once('response', (response: Head) => {
        head = response
      })
      request.on('data', (part: Buffer) => {
        size += part.length
        if (size > answerLimitBytes) settle(`more than ${answerLimitBytes / 1024} KiB of answer`)
        else parts.push(part)
      })
      request.once('end', () => {
        const type = head?.headers['content-type'] ?? ''
        const waits = head?.headers['retry-after'] ?? ''
        const retryAfterSeconds = /^\d{1,6}$/.test(waits) ? Number(waits) : undefined
        settle({ status: head?.statusCode ?? 0, type, body: Buffer.concat(parts), retryAfterSeconds })
      })
      // Stays for the life of the request, so that a late error is handled; it changes nothing after the answer.
      request.on('error', (error) => settle(isReused && !head && isCut(error) ? closedWhileIdle : describe(error)))
    })
  }
}

/** The other side closed a connection that nothing used, and that was not known when the next request went out by it. */
const closedWhileIdle = 'the connection was closed while nothing used it'

const isCut = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE'

function describe(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return typeof code === 'string' && code !== 'ERR_GOT_REQUEST_ERROR' ? code : String(message ?? error).slice(0, 200)
}
