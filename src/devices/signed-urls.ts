import type { Verified } from '../auth/index.ts'
import { type Permission, permissionsOf, type Role } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, SignIn } from '../http/index.ts'
import { type Clock, isoTime, type SecretBox } from '../platform/index.ts'

/**
 * Paths that can be signed: files that a browser loads in an element without headers, the story of one pallet, the receipt of one
 * unit.
 */
const signable = [
  /^\/api\/iot\/detection-events\/[^/?]+\/(clip|snapshot)$/,
  /^\/api\/iot\/cctv\/[^/?]+\/(live|snapshot|notice)$/,
  /^\/api\/iot\/redactions\/[^/?]+\/(clip|snapshot)$/,
  /^\/api\/iot\/exports\/[^/?]+\/file$/,
  /^\/api\/whms\/evidence\/photos\/[^/?]+$/,
  /^\/api\/whms\/(slots|assets)\/[^/?]+\/label$/,
  /^\/api\/whms\/assets\/[^/?]+\/story$/,
  /^\/api\/whms\/transport-units\/[^/?]+\/receipt$/,
]
/** Addresses that an outsider may keep: the receipt of one unit, its photos, and the proof that the log has only grown. */
const standing = [
  /^\/api\/whms\/transport-units\/[^/?]+\/receipt(\?format=zip)?$/,
  /^\/api\/whms\/evidence\/photos\/[0-9a-f]{64}$/,
  /^\/api\/log\/consistency$/,
]
/** Says whether an address of this path can carry a signature. */
export const takesSignature = (path: string): boolean => [...signable, ...standing].some((form) => form.test(path))

/** The reader chooses from and to of this one, so its query is not sealed. */
const withFreeQuery: ReadonlySet<string> = new Set(['/api/log/consistency'])
const defaultSeconds = 300
const looksAlone: readonly Permission[] = ['whms:read', 'cameras:read']

type Recall = (username: string, instance: string) => Verified | undefined

type Claim = {
  readonly username: string
  readonly instance: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly authMode: string
  readonly isDevice?: true | undefined
  readonly warehouseIds?: readonly number[] | undefined
  /** The session or shift that made the address; the address ends with it. */
  readonly signIn?: SignIn | undefined
  /** Mark of the account's secret when the address was made; it ends when the secret changes. */
  readonly mark?: string | undefined
  /** Handed to an outsider, like paper: it does not end with its maker. */
  readonly standing?: true
  readonly untilMs: number
}

type SignedUrlsNeeds = {
  readonly box: SecretBox
  readonly clock: Pick<Clock, 'now'>
  readonly recall: Recall
  readonly isLiveSession: (hash: string) => boolean
  /** Returns the person of a shift as now; undefined once it has ended. */
  readonly onShift: (hash: string) => Caller | undefined
  /** Returns a storage user by the groups that the server named last; undefined for an unknown one. */
  readonly remembered: (username: string, instance: string, isStale: boolean) => Verified | undefined
}

/**
 * Makes and reads signed addresses, which show one thing for a limited time with their maker's permissions. The maker is sealed
 * inside, bound to path and query. At its use the maker is looked up again, and has the rights of now. The address ends with the
 * session or shift that made it. A storage user cannot be looked up without a secret: the groups are those that the server named
 * last, for five minutes at most.
 */
export class SignedUrls {
  readonly #needs: SignedUrlsNeeds

  constructor(needs: SignedUrlsNeeds) {
    this.#needs = needs
  }

