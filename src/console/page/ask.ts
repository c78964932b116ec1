/** The gateway refused a request; code and reason. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds: number

  constructor(status: number, code: string, message: string, retryAfterSeconds: number) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }

  get isSignedOut(): boolean {
    return this.status === 401
  }
}

/** The gateway did not answer. */
export class Unreachable extends Error {}

const longestAnswerMs = 15_000

let csrfToken = ''
let aheadMs = 0

/** Keeps the session's CSRF token, which is sent with every change. */
export function keepCsrfToken(token: string | null): void {
  csrfToken = token ?? ''
}

/** Returns milliseconds since the epoch by the gateway's clock, to a second: a tablet's clock is often wrong. */
export const gatewayNow = (): number => Date.now() + aheadMs

/** Sends one request to the gateway that served this page. Throws Refused or Unreachable. */
export async function ask<T>(path: string, options: { method?: string; body?: unknown } = {}): Promise<T> {
  const { method = 'GET', body } = options
  const response = await send(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(method !== 'GET' && { 'X-CSRF-Token': csrfToken }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  keepTime(response.headers.get('date'))
  if (response.status === 204) return undefined as T
  const answer = (await response.json().catch(() => ({}))) as T &
    object & { error?: { code?: string; message?: string } }
  // An unhealthy gateway answers 503 with its health.
  if (response.ok || (response.status === 503 && 'checks' in answer)) return answer
  const { code = '', message = `The gateway answered with status ${response.status}` } = answer.error ?? {}
  throw new Refused(response.status, code, message, Number(response.headers.get('retry-after') ?? 0))
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, {
      ...init,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(longestAnswerMs),
    })
  } catch (cause) {
    throw new Unreachable('The gateway can’t be reached', { cause })
  }
}

function keepTime(date: string | null): void {
  const ms = Date.parse(date ?? '')
  // The header has no milliseconds: half a second is the fairest guess.
  if (Number.isFinite(ms)) aheadMs = ms + 500 - Date.now()
}
