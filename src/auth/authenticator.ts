import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import type { Clock, RandomBytes } from '../world/index.ts'
import { normaliseInstance, type Presented } from './credentials.ts'
import { permissionsOf, type Role } from './roles.ts'
import { checkSecret, hashSecret } from './secret-hash.ts'

export type LocalAccount = { readonly username: string; readonly role: Role; readonly secretHash: string }

export type AuthSettings = {
  /** The gateway's own address: names the local accounts. */
  readonly siteUrl: string
  /** How long a right secret is believed without hashing it again. */
  readonly freshForMs: number
}

const wrongForMs = 10 * 60 * 1000
const rememberedLimit = 10_000

/** What is known of a secret: keyed by an HMAC under a key of this process, never by the secret. */
type Known = { readonly right: boolean; readonly secretHash: string; readonly untilMs: number }

/** Verifies callers against the local accounts. */
export class Authenticator {
  readonly #accounts: (username: string) => LocalAccount | undefined
  readonly #settings: () => AuthSettings
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #key: KeyObject
  readonly #known = new Map<string, Known>()
  readonly #underWay = new Map<string, Promise<boolean>>()
  readonly #decoyHash: Promise<string>

  constructor(options: {
    accounts: (username: string) => LocalAccount | undefined
    settings: () => AuthSettings
    clock: Pick<Clock, 'monotonic'>
    random: RandomBytes
  }) {
    this.#accounts = options.accounts
    this.#settings = options.settings
    this.#clock = options.clock
    this.#key = createSecretKey(options.random(32))
    this.#decoyHash = hashSecret(options.random(16).toString('hex'), options.random)
  }

  /**
   * Throws STORAGE_INSTANCE_NOT_ALLOWED or INVALID_CREDENTIALS.
   * @param address of who asks; each address waits for its own checks only
   */
  async verify(presented: Presented, address: string): Promise<Caller> {
    const instance = normaliseInstance(presented.instance)
    if (instance === undefined || instance !== normaliseInstance(this.#settings().siteUrl)) {
      throw new AppError('STORAGE_INSTANCE_NOT_ALLOWED', 'X-Storage-Instance is not an instance of this gateway')
    }
    const account = this.#accounts(presented.username)
    // An unknown name costs as much as a wrong secret, so that time tells nobody which names exist.
    const right = await this.#isRight(presented, account?.secretHash ?? (await this.#decoyHash), address)
    if (!account || !right) throw new AppError('INVALID_CREDENTIALS', 'User name or secret is wrong')
    return callerOf(account, instance, 'local')
  }

  /** Who a signed-in user is by now, and what the account's secret was last; undefined when there is no such account. */
  recall(username: string, instance: string): { caller: Caller; secretHash: string } | undefined {
    const account = instance === normaliseInstance(this.#settings().siteUrl) ? this.#accounts(username) : undefined
    return account && { caller: callerOf(account, instance, 'session'), secretHash: account.secretHash }
  }

  async #isRight(presented: Presented, secretHash: string, address: string): Promise<boolean> {
    const id = createHmac('sha256', this.#key).update(`${presented.username}\0${presented.secret}`).digest('base64')
    const known = this.#known.get(id)
    if (known && known.secretHash === secretHash && known.untilMs > this.#clock.monotonic()) return known.right
    const asked = this.#underWay.get(id) ?? checkSecret(presented.secret, secretHash, address)
    this.#underWay.set(id, asked)
    try {
      const right = await asked
      this.#remember(id, right, secretHash)
      return right
    } finally {
      this.#underWay.delete(id)
    }
  }

  #remember(id: string, right: boolean, secretHash: string): void {
    if (this.#known.size >= rememberedLimit) this.#known.delete(this.#known.keys().next().value ?? '')
    const untilMs = this.#clock.monotonic() + (right ? this.#settings().freshForMs : wrongForMs)
    this.#known.set(id, { right, secretHash, untilMs })
  }
}

function callerOf({ username, role }: LocalAccount, instance: string, authMode: string): Caller {
  return { username, instance, role, groups: [], permissions: permissionsOf(role), authMode }
}
