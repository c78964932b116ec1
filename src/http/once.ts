import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { AppError } from '../errors/index.ts'
import type { AppEnv } from './context.ts'

/** One use of an Idempotency-Key: what makes two requests the same. */
export type IdempotencyClaim = {
  readonly caller: string
  readonly method: string
  readonly path: string
  readonly key: string
  /** Of the body's bytes, hex. */
  readonly requestSha256: string
}

/** A reply that can be stored and sent again as it was. */
export type Reply<Body extends object = object> = {
  readonly status: 200 | 201
  readonly body: Body
  readonly location?: string | undefined
  /** Whether it was stored by an earlier request with the same key. */
  readonly replayed: boolean
}

const keyForm = /^[\x21-\x7e]{1,255}$/

/** The claim of this request, or undefined when the client sent no key. Throws VALIDATION_ERROR on a malformed one. */
export function claimOf(c: Context<AppEnv>): IdempotencyClaim | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined) return undefined
  if (!keyForm.test(key)) throw AppError.field('Idempotency-Key', 'expected 1 to 255 visible ASCII characters')
  const caller = c.get('caller')
  return {
    caller: `${caller.username}@${caller.instance}`,
    method: c.req.method,
    path: c.req.path,
    key,
    requestSha256: createHash('sha256')
      .update(c.get('rawBody') ?? '')
      .digest('hex'),
  }
}

/** Sends a reply with the status that the operation declares; one that was stored says so. */
export function send<Body extends object, Status extends 200 | 201>(
  c: Context<AppEnv>,
  reply: Reply<Body>,
  status: Status,
) {
  if (reply.location) c.header('Location', reply.location)
  if (reply.replayed) c.header('Idempotency-Replayed', 'true')
  return c.json(reply.body, status)
}
