import { StorageClient, type StorageInstance } from '../../auth/index.ts'
import type { Clock } from '../../platform/index.ts'
import { type Flavor, flavors, type Probed, type Refusal, type Scheme } from '../line.ts'
import type { UploadRow } from '../tables.ts'
import { disabled, isOfDisabled, type Reply } from '../verdict.ts'
import type { Dav } from './dav.ts'
import { inUrl } from './paths.ts'

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
export const filesUrl = (flavor: Flavor, { instance, username }: Omit<Account, 'password'>): string =>
  flavor === 'nextcloud' ? `${instance.url}/remote.php/dav/files/${inUrl(username)}` : instance.url

/** Whether a copy is in the files of this account, whatever kind of server it is. */
export const isOfAccount = (
  { url, root, path }: Pick<UploadRow, 'url' | 'root' | 'path'>,
  account: Omit<Account, 'password'>,
): boolean => flavors.some((flavor) => url === `${filesUrl(flavor, account)}${inUrl(`${root}/${path}`)}`)

/**
 * Asks the server who it is: a Nextcloud or another WebDAV server, and whether it takes the password as bearer token or by
 * Basic. Bearer first: during a lock-out a Nextcloud answers Basic with 429, also with the right password.
 */
export async function probe(needs: ProbeNeeds, account: Account): Promise<Probed> {
  for (const scheme of schemes) {
    const answer = await ask(needs, account, scheme)
    if (answer !== 'unauthorized') return answer
  }
  const error = 'HTTP 401: the storage server does not know the user or the password'
  return { kind: 'refused', error, remedy: newPassword, isPassword: true }
}

export type ProbeNeeds = { readonly dav: Dav; readonly clock: Pick<Clock, 'after'>; readonly version: string }

export const newPassword =
  'Make a new application password, put it into the file of storage.upload.passwordFile, and reload.'

async function ask(needs: ProbeNeeds, account: Account, scheme: Scheme): Promise<Probed | 'unauthorized'> {
  const { dav } = needs
  const authorization = authorizationOf(scheme, account)
  for (const flavor of flavors) {
    const url = `${filesUrl(flavor, account)}/`
    const reply = await dav.send(account.instance, authorization, { method: 'PROPFIND', url, headers: { depth: '0' } })
    if (reply.kind === 'answer' && reply.status === 207) {
      const refusal = flavor === 'nextcloud' ? await refusalOfOwner(needs, account, authorization) : undefined
      return refusal ?? { kind: 'up', flavor, scheme }
    }
    if (reply.kind === 'answer' && reply.status === 401) return 'unauthorized'
    if (isOfDisabled(reply)) return disabled
    const isLast = flavor === 'webdav'
    if (isLast || !isElsewhere(reply)) {
      return (isLast && (await refusalOfOwner(needs, account, authorization))) || pauseOf(reply)
    }
  }
  return 'unauthorized'
}

/**
 * Asks a Nextcloud whose the credential is. It lets each account see that the folder of another one is there, so only this tells
 * a wrong user name. Returns undefined where it is the account's own, or no Nextcloud answers.
 */
async function refusalOfOwner(
  { clock, version }: ProbeNeeds,
  { instance, username }: Account,
  authorization: string,
): Promise<Refusal | undefined> {
  const client = new StorageClient({ clock, instances: () => [instance], version })
  const answer = await client.ask(instance.url, authorization)
  if (answer.kind !== 'verified') return undefined
  const names = [answer.username, answer.email ?? '']
  if (names.some((name) => name.toLowerCase() === username.toLowerCase())) return undefined
  return {
    ...{ kind: 'refused', isPassword: false },
    error: `the application password belongs to "${answer.username}", and storage.upload.username is "${username}"`,
    remedy: `Correct storage.upload.username, or put an application password of "${username}" into the file of storage.upload.passwordFile. Then reload.`,
  }
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
