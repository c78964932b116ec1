import type { Item, Photo, SentPhoto } from './items.ts'
import { type Later, type Outcome, outcomeOf, type RunOutcome, runOutcomeOf } from './outcome.ts'
import { bodyOf } from './run.ts'
import { scanTexts as texts } from './texts.ts'

/** Headers of a caller: of this handheld, or of a person who signed in on it. */
export type Credential = {
  readonly username: string
  readonly instance: string
  readonly secret: string
  readonly role: string
}

/** The gateway has so long to answer, besides the time that the bytes take on the slowest line that is still of use: 64 kbit/s. */
const answerMs = 20_000
const slowestBytesPerMs = 8
const photosPath = '/api/whms/evidence/photos'

/** Returns the headers that name a caller. */
export const headersOf = ({ username, instance, secret }: Credential): Record<string, string> => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': instance,
  'X-Storage-Username': username,
})

type Request = {
  readonly method?: string
  readonly body?: string | ArrayBuffer
  readonly headers?: Record<string, string>
}
type Answered = { readonly status: number; readonly body: unknown; readonly retryAfter: string | null }

/** Sends one request. A failure of the network is `later`. */
export async function call(path: string, by: Credential | undefined, request: Request = {}): Promise<Outcome> {
  const answered = await answerTo(path, by, request)
  if ('problem' in answered) return { kind: 'later', words: texts.noNetwork, afterSeconds: 0 }
  return outcomeOf(answered.status, answered.body, answered.retryAfter)
}

/** Sends one request. Returns the answer, or why there is none. */
async function answerTo(
  path: string,
  by: Credential | undefined,
  { method = 'GET', body, headers }: Request,
): Promise<Answered | { readonly problem: 'slow' | 'away' }> {
  try {
    const response = await fetch(path, {
      method,
      ...(body !== undefined && { body }),
      headers: { Accept: 'application/json', ...(by && headersOf(by)), ...headers },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs + Math.ceil(sizeOf(body) / slowestBytesPerMs)),
    })
    const answer: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body: answer, retryAfter: response.headers.get('retry-after') }
  } catch (error) {
    return { problem: error instanceof Error && error.name === 'TimeoutError' ? 'slow' : 'away' }
  }
}

const sizeOf = (body: string | ArrayBuffer | undefined) =>
  (typeof body === 'string' ? body.length : body?.byteLength) ?? 0

/**
 * Judges a missing answer. When the gateway answers a small request meanwhile, the large one did not get through: a fault, so that
 * others may pass.
 */
async function nothingCame(problem: 'slow' | 'away'): Promise<Later> {
  const ping = problem === 'slow' ? await answerTo('/api/ping', undefined, {}) : undefined
  const isThere = ping !== undefined && !('problem' in ping) && ping.status === 200
  return { kind: 'later', words: isThere ? texts.tooSlow : texts.noNetwork, afterSeconds: 0, isFault: isThere }
}

/** Sends an object as JSON. */
export const post = (path: string, by: Credential | undefined, body: object, headers: Record<string, string> = {}) =>
  call(path, by, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  })

/** Sends the photo of an item; the answer says where the gateway has it. */
export async function sendPhoto(photo: Photo, by: Credential | undefined): Promise<Outcome> {
  if (!by) return { kind: 'sign-in' }
  const headers = { 'Content-Type': photo.type }
  const answered = await answerTo(photosPath, by, { method: 'POST', body: photo.bytes, headers })
  if ('problem' in answered) return nothingCame(answered.problem)
  return outcomeOf(answered.status, answered.body, answered.retryAfter)
}

/**
 * Asks whether the gateway still has a photo: after a restore from a backup it may not. An answer about something else counts as
 * yes; the next request gets it too.
 */
export async function hasPhoto({ sha256 }: SentPhoto, by: Credential | undefined): Promise<boolean | Later> {
  if (!by) return true
  const answered = await answerTo(`${photosPath}/${sha256}`, by, { method: 'HEAD' })
  return 'problem' in answered ? nothingCame(answered.problem) : answered.status !== 404
}

/** Sends one item of the queue. The same item has the same key each time, so nothing is recorded twice. */
export async function sendItem(item: Item, by: Credential | undefined): Promise<Outcome> {
  if (!by) return { kind: 'sign-in' }
  return post(item.path, by, bodyOf(item), { 'Idempotency-Key': item.id, ...deviceTime() })
}

/**
 * Sends several events of one person as one batch. Each has its own key in it (`client_event_id`), so nothing is recorded twice,
 * whatever else it is sent with. The batch itself has none: the next try may have others in it.
 */
export async function sendRun(run: readonly Item[], by: Credential | undefined): Promise<RunOutcome> {
  if (!by) return { kind: 'sign-in' }
  const answered = await answerTo('/api/whms/events/batch', by, {
    method: 'POST',
    body: JSON.stringify({ mode: 'proceed', events: run.map(bodyOf) }),
    headers: { 'Content-Type': 'application/json', ...deviceTime() },
  })
  if ('problem' in answered) return nothingCame(answered.problem)
  return runOutcomeOf(answered.status, answered.body, answered.retryAfter, run.length)
}

/** Current time of this device's clock: the gateway corrects the times of the scans by its error. */
const deviceTime = () => ({ 'X-Device-Time': new Date().toISOString() })
