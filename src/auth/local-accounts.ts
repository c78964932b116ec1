import { createHash } from 'node:crypto'
import { permissionsOf, type Role } from '../config/index.ts'
import { type Caller, identityOf } from '../http/index.ts'
import { type Clock, KeyedHash, type RandomBytes } from '../platform/index.ts'
import { invalidCredentials, normaliseInstance, type Presented, twoNames } from './credentials.ts'
import { Recent } from './rates/recent.ts'
import type { Slowing } from './rates/slowing.ts'
import { checkSecret, nobodysHash } from './secret-hash.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

export type LocalAccount = {
  readonly username: string
  readonly role: Role
  readonly secretHash: string
  /** Absent for accounts of the config, which have none. */
  readonly groups?: readonly string[]
}

export type LocalSettings = {
  /** The gateway's own address: names the local accounts. */
  readonly siteUrl: string
  /** Time for which a right secret is trusted without hashing it again. */
  readonly freshForMs: number
}

const wrongForMs = 10 * 60 * 1000
const rememberedLimit = 10_000

/** A remembered check of a secret; its key is an HMAC under a key of this process. */
type Known = { readonly right: boolean; readonly secretHash: string; readonly untilMs: number }

type LocalAccountsNeeds = {
  readonly accounts: (username: string) => LocalAccount | undefined
  readonly settings: () => LocalSettings
  readonly clock: Pick<Clock, 'monotonic'>
  readonly slowing: Slowing
  readonly random: RandomBytes
}

/** Vouches for the accounts of the config and of the database. */
export class LocalAccounts implements CredentialVerifier {
  readonly #needs: LocalAccountsNeeds
  readonly #key: KeyedHash
  /** HMAC of each credential; the next request of a connection presents the same object. */
  readonly #ids = new WeakMap<Presented, string>()
  readonly #right = new Recent<Known>(rememberedLimit)
  readonly #wrong = new Recent<Known>(rememberedLimit)
  readonly #underWay = new Map<string, Promise<boolean>>()
  /** By the account: a reload and each change bring new ones. */
  readonly #vouched = new WeakMap<LocalAccount, Verified>()

  constructor(needs: LocalAccountsNeeds) {
    this.#needs = needs
    this.#key = new KeyedHash(needs.random(32))
  }

  vouchesFor(instance: string): boolean {
    return instance === normaliseInstance(this.#needs.settings().siteUrl)
  }

  verify(presented: Presented, instance: string, address: string): Verified | Promise<Verified> {
    const { basicUser, username } = presented
    if (basicUser !== undefined && basicUser !== username) return Promise.reject(twoNames(basicUser, username))
    const account = this.#needs.accounts(username)
    const isRight = account && this.#remembered(this.#idOf(presented), account.secretHash)
    return account && isRight ? this.#vouchFor(account, instance) : this.#check(presented, account, instance, address)
  }

  async #check(
    presented: Presented,
    account: LocalAccount | undefined,
    instance: string,
    address: string,
  ): Promise<Verified> {
    // An unknown name takes as long as a wrong secret, so that timing does not reveal which names exist.
    const right = await this.#isRight(presented, account?.secretHash ?? nobodysHash, instance, address)
    if (!account || !right) throw invalidCredentials()
    return this.#vouchFor(account, instance)
  }

  #vouchFor(account: LocalAccount, instance: string): Verified {
    const known = this.#vouched.get(account)
    if (known) return known
    const vouched = verified(account, instance, 'local')
    this.#vouched.set(account, vouched)
    return vouched
  }

  recall(username: string, instance: string): Verified | undefined {
    const account = this.vouchesFor(instance) ? this.#needs.accounts(username) : undefined
    return account && verified(account, instance, 'session')
  }

  knows(username: string): boolean {
    return this.#needs.accounts(username) !== undefined
  }

  async #isRight(presented: Presented, secretHash: string, instance: string, address: string): Promise<boolean> {
    const { username, secret } = presented
    const id = this.#idOf(presented)
    const known = this.#remembered(id, secretHash)
    if (known !== undefined) return known
    const identity = identityOf({ username, instance })
    const check = () =>
      this.#needs.slowing.check(address, identity, () => checkSecret(secret, secretHash, { address, identity }))
    const asked = this.#underWay.get(id) ?? check()
    this.#underWay.set(id, asked)
    try {
      const right = await asked
      if (!right) this.#needs.slowing.wrong(address, identity, secret)
      this.#remember(id, right, secretHash)
      return right
    } finally {
      this.#underWay.delete(id)
    }
  }

  #idOf(presented: Presented): string {
    const known = this.#ids.get(presented)
    if (known !== undefined) return known
    const id = this.#key.of('base64', `${presented.username}\0${presented.secret}`)
    this.#ids.set(presented, id)
    return id
  }

  /** Returns the result of the last check of the secret, while that is valid and the account has the same secret. */
  #remembered(id: string, secretHash: string): boolean | undefined {
    const known = this.#right.get(id) ?? this.#wrong.get(id)
    const isBelieved = known && known.secretHash === secretHash && known.untilMs > this.#needs.clock.monotonic()
    return isBelieved ? known.right : undefined
  }

  /** Remembers right and wrong secrets separately: guesses push out no right one. */
  #remember(id: string, right: boolean, secretHash: string): void {
    const untilMs = this.#needs.clock.monotonic() + (right ? this.#needs.settings().freshForMs : wrongForMs)
    this.#right.delete(id)
    this.#wrong.delete(id)
    ;(right ? this.#right : this.#wrong).set(id, { right, secretHash, untilMs })
  }
}

function verified(
  { username, role, secretHash, groups = [] }: LocalAccount,
  instance: string,
  authMode: string,
): Verified {
  const caller: Caller = { username, instance, role, groups, permissions: permissionsOf(role), authMode }
  return { caller, mark: createHash('sha256').update(secretHash).digest() }
}
