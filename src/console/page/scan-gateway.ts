import type { Item, Photo } from './scan-items.ts'
import { type Outcome, outcomeOf } from './scan-outcome.ts'
import { scanTexts as texts } from './scan-texts.ts'

/** Headers of a caller: of this handheld, or of a person who signed in on it. */
export type Credential = {
  readonly username: string
  readonly instance: string
  readonly secret: string
  readonly role: string
}

const longestMs = 20_000
const photosPath = '/api/whms/evidence/photos'

/** Returns the headers that name a caller. */
export const headersOf = ({ username, instance, secret }: Credential): Record<string, string> => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': instance,
  'X-Storage-Username': username,
})

type Request = { readonly method?: string; readonly body?: BodyInit; readonly headers?: Record<string, string> }

/** Sends one request. What goes wrong on the way is `later`. */
export async function call(path: string, by: Credential | undefined, request: Request = {}): Promise<Outcome> {
  try {
    const response = await fetch(path, {
      method: request.method ?? 'GET',
      ...(request.body !== undefined && { body: request.body }),
      headers: {
        Accept: 'application/json',
        ...(by && headersOf(by)),
        ...request.headers,
      },
      ...{ credentials: 'omit', cache: 'no-store', redirect: 'error' },
      signal: AbortSignal.timeout(longestMs),
    })
    const body: unknown = await response.json().catch(() => undefined)
    return outcomeOf(response.status, body, response.headers.get('retry-after'))
  } catch {
    return { kind: 'later', words: texts.noNetwork, afterSeconds: 0 }
  }
}

/** Sends an object as JSON. */
export const post = (path: string, by: Credential | undefined, body: object, headers: Record<string, string> = {}) =>
  call(path, by, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  })

/** Sends an item of the queue, its photo first. The same item has the same key each time, so nothing is recorded twice. */
export async function sendItem(item: Item, photo: Photo | undefined, by: Credential | undefined): Promise<Outcome> {
  if (!by) return { kind: 'sign-in' }
  let body = { ...item.body, timestamp: item.at }
  if (photo) {
    const stored = await call(photosPath, by, {
      method: 'POST',
      body: photo.bytes,
      headers: { 'Content-Type': photo.type },
    })
    if (stored.kind !== 'acknowledged') return stored
    const { url, sha256 } = stored.answer
    body = { ...body, ...{ photo_url: url, photo_sha256: sha256 } }
  }
  return post(item.path, by, body, { 'Idempotency-Key': item.id, 'X-Device-Time': new Date().toISOString() })
}
