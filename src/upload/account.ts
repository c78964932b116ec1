import type { Clock } from '../platform/index.ts'
import { Dav } from './dav.ts'
import { type Account, authorizationOf, filesUrl, probe } from './probe.ts'
import { Throttle } from './throttle.ts'

/** What signing in to a storage server gave. */
export type AccountLook = {
  /** Why files cannot be put there; null: they can. */
  readonly problem: string | null
  /** Whether the server refused the password itself. */
  readonly isRefused: boolean
  /** Room that is left for the account; null: the server does not say, or there is no limit. */
  readonly freeBytes: number | null
}

/** RFC 4331. Negative at a Nextcloud: not computed yet, not known, or without limit. */
const quotaBody = '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>'
const quota = /<[\w-]*:?quota-available-bytes[^>]*>\s*(-?\d+)\s*</

/** Signs in to a storage server as uploads do, and asks how much room the account has. Uploads nothing; never rejects. */
export async function lookAtAccount(
  account: Account,
  { clock, version }: { readonly clock: Clock; readonly version: string },
): Promise<AccountLook> {
  const signal = new AbortController().signal
  const dav = new Dav({ clock, throttle: new Throttle({ clock, limit: () => null }), version, signal })
  const found = await probe(dav, account)
  if (found.kind !== 'up') return { problem: found.error, isRefused: found.kind === 'refused', freeBytes: null }
  const reply = await dav.send(account.instance, authorizationOf(found.scheme, account), {
    method: 'PROPFIND',
    url: `${filesUrl(found.flavor, account)}/`,
    headers: { depth: '0', 'content-type': 'application/xml' },
    body: { sizeBytes: quotaBody.length, open: () => [Buffer.from(quotaBody)] },
  })
  const [, said] = (reply.kind === 'answer' && quota.exec(reply.body)) || []
  const bytes = said === undefined ? null : Number(said)
  return { problem: null, isRefused: false, freeBytes: bytes !== null && bytes >= 0 ? bytes : null }
}
