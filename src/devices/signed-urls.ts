import { permissionsOf, type Role } from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, Permission } from '../http/index.ts'
import { type Clock, isoTime, type SecretBox } from '../world/index.ts'

/** What an address without headers may stand for: what a browser shows in an element of its own. */
const signable = [
  /^\/api\/iot\/detection-events\/[^/?]+\/(clip|snapshot)$/,
  /^\/api\/iot\/cctv\/[^/?]+\/(live|snapshot)$/,
  /^\/api\/whms\/evidence\/photos\/[^/?]+$/,
  /^\/api\/whms\/(slots|assets)\/[^/?]+\/label$/,
]
const defaultSeconds = 300
const looksAlone: readonly Permission[] = ['whms:read', 'cameras:read']

type Claim = {
  readonly username: string
  readonly instance: string
  readonly role: string
  readonly groups: readonly string[]
  readonly authMode: string
  readonly warehouseIds?: readonly number[] | undefined
  readonly untilMs: number
}

/**
 * Addresses that stand for their maker for a while, for one thing to look at. Who made it is sealed inside, bound to the
 * path and the query, so nothing of it can be changed or read. At its use the maker is looked up again where that needs
 * no secret; of others (storage users, badges) it says what was true when it was made, and lasts five minutes at most.
 */
export class SignedUrls {
  readonly #box: SecretBox
  readonly #clock: Pick<Clock, 'now'>
  readonly #siteUrl: () => string
  readonly #recall: (username: string, instance: string) => { readonly caller: Caller } | undefined

  constructor(options: {
    box: SecretBox
    clock: Pick<Clock, 'now'>
    siteUrl: () => string
    recall: (username: string, instance: string) => { readonly caller: Caller } | undefined
  }) {
    this.#box = options.box
    this.#clock = options.clock
    this.#siteUrl = options.siteUrl
    this.#recall = options.recall
  }

  /** Throws VALIDATION_ERROR for what no signed address serves. */
  sign(path: string, seconds: number | undefined, caller: Caller): { url: string; expiresAt: string } {
    const url = URL.canParse(path, 'http://gate') && path.startsWith('/') ? new URL(path, 'http://gate') : undefined
    // As the door will see it: what the parser would change could mean another thing there.
    const asked = url && `${url.pathname}${url.search}`
    if (!url || asked !== path || url.searchParams.has('signed') || !signable.some((form) => form.test(url.pathname))) {
      throw AppError.field('path', 'expected the path of a clip, snapshot, photo, label or live view')
    }
    const most = this.#recalls(caller)
      ? (seconds ?? defaultSeconds)
      : Math.min(seconds ?? defaultSeconds, defaultSeconds)
    const untilMs = this.#clock.now() + most * 1000
    const { username, instance, role, groups, authMode, warehouseIds } = caller
    const claim: Claim = { username, instance, role, groups, authMode, warehouseIds, untilMs }
    const sealed = this.#box.seal(JSON.stringify(claim), contextOf(asked)).toString('base64url')
    return { url: `${asked}${url.search === '' ? '?' : '&'}signed=${sealed}`, expiresAt: isoTime(untilMs) }
  }

  /**
   * The caller that a request's address stands for; undefined when it is no signed one. Throws INVALID_CREDENTIALS when it
   * is none of ours, has run out, or its maker is nobody any more.
   */
  callerOf(method: string, requestUrl: string): Caller | undefined {
    const { pathname, search } = new URL(requestUrl)
    const at = search.search(/[?&]signed=/)
    if (at < 0 || (method !== 'GET' && method !== 'HEAD')) return undefined
    const claim = this.#open(search.slice(at + 8), `${pathname}${search.slice(0, at)}`)
    if (!claim || claim.untilMs <= this.#clock.now()) throw gone()
    const caller = this.#recall(claim.username, claim.instance)?.caller ?? this.#asItWas(claim)
    return {
      ...caller,
      permissions: new Set(looksAlone.filter((permission) => caller.permissions.has(permission))),
      authMode: 'signed-url',
    }
  }

  #open(token: string, address: string): Claim | undefined {
    try {
      return JSON.parse(this.#box.open(Buffer.from(token, 'base64url'), contextOf(address))) as Claim
    } catch {
      return undefined
    }
  }

  /** Of the site's own accounts and devices only the present counts: without one, nobody is left. */
  #asItWas({ untilMs: _, warehouseIds, ...claim }: Claim): Caller {
    if (claim.instance === this.#siteUrl() && !claim.authMode.startsWith('badge@')) throw gone()
    return { ...claim, permissions: permissionsOf(claim.role as Role), ...(warehouseIds && { warehouseIds }) }
  }

  #recalls(caller: Caller): boolean {
    return this.#recall(caller.username, caller.instance) !== undefined
  }
}

const contextOf = (address: string) => `signed url GET ${address}`

const gone = () => new AppError('INVALID_CREDENTIALS', 'This address is not valid, or no longer')