  /** Signs a path for `seconds`. Throws VALIDATION_ERROR for a path that cannot be signed. */
  sign(path: string, seconds: number | undefined, caller: Caller): { url: string; expiresAt: string } {
    const url = URL.canParse(path, 'http://gate') && path.startsWith('/') ? new URL(path, 'http://gate') : undefined
    // Only as the parser writes it: a path that the parser changes could later mean another thing.
    const asked = url && `${url.pathname}${url.search}`
    if (!url || asked !== path || url.searchParams.has('signed') || !signable.some((form) => form.test(url.pathname))) {
      throw AppError.field('path', 'expected the path of a clip, snapshot, photo, label, story, receipt or live view')
    }
    const recalled = this.#needs.recall(caller.username, caller.instance)
    const most = recalled ? (seconds ?? defaultSeconds) : Math.min(seconds ?? defaultSeconds, defaultSeconds)
    const untilMs = this.#needs.clock.now() + most * 1000
    const { authMode, signIn } = caller
    const mark = markOf(recalled ?? this.#remembered(caller))
    const claim: Claim = { ...makerOf(caller), authMode, signIn, mark, untilMs }
    return { url: this.#sealed(asked, claim), expiresAt: isoTime(untilMs) }
  }

  /**
   * Signs the address of a receipt, or a part of one, with the sight that its maker has now. It is handed to an outsider, so it
   * is valid until its time is over, whatever becomes of its maker. The caller of this must have checked that the maker sees
   * what is behind the path.
   */
  signStanding(path: string, seconds: number, caller: Caller): { url: string; expiresAt: string } {
    if (!standing.some((form) => form.test(path))) throw new Error(`${path} is no part of a receipt`)
    const untilMs = this.#needs.clock.now() + seconds * 1000
    const claim: Claim = { ...makerOf(caller), authMode: 'signed-url', standing: true, untilMs }
    return { url: this.#sealed(path, claim), expiresAt: isoTime(untilMs) }
  }

  /**
   * Returns the caller of a signed address; undefined for an unsigned one. Throws INVALID_CREDENTIALS when it is forged
   * or expired, or when its maker's account has ended.
   */
  callerOf(method: string, requestUrl: string): Caller | undefined {
    const { pathname, search } = new URL(requestUrl)
    const at = search.search(/[?&]signed=/)
    if (at < 0 || (method !== 'GET' && method !== 'HEAD')) return undefined
    const query = withFreeQuery.has(pathname) ? '' : search.slice(0, at)
    const claim = this.#open(search.slice(at + 8), `${pathname}${query}`)
    if (!claim || claim.untilMs <= this.#needs.clock.now()) throw gone()
    const caller = this.#callerNow(claim)
    return {
      ...caller,
      permissions: new Set(looksAlone.filter((permission) => caller.permissions.has(permission))),
      authMode: 'signed-url',
    }
  }

  #sealed(address: string, claim: Claim): string {
    const sealed = this.#needs.box.seal(JSON.stringify(claim), contextOf(address)).toString('base64url')
    return `${address}${address.includes('?') ? '&' : '?'}signed=${sealed}`
  }

  #open(token: string, address: string): Claim | undefined {
    try {
      return JSON.parse(this.#needs.box.open(Buffer.from(token, 'base64url'), contextOf(address))) as Claim
    } catch {
      return undefined
    }
  }

  #callerNow(claim: Claim): Caller {
    if (claim.standing) return withPermissions(claim)
    const { signIn, username, instance } = claim
    if (signIn?.kind === 'shift') {
      const onShift = this.#needs.onShift(signIn.hash)
      if (!onShift) throw gone()
      return onShift
    }
    if (signIn && !this.#needs.isLiveSession(signIn.hash)) throw gone()
    const now = this.#needs.recall(username, instance) ?? this.#remembered(claim)
    if (!now || markOf(now) !== claim.mark) throw gone()
    return now.caller
  }

  #remembered({ username, instance, authMode }: Pick<Caller, 'username' | 'instance' | 'authMode'>) {
    return this.#needs.remembered(username, instance, authMode === 'offline-cache')
  }
}

function makerOf({ username, instance, role, groups, isDevice, warehouseIds }: Caller) {
  return { username, instance, role, groups, isDevice, warehouseIds }
}

function withPermissions({ username, instance, role, groups, authMode, isDevice, warehouseIds }: Claim): Caller {
  const permissions = permissionsOf(role)
  const claim = { username, instance, role, groups, authMode }
  return { ...claim, permissions, ...(isDevice && { isDevice }), ...(warehouseIds && { warehouseIds }) }
}

const markOf = (verified: Verified | undefined) => verified?.mark?.toString('base64')

const contextOf = (address: string) => `signed url GET ${address}`

const gone = () => new AppError('INVALID_CREDENTIALS', 'This address is invalid or has expired')
