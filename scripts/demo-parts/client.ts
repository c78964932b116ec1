/** Output of `gatehouse credential --json`: an account, its secret, and the hash for the config. */
export type Account = {
  readonly username: string
  readonly role: 'viewer' | 'operator' | 'supervisor' | 'admin'
  readonly secret: string
  readonly secretHash: string
  /** Value of X-Storage-Instance. */
  readonly instance: string
}

export type Ask = {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as they are. */
  readonly bytes?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  readonly body: any
}

const longestAnswerMs = 20_000

/** The three headers with which every request but health and ping signs in. */
export function signIn(account: Account): Record<string, string> {
  return {
    Authorization: `Bearer ${account.secret}`,
    'X-Storage-Instance': account.instance,
    'X-Storage-Username': account.username,
  }
}

/** One person's HTTP client. Secrets travel in headers only, so no process list ever shows one. */
export class Client {
  readonly username: string
  readonly #url: string
  readonly #signIn: Record<string, string>

  constructor({ url, account }: { url: string; account: Account }) {
    this.#url = url
    this.#signIn = signIn(account)
    this.username = account.username
  }

  /** Whatever status comes back. Rejects when no answer comes at all. */
  async ask(method: string, path: string, { body, bytes, headers }: Ask = {}): Promise<Answer> {
    const payload = body === undefined ? bytes && new Uint8Array(bytes) : JSON.stringify(body)
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { ...this.#signIn, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(payload !== undefined && { body: payload }),
      signal: AbortSignal.timeout(longestAnswerMs),
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const answer = isJson ? await response.json() : Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, body: answer }
  }

  /** Throws a sentence when the answer has another status. */
  async expect(status: number, method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.ask(method, path, ask)
    if (answer.status === status) return answer
    const { code = '', message = '', details = '' } = answer.body?.error ?? {}
    throw new Error(
      `${method} ${path} answered ${answer.status} instead of ${status}: ${code} ${message} ${details}`.trim(),
    )
  }

  /** The body of a 200. */
  async get(path: string): Promise<Answer['body']> {
    return (await this.expect(200, 'GET', path)).body
  }

  /** The body of a 201. */
  async create(path: string, body: unknown): Promise<Answer['body']> {
    return (await this.expect(201, 'POST', path, { body })).body
  }
}
