import type { StorageInstance } from '../auth/index.ts'
import type { Dav } from './dav.ts'
import type { Probed, Scheme } from './line.ts'
import { inUrl } from './paths.ts'
import type { Reply } from './verdict.ts'

/** The account that uploads. */
export type Account = { readonly instance: StorageInstance; readonly username: string; readonly password: string }

const schemes = ['bearer', 'basic'] as const

export function authorizationOf(
  scheme: Scheme,
  { username, password }: Pick<Account, 'username' | 'password'>,
): string {
  return scheme === 'bearer'
    ? `Bearer ${password}`
    : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** The folder of the account's files: at a Nextcloud by its name, elsewhere the address of the server as it is. */
export const filesUrl = (flavor: 'nextcloud' | 'webdav', { instance, username }: Account): string =>
  flavor === 'nextcloud' ? `${instance.url}/remote.php/dav/files/${inUrl(username)}` : instance.url

/**
 * Asks the server who it is: a Nextcloud or another WebDAV server, and whether it takes the password as bearer token or by
 * Basic. Bearer first: during a lock-out a Nextcloud answers Basic with 429, also with the right password.
 */
export async function probe(dav: Dav, account: Account): Promise<Probed> {
  for (const scheme of schemes) {
    const said = await ask(dav, account, scheme)
    if (said !== 'unauthorized') return said
  }
  return { kind: 'refused', error: 'HTTP 401: the storage server does not know the user or the password' }
}

async function ask(dav: Dav, account: Account, scheme: Scheme): Promise<Probed | 'unauthorized'> {
  const authorization = authorizationOf(scheme, account)
  for (const flavor of ['nextcloud', 'webdav'] as const) {
    const url = `${filesUrl(flavor, account)}/`
    const reply = await dav.send(account.instance, authorization, { method: 'PROPFIND', url, headers: { depth: '0' } })
    if (reply.kind === 'answer' && reply.status === 207) return { kind: 'up', flavor, scheme }
    if (reply.kind === 'answer' && reply.status === 401) return 'unauthorized'
    const isLast = flavor === 'webdav'
    if (isLast || !isElsewhere(reply)) return pauseOf(reply)
  }
  return 'unauthorized'
}

/** Says whether a server without the paths of a Nextcloud would answer so. */
const isElsewhere = (reply: Reply): boolean =>
  reply.kind === 'answer' &&
  ((reply.status >= 300 && reply.status < 500 && reply.status !== 429) || reply.status === 200)

function pauseOf(reply: Reply): Probed {
  if (reply.kind === 'none') return { kind: 'pause', error: reply.error, afterMs: null }
  const error =
    reply.status >= 500 || reply.status === 429
      ? `HTTP ${reply.status}`
      : `HTTP ${reply.status}: no WebDAV server answers at this address`
  return { kind: 'pause', error, afterMs: reply.retryAfterMs }
}
