import { createHash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import canonicalize from 'canonicalize'
import type { Context } from 'hono'
import { AppError } from '../../errors/index.ts'
import { type Caller, identityOf } from '../caller.ts'
import { type AppEnv, originOf, type RequestOrigin } from '../context.ts'
import { sharedParameter } from './parameters.ts'

/** The use of an Idempotency-Key by one request: the facts that make two requests the same. */
export type IdempotencyClaim = {
  readonly caller: string
  /** The caller: what was answered once may be hidden from the same person later. */
  readonly by: Caller
  readonly method: string
  readonly path: string
  readonly key: string
  /** SHA-256 of the body in canonical form, or of its bytes when it is not JSON; hex. */
  readonly requestSha256: string
}

/** The caller of a change, and its Idempotency-Key. */
export type Ask = { readonly by: RequestOrigin; readonly claim: IdempotencyClaim | undefined }

/** A reply that can be stored and sent again as it was. */
export type Reply<Body extends object = object> = {
  readonly status: 200 | 201
  readonly body: Body
  readonly location?: string | undefined
  /** Whether it was stored by an earlier request with the same key. */
  readonly replayed: boolean
}

/** Headers of every operation that takes an Idempotency-Key. */
export const onceHeaders = {
  'idempotency-key': sharedParameter(
    'IdempotencyKey',
    { in: 'header', name: 'idempotency-key' },
    z
      .string()
      .optional()
      .openapi({
        description:
          '1 to 255 visible ASCII characters, new for each new request. The reply is kept for 7 days: the ' +
          'same request again gets it with `Idempotency-Replayed: true`, another body is 422. It is 403 if a warehouse is now ' +
          'hidden from the caller that was visible then.',
        example: 'scan-7f3a',
        maxLength: 255,
      }),
  ),
}

const keyForm = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the claim of this request, or undefined without a key. JSON is compared by its content. Throws VALIDATION_ERROR
 * for a malformed key.
 */
export function claimOf(c: Context<AppEnv>): IdempotencyClaim | undefined {
  const claim = claimOfBytes(c)
  return claim && { ...claim, requestSha256: createHash('sha256').update(canonical(c)).digest('hex') }
}

/** As `claimOf`, for a route that takes bytes: the one who reads them adds their hash. */
export function claimOfBytes(c: Context<AppEnv>): Omit<IdempotencyClaim, 'requestSha256'> | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined) return undefined
  if (!keyForm.test(key)) throw AppError.field('Idempotency-Key', 'expected 1 to 255 visible ASCII characters')
  const caller = c.get('caller')
  return { caller: identityOf(caller), by: caller, method: c.req.method, path: c.req.path, key }
}

/** Returns the caller and its Idempotency-Key. Throws VALIDATION_ERROR on a malformed key. */
export const askOf = (c: Context<AppEnv>): Ask => ({ by: originOf(c), claim: claimOf(c) })

/** RFC 8785, so that key order and spacing don't make another request. A body without such a form counts as it came. */
function canonical(c: Context<AppEnv>): string | Uint8Array {
  try {
    return canonicalize(c.get('jsonBody')) ?? ''
  } catch {
    return c.get('rawBody')
  }
}

/** Bodies of replies that were written as JSON already, to be stored. */
const written = new WeakMap<object, string>()

/** Writes the body of a reply as JSON; `send` takes that text instead of writing it again. The body must not change afterwards. */
export function writtenBody(body: object): string {
  const text = JSON.stringify(body)
  written.set(body, text)
  return text
}

/** Sends a reply with the declared status; a stored reply gets `Idempotency-Replayed: true`. */
export function send<Body extends object, Status extends 200 | 201>(
  c: Context<AppEnv>,
  reply: Reply<Body>,
  status: Status,
) {
  const headers = c.get('otherHeaders')
  if (reply.location) headers['location'] = reply.location
  if (reply.replayed) headers['idempotency-replayed'] = 'true'
  const text = written.get(reply.body)
  if (text === undefined) return c.json(reply.body, status)
  // The text is the JSON of this body: `c.json` would send the same.
  return c.body(text, status, { 'Content-Type': 'application/json' }) as unknown as ReturnType<
    typeof c.json<Body, Status>
  >
}
