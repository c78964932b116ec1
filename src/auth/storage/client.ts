import { z } from '@hono/zod-openapi'
import got, { type Request } from 'got'
import { errorCode, errorMessage } from '../../platform/faults.ts'
import type { Clock } from '../../platform/index.ts'
import { StorageAgents, type StorageInstance } from './agents.ts'

/** Answer of the storage server about a credential. */
export type StorageAnswer =
  | {
      readonly kind: 'verified'
      /** `data.id`: the user. */
      readonly username: string
      readonly email: string | undefined
      readonly groups: readonly string[]
    }
  /** The server answered and does not know the credential. */
  | { readonly kind: 'wrong' }
  /** No answer that proves anything: not reached, in maintenance, lock-out, or another program answers there. */
  | {
      readonly kind: 'unclear'
      /** The reason in one line for the log, without credential and body. */
      readonly why: string
      /** 429: the server has locked out our address. */
      readonly isLockOut: boolean
      readonly retryAfterMs: number | undefined
      /** Whether the server may have counted the password as wrong all the same. */
      readonly mayCount: boolean
    }

/** From the first byte out to the last byte in; a wrong password takes the server a second. */
const timeoutMs = 5000
const bodyLimitBytes = 256 * 1024
const path = '/ocs/v2.php/cloud/user?format=json'

type NoAnswer = { readonly why: string; readonly mayCount: boolean }
type Raw = { status: number; retryAfter: string | undefined; body: Buffer }

type StorageClientNeeds = { clock: Pick<Clock, 'after'>; instances: () => readonly StorageInstance[]; version: string }

/**
 * Sends verification requests to storage servers. Each call is one request, without redirects or retries, because a
 * repeated wrong password counts as two towards the server's lock-out.
 */
export class StorageClient {
  readonly #needs: StorageClientNeeds
  readonly #agents = new StorageAgents()

  constructor(needs: StorageClientNeeds) {
    this.#needs = needs
  }

  /**
   * Asks a configured instance whose credential this is. Never rejects.
   * @param authorization the header's value; absent: tests only whether the server answers (with `wrong`)
   */
  async ask(url: string, authorization?: string): Promise<StorageAnswer> {
    const instance = this.#needs.instances().find((known) => known.url === url)
    if (!instance) return unclear('not a configured instance')
    try {
      const request = got.stream.get(`${instance.url}${path}`, {
        headers: {
          ...(authorization !== undefined && { authorization }),
          'ocs-apirequest': 'true',
          accept: 'application/json',
          'user-agent': `gatehouse/${this.#needs.version}`,
        },
        agent: this.#agents.of(instance),
        retry: { limit: 0 },
        followRedirect: false,
        throwHttpErrors: false,
        decompress: false,
      })
      const raw = await answerTo(request, this.#needs.clock)
      return 'why' in raw ? unclear(raw.why, raw.mayCount) : readAnswer(raw)
    } catch (error) {
      return unclear(describe(error))
    }
  }
}

/**
 * Returns the whole answer, or in one line why there is none. One deadline for all phases, which got's timeouts do not
 * give.
 */
function answerTo(request: Request, clock: Pick<Clock, 'after'>): Promise<Raw | NoAnswer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let size = 0
    let status = 0
    let retryAfter: string | undefined
    const settle = (result: Raw) => {
      cancel()
      resolve(result)
    }
    const giveUp = (why: string, mayCount: boolean) => {
      cancel()
      request.destroy()
      resolve({ why, mayCount })
    }
    const cancel = clock.after(timeoutMs, () => giveUp(`no answer within ${timeoutMs / 1000} s`, status !== 200))
    request.once('response', (response: { statusCode: number; headers: Record<string, string | undefined> }) => {
      status = response.statusCode
      retryAfter = response.headers['retry-after']
    })
    request.on('data', (part: Buffer) => {
      size += part.length
      if (size > bodyLimitBytes) giveUp(`more than ${bodyLimitBytes / 1024} KiB of answer`, status !== 200)
      else parts.push(part)
    })
    request.once('end', () => settle({ status, retryAfter, body: Buffer.concat(parts) }))
    // Stays for the life of the request, so that a late error is handled; it changes nothing after the answer.
    request.on('error', (error) => giveUp(describe(error), status !== 200 && !neverSent(error)))
  })
}

/** PHP writes a list whose keys have gaps as an object. */
const names = z.union([
  z.array(z.string()),
  z.record(z.string(), z.string()).transform((named) => Object.values(named)),
])

/** A name in the form in which the gateway stores names. */
const Username = z.string().regex(/^[^\p{Cc}]{1,128}$/u)

const Verified = z.object({
  ocs: z.object({
    meta: z.object({ statuscode: z.union([z.literal(200), z.literal(100)]) }),
    data: z.object({
      id: Username,
      enabled: z.boolean().optional(),
      email: z.string().nullish().catch(undefined),
      groups: names.optional(),
    }),
  }),
})

function readAnswer({ status, retryAfter, body }: Raw): StorageAnswer {
  if (status === 401) return { kind: 'wrong' }
  if (status !== 200) {
    const said = unclear(`HTTP ${status}`, status >= 500 && status !== 503)
    return { ...said, isLockOut: status === 429, retryAfterMs: wait(retryAfter) }
  }
  const { data, error } = Verified.safeParse(parse(body))
  if (error) return unclear('HTTP 200 without a user in it')
  const { id, enabled, email, groups = [] } = data.ocs.data
  return enabled === false ? { kind: 'wrong' } : { kind: 'verified', username: id, email: email || undefined, groups }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

const wait = (retryAfter: string | undefined) =>
  retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined

const unclear = (why: string, mayCount = false): StorageAnswer & { kind: 'unclear' } => ({
  kind: 'unclear',
  why,
  isLockOut: false,
  retryAfterMs: undefined,
  mayCount,
})

/** Says whether an error happened before the server could see a password. */
function neverSent(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|CERT_|DEPTH_|UNABLE_|SELF_SIGNED|ERR_TLS_)/.test(
    code,
  )
}

function describe(error: unknown): string {
  const code = errorCode(error)
  const message = errorMessage(error)
  return (code && !message.includes(code) ? `${code}: ${message}` : message).replace(/\s+/g, ' ').slice(0, 300)
}
