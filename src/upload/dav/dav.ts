import { Readable } from 'node:stream'
import { StorageAgents, type StorageInstance } from '../../auth/index.ts'
import {
  type AnswerHead,
  answerBounds,
  type Clock,
  errorLine,
  outsideRequest,
  wholeAnswer,
} from '../../platform/index.ts'
import type { Reply } from '../verdict.ts'
import type { Throttle } from './throttle.ts'

/** Bytes to send. `open` gives them from the beginning at each call. */
export type Body = { readonly sizeBytes: number; readonly open: () => AsyncIterable<Buffer> | Iterable<Buffer> }

export type DavRequest = {
  readonly method: 'PUT' | 'MKCOL' | 'MOVE' | 'HEAD' | 'PATCH' | 'PROPFIND' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** An incident needs it: it goes before others where the line is narrow. */
  readonly urgent?: boolean
}

/** How long a server may keep a request waiting. */
export type DavLimits = {
  /** Without a byte in or out for this long, the connection is given up. */
  readonly silenceMs: number
  /** The same for MOVE and PATCH: a server may take this long to put the parts of a large file together, or to hash it. */
  readonly longSilenceMs: number
  /** From the head of an answer to its end, also when a byte comes now and then. */
  readonly answerMs: number
}

const usualLimits: DavLimits = {
  silenceMs: 60_000,
  longSilenceMs: 300_000,
  answerMs: answerBounds.upload.answerMs,
}

type DavNeeds = {
  readonly clock: Pick<Clock, 'after'>
  readonly throttle: Throttle
  readonly version: string
  /** Ends what is under way. */
  readonly signal: AbortSignal
  readonly limits?: Partial<DavLimits> | undefined
}

/** Sends WebDAV requests: each once, to the configured server alone, without following redirects. */
export class Dav {
  readonly #needs: DavNeeds
  readonly #agents = new StorageAgents()

  constructor(needs: DavNeeds) {
    this.#needs = needs
  }

  /** Sends a request and reads the answer. Never rejects, except with an error of `body.open` about the file itself. */
  async send(instance: StorageInstance, authorization: string, ask: DavRequest): Promise<Reply> {
    const exchange = new Exchange(this.#needs, ask)
    try {
      return await exchange.run(
        outsideRequest(ask.url, {
          method: ask.method as 'PUT',
          headers: {
            ...ask.headers,
            authorization,
            'accept-encoding': 'identity',
            'content-length': String(ask.body?.sizeBytes ?? 0),
            'user-agent': `gatehouse/${this.#needs.version}`,
          },
          ...(ask.method !== 'HEAD' && { body: exchange.body() }),
          agent: this.#agents.of(instance),
        }),
      )
    } catch (error) {
      if (error instanceof FileError) throw error
      return { kind: 'none', error: errorLine(error), sentBytes: exchange.sentBytes }
    }
  }
}

/** The file on this box cannot be read as it was recorded. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/** One request and its answer. */
class Exchange {
  readonly #needs: DavNeeds
  readonly #ask: DavRequest
  #sentBytes = 0
  readonly #limits: DavLimits
  readonly #silence = new AbortController()
  #cancel = () => {}
  #fileError: FileError | undefined

  constructor(needs: DavNeeds, ask: DavRequest) {
    this.#needs = needs
    this.#ask = ask
    this.#limits = { ...usualLimits, ...needs.limits }
  }

  get sentBytes(): number {
    return this.#sentBytes
  }

  body(): Readable {
    return Readable.from(this.#pieces(), { objectMode: false, highWaterMark: 1 })
  }

  async run(request: ReturnType<typeof outsideRequest>): Promise<Reply> {
    const { clock, signal } = this.#needs
    const limits = { bytes: answerBounds.upload.bytes, answerMs: this.#limits.answerMs }
    this.#watch()
    const answer = await wholeAnswer(request, limits, {
      clock,
      signal: AbortSignal.any([signal, this.#silence.signal]),
      onProgress: () => this.#watch(),
    })
    this.#cancel()
    if (answer.kind === 'answer') return answered(answer.head, answer.body)
    if (this.#fileError) throw this.#fileError
    // A server that has answered may cut the connection before it has read everything. Half a list is no answer.
    if (answer.head && this.#ask.method !== 'PROPFIND') return answered(answer.head, answer.body)
    return { kind: 'none', error: answer.why, sentBytes: this.#sentBytes }
  }

  /** While the bucket is empty, no one is silent: the clock runs only while the server or the line is awaited. */
  async *#pieces(): AsyncGenerator<Buffer> {
    const { body, urgent = false } = this.#ask
    if (!body) return
    try {
      for await (const piece of body.open()) {
        this.#cancel()
        await this.#needs.throttle.take(piece.length, urgent)
        this.#watch()
        this.#sentBytes += piece.length
        yield piece
      }
    } catch (error) {
      if (error instanceof FileError) this.#fileError = error
      throw error
    }
  }

  #watch(): void {
    const isLong = this.#ask.method === 'MOVE' || this.#ask.method === 'PATCH'
    const ms = isLong ? this.#limits.longSilenceMs : this.#limits.silenceMs
    this.#cancel()
    this.#cancel = this.#needs.clock.after(ms, () => this.#silence.abort(`nothing for ${ms / 1000} s`))
  }
}

function answered({ statusCode: status, headers }: AnswerHead, body: Buffer): Reply {
  return {
    kind: 'answer',
    status,
    hash: hashIn(headers),
    sizeBytes: wholeNumber(headers['content-length']),
    retryAfterMs: secondsIn(headers['retry-after']),
    body: body.toString('utf8'),
  }
}

/** On PUT and MOVE it is in a separate header, on PATCH in OC-Checksum. */
function hashIn(headers: AnswerHead['headers']): string | null {
  const own = headers['x-hash-sha256'] ?? /^SHA256:(.*)$/i.exec(headers['oc-checksum'] ?? '')?.[1] ?? ''
  const hash = own.trim().toLowerCase()
  return /^[0-9a-f]{64}$/.test(hash) ? hash : null
}

const wholeNumber = (text: string | undefined) => (text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null)

function secondsIn(text: string | undefined): number | null {
  const seconds = wholeNumber(text)
  return seconds === null ? null : seconds * 1000
}
