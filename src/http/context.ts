import type { Context } from 'hono'
import { AppError } from '../errors/index.ts'
import type { Logger } from '../platform/index.ts'
import type { Caller } from './caller.ts'

/** Set before any handler runs. `caller` is there on every route that is not public. */
export type AppEnv = {
  Variables: {
    requestId: string
    /** Writes log lines under the request id. Made when the first line is: most requests write none. */
    log: () => Logger
    /** Address of the peer, or of the client that a trusted proxy names. */
    address: string
    /** Whether the client's connection is encrypted, up to here or up to a trusted proxy. */
    overTls: boolean
    /** Headers that go out unless the answer has its own of that name; names in lower case. */
    otherHeaders: Record<string, string>
    caller: Caller
    /** Takes the processor milliseconds that a request without a caller needed; absent with a caller. */
    spent: ((cpuMs: number) => void) | undefined
    /** Verifies the request's credentials again, for responses that stay open. Rejects like the first time. */
    callerNow: () => Promise<Caller>
    /** The JSON body as received, for idempotency; absent without one. */
    rawBody: Uint8Array
    /** The same, parsed; `{}` when the request had no body. */
    jsonBody: unknown
    /** Whether the answer will list names that were ignored, so it must not be packed yet. */
    listsIgnored: boolean | undefined
    /** Why the body cannot be read; the operation refuses with it, after the check of the permission. */
    bodyRefusal: AppError | undefined
  }
}

/** Runs `work` up to its first wait, and tells the main thread's time for it where no caller is known. */
export function measured<T>(c: Context<AppEnv>, work: () => T): T {
  const spent = c.get('spent')
  if (!spent) return work()
  const before = process.threadCpuUsage()
  try {
    return work()
  } finally {
    const { user, system } = process.threadCpuUsage(before)
    spent((user + system) / 1000)
  }
}

/** Caller, address and id of a request, for the audit trail. */
export type RequestOrigin = { readonly caller: Caller; readonly requestId: string; readonly address: string }

export function originOf(c: Context<AppEnv>): RequestOrigin {
  return { caller: c.get('caller'), requestId: c.get('requestId'), address: c.get('address') }
}

/** Throws PERMISSION_DENIED when the caller lacks the permission; for rules finer than those of a route. */
export function demand(
  caller: Caller,
  permission: Caller['permissions'] extends ReadonlySet<infer P> ? P : never,
): void {
  if (caller.permissions.has(permission)) return
  throw new AppError('PERMISSION_DENIED', `This needs the permission ${permission}`, {
    details: `role ${caller.role} lacks ${permission}${caller.withheld ? `: ${caller.withheld}` : ''}`,
  })
}
