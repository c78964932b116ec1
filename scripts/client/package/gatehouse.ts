import createClient, { type Client } from 'openapi-fetch'

export type GatehouseOptions = {
  /** Address of the gateway, as `site.url` in its config. */
  readonly url: string
  readonly username: string
  readonly secret: string
  /** Storage server that knows the account. Default: the gateway itself. */
  readonly instance?: string
  /** Most times that a request is sent. Default: 6, over about a minute. */
  readonly attempts?: number
  readonly fetch?: typeof fetch
  /** Waits. For tests. */
  readonly sleep?: (ms: number) => Promise<void>
}

/** The envelope of a refusal. */
export type Refusal = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: string | null
    readonly requestId?: string
  }
}

/** A request that the gateway refused. */
export class GatehouseError extends Error {
  /** Decide by this: it never changes. */
  readonly code: string
  readonly status: number
  readonly details: string | null
  /** The log of the box has the cause under it. */
  readonly requestId: string | null

  constructor(status: number, refusal: Partial<Refusal> | undefined) {
    const { code = 'UNKNOWN', message = `The gateway answered ${status}`, details, requestId } = refusal?.error ?? {}
    super(details ? `${message}: ${details}` : message)
    this.name = 'GatehouseError'
    this.code = code
    this.status = status
    this.details = details ?? null
    this.requestId = requestId ?? null
  }
}

const sleepFor = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const repeated = new Set([429, 500, 502, 503, 504])
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const firstWaitMs = 1_000
const longestWaitMs = 60_000

/**
 * Connects to a gateway. The client sends a failed request again with the same key, so nothing is recorded twice.
 * Every path and field of the API is typed.
 */
export function connect<Paths extends object>(options: GatehouseOptions): Client<Paths> {
  const { url, username, secret, instance = url } = options
  const headers = {
    Authorization: `Bearer ${secret}`,
    'X-Storage-Instance': instance,
    'X-Storage-Username': username,
  }
  return createClient<Paths>({ baseUrl: url, headers, fetch: (request: Request) => send(request, options) })
}

async function send(original: Request, options: GatehouseOptions): Promise<Response> {
  const { attempts = 6, sleep = sleepFor } = options
  const request = new Request(original)
  if (changing.has(request.method) && !request.headers.has('Idempotency-Key'))
    request.headers.set('Idempotency-Key', crypto.randomUUID())
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= attempts
    try {
      const answer = await (options.fetch ?? fetch)(request.clone())
      if (!repeated.has(answer.status) || last) return answer
      await answer.body?.cancel()
      await sleep(waitMs(attempt, answer.headers.get('Retry-After')))
    } catch (error) {
      if (last || request.signal.aborted) throw error
      await sleep(waitMs(attempt, null))
    }
  }
}

/** Waits as long as the gateway asks, else 1, 2, 4 … seconds, each up to a quarter longer. */
function waitMs(attempt: number, retryAfter: string | null): number {
  const asked = Number(retryAfter ?? Number.NaN) * 1000
  const own = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs)
  return Number.isFinite(asked) && asked > 0 ? asked : own * (1 + Math.random() / 4)
}

type Answer<Data> = { readonly data?: Data; readonly error?: unknown; readonly response: Response }

/** Returns the body of an answer. Throws `GatehouseError` for a refusal. */
export async function ok<Data>(asked: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await asked
  if (data === undefined) throw new GatehouseError(response.status, error as Partial<Refusal> | undefined)
  return data
}

type Page<Row> = {
  readonly data: readonly Row[]
  readonly pagination: { readonly nextCursor: string | null }
}

/** Reads every row of a list. `ask` asks for one page, from its cursor on. Throws `GatehouseError` for a refusal. */
export async function* rows<Row>(ask: (cursor: string | undefined) => Promise<Answer<Page<Row>>>): AsyncGenerator<Row> {
  let cursor: string | undefined
  do {
    const page = await ok(ask(cursor))
    yield* page.data
    cursor = page.pagination.nextCursor ?? undefined
  } while (cursor !== undefined)
}

/**
 * Checks `X-Service-Signature` of a notification.
 *
 * @param body the bytes as they came, before they are parsed.
 */
export async function isSigned(
  body: Uint8Array<ArrayBuffer>,
  signature: string | null | undefined,
  secret: string,
): Promise<boolean> {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '')?.[1]
  if (hex === undefined) return false
  const given = Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, given, body)
}
