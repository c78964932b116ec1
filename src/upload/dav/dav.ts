import { Readable } from 'node:stream'
import got, { type Request } from 'got'
import { StorageAgents, type StorageInstance } from '../../auth/index.ts'
import { errorCode, errorMessage } from '../../platform/faults.ts'
import type { Clock } from '../../platform/index.ts'
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

const usualLimits: DavLimits = { silenceMs: 60_000, longSilenceMs: 300_000, answerMs: 30_000 }
const answerLimitBytes = 1024 * 1024

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
        got.stream(ask.url, {
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
          retry: { limit: 0 },
          followRedirect: false,
          throwHttpErrors: false,
          decompress: false,
        }),
      )
    } catch (error) {
      if (error instanceof FileError) throw error
      return { kind: 'none', error: describe(error), sentBytes: exchange.sentBytes }
    }
  }
}

/** The file on this box cannot be read as it was recorded. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

type Head = { statusCode: number; headers: Record<string, string | undefined> }

/** One request and its answer. */
class Exchange {
  readonly #needs: DavNeeds
  readonly #ask: DavRequest
  #sentBytes = 0
  readonly #limits: DavLimits
  #cancel = () => {}
  #cancelAnswer = () => {}
  #giveUp: (why: string) => void = () => {}
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

  run(request: Request): Promise<Reply> {
    const parts: Buffer[] = []
    let head: Head | undefined
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply) => {
        this.#cancel()
        this.#cancelAnswer()
        this.#needs.signal.removeEventListener('abort', abort)
        request.destroy()
        resolve(reply)
      }
      const failed = (why: string) => {
        if (this.#fileError) return reject(this.#fileError)
        // A server that has answered may cut the connection before it has read everything. Half a list is no answer.
        const answer = this.#ask.method === 'PROPFIND' ? undefined : head
        settle(answer ? answered(answer, parts) : { kind: 'none', error: why, sentBytes: this.#sentBytes })
      }
      const abort = () => failed('the gateway is stopping')
      this.#giveUp = failed
      this.#needs.signal.addEventListener('abort', abort)
      this.#watch()
      request.once('response', (response: Head) => {
        head = { statusCode: response.statusCode, headers: response.headers }
        const { answerMs } = this.#limits
        this.#cancelAnswer = this.#needs.clock.after(answerMs, () =>
          failed(`the answer did not end within ${answerMs / 1000} s`),
        )
        this.#watch()
      })
      request.on('data', (part: Buffer) => {
        parts.push(part)
        this.#watch()
        if (parts.reduce((sum, { length }) => sum + length, 0) > answerLimitBytes) failed('the answer is too long')
      })
      request.once('end', () => (head ? settle(answered(head, parts)) : failed('the connection ended')))
      request.on('error', (error) => failed(describe(error)))
      if (this.#needs.signal.aborted) abort()
    })
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
    this.#cancel = this.#needs.clock.after(ms, () => this.#giveUp(`nothing for ${ms / 1000} s`))
  }
}

function answered({ statusCode: status, headers }: Head, parts: readonly Buffer[]): Reply {
  return {
    kind: 'answer',
    status,
    hash: hashIn(headers),
    sizeBytes: wholeNumber(headers['content-length']),
    retryAfterMs: secondsIn(headers['retry-after']),
    body: Buffer.concat(parts).toString('utf8'),
  }
}

/** On PUT and MOVE it is in a separate header, on PATCH in OC-Checksum. */
function hashIn(headers: Head['headers']): string | null {
  const own = headers['x-hash-sha256'] ?? /^SHA256:(.*)$/i.exec(headers['oc-checksum'] ?? '')?.[1] ?? ''
  const hash = own.trim().toLowerCase()
  return /^[0-9a-f]{64}$/.test(hash) ? hash : null
}

const wholeNumber = (text: string | undefined) => (text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null)

function secondsIn(text: string | undefined): number | null {
  const seconds = wholeNumber(text)
  return seconds === null ? null : seconds * 1000
}

function describe(error: unknown): string {
  const code = errorCode(error)
  const message = errorMessage(error)
  return (code && !message.includes(code) ? `${code}: ${message}` : message).replace(/\s+/g, ' ').slice(0, 300)
}
