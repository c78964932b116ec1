import type { Clock } from '../platform/index.ts'
import { Dav } from './dav/dav.ts'
import { folderFactsRequest, freeBytesIn } from './dav/folder-facts.ts'
import { type Account, authorizationOf, filesUrl, probe } from './dav/probe.ts'
import { Throttle } from './dav/throttle.ts'

/** Result of signing in to a storage server. */
export type AccountLook = {
  /** Why files cannot be put there; null: they can. */
  readonly problem: string | null
  /** Whether the server refused the password itself. */
  readonly isRefused: boolean
  /** Room that is left for the account; null: the server does not say, or there is no limit. */
  readonly freeBytes: number | null
}

/** Signs in to a storage server as uploads do, and asks how much room the account has. Uploads nothing; never rejects. */
export async function lookAtAccount(
  account: Account,
  { clock, version }: { readonly clock: Clock; readonly version: string },
): Promise<AccountLook> {
  const signal = new AbortController().signal
  const dav = new Dav({ clock, throttle: new Throttle({ clock, limit: () => null }), version, signal })
  const found = await probe({ dav, clock, version }, account)
  if (found.kind !== 'up') {
    return { problem: found.error, isRefused: found.kind === 'refused' && found.isPassword, freeBytes: null }
  }
  const ask = folderFactsRequest(`${filesUrl(found.flavor, account)}/`)
  const reply = await dav.send(account.instance, authorizationOf(found.scheme, account), ask)
  const free = reply.kind === 'answer' ? freeBytesIn(reply.body) : null
  return { problem: null, isRefused: false, freeBytes: free !== null && Number.isFinite(free) ? free : null }
}
