import type { AppError } from '../../errors/index.ts'
import { FairTurns } from '../../flow/index.ts'
import { identityOf } from '../../http/index.ts'
import { type Clock, KeyedHash, type Logger, networkOf } from '../../platform/index.ts'
import { roleOfGroups } from '../config-names.ts'
import { invalidCredentials, type Presented, userMismatch } from '../credentials.ts'
import type { CallerMemory } from '../known-callers.ts'
import type { Standing } from '../rates/basic-budget.ts'
import type { TryMemory } from '../rates/basic-tries.ts'
import { Recent } from '../rates/recent.ts'
import type { Slowing } from '../rates/slowing.ts'
import { tooManySignIns } from '../secret-hash.ts'
import type { CredentialVerifier, Verified } from '../verifier.ts'
import { afterAnswer, beforeAsking, type Known, wrongForMs } from './belief.ts'
import type { StorageClient } from './client.ts'
import { type GateAnswer, type ServerWellness, StorageGate, type Trouble } from './gate.ts'
import {
  type Belief,
  type Credential,
  callerOf,
  idOf,
  isNameOf,
  mismatchKey,
  notVouchedFor,
  type StorageSettings,
  tooMany,
  type Vouched,
} from './vouching.ts'

/** State of the storage servers; `down` and `slow` count those with over a minute of it. */
export type StorageStatus = {
  /** Servers that are not asked now because they fail. */
  readonly open: number
  readonly down: number
  readonly slow: number
  /** Trouble of each server; `sinceMs` is monotonic. */
  readonly troubles: readonly (Trouble & { readonly instance: string })[]
}

/** Basis of a decision about a credential, for the metrics. */
export type VerificationOutcome = 'fresh' | 'remembered_wrong' | 'verified' | 'wrong' | 'stale' | 'unknown'
type UnderWay = { readonly belief: Promise<Belief>; readonly sinceMs: number }

const remembered = 10_000
const lookEveryMs = 30_000
const idleMs = 60_000
/** The longest time that a known caller waits for the server. */
const patienceMs = 500

type StorageUsersNeeds = {
  readonly settings: () => StorageSettings
  readonly client: StorageClient
  readonly callers: CallerMemory
  readonly tries: TryMemory
  readonly slowing: Slowing
  readonly clock: Clock
  readonly log: Logger
  /** 32 bytes, one key for each box; it lets credentials be remembered through restarts. */
  readonly key: Uint8Array
  readonly onOutcome: (outcome: VerificationOutcome) => void
}

/** Vouches for the users of the configured storage servers: asks them, and remembers their answers. */
export class StorageUsers implements CredentialVerifier {
  readonly #needs: StorageUsersNeeds
  readonly #key: KeyedHash
  /** The next request of a connection presents the same object. */
  readonly #credentials = new WeakMap<Presented, Credential>()
  /** By the groups that the server named last. */
  readonly #vouched = new WeakMap<readonly string[], Vouched>()
  readonly #gates = new Map<string, StorageGate>()
  readonly #known = new Recent<Known>(remembered)
  /** Until when a credential counts as wrong. Separate from the known ones, so that guesses push out none of them. */
  readonly #wrong = new Recent<number>(remembered)
  /** The user of a right secret that was sent with another user's name, and until when that is remembered. */
  readonly #mismatched = new Recent<{ readonly username: string; readonly untilMs: number }>(remembered)
  readonly #underWay = new Map<string, UnderWay>()
  /** Credentials of each user that the server refused after it had accepted them. */
  readonly #ended = new Recent<number>(remembered)
  /** Credentials that were right before have separate turns, which guesses cannot use up. */
  readonly #turnsOfKnown = new FairTurns({ atOnce: 8, waitingOfLane: 32, waiting: 1024 }, tooManySignIns)
  readonly #turnsOfStrangers = new FairTurns({ atOnce: 4, waitingOfLane: 32, waiting: 256 }, tooManySignIns)
  #stopLooking: (() => void) | undefined

  constructor(needs: StorageUsersNeeds) {
    this.#needs = needs
    this.#key = new KeyedHash(needs.key)
  }

  vouchesFor(instance: string): boolean {
    return this.#needs.settings().instances.includes(instance)
  }

  verify(presented: Presented, instance: string, address: string): Verified | Promise<Verified> {
    try {
      const believed = this.#believe(this.#credentialOf(presented, instance), address)
      if (!(believed instanceof Promise)) return this.#vouchFor(believed, instance)
      return believed.then((belief) => this.#vouchFor(belief, instance))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Returns undefined: a storage user cannot be looked up without the secret. */
  recall(): undefined {
    return undefined
  }

  /**
   * Returns the user by the groups that the server named last, for what a verified user has handed out; undefined for an unknown
   * one. The mark changes when the server refuses a credential of the user.
   */
  remembered(username: string, instance: string, isStale: boolean): Verified | undefined {
    const groups = this.vouchesFor(instance) ? this.#needs.callers.groupsOf(instance, username) : undefined
    if (!groups) return undefined
    const mark = Buffer.from(`${this.#ended.get(identityOf({ username, instance })) ?? 0}`)
    return { caller: callerOf({ username, isStale }, instance, groups, this.#needs.settings()), mark }
  }

  knows(username: string, instance: string): boolean {
    return this.#needs.callers.groupsOf(instance, username) !== undefined
  }

  /** Returns the state of the servers, for health and metrics. */
  status(): StorageStatus {
    const gates = this.#needs.settings().instances.map((instance) => ({ instance, gate: this.#gates.get(instance) }))
    const troubles = gates.flatMap(({ instance, gate }) => (gate?.trouble ? [{ ...gate.trouble, instance }] : []))
    const count = (kind: Trouble['kind']) => troubles.filter((trouble) => trouble.kind === kind).length
    return { open: gates.filter(({ gate }) => gate?.isOpen).length, down: count('down'), slow: count('slow'), troubles }
  }

  /** Returns the state of each configured server, for health. One that was not asked yet is well. */
  wellness(): ServerWellness[] {
    return this.#needs.settings().instances.map((url) => this.#gateOf(url).wellness)
  }

  /** Tests the servers regularly, so that an outage is known before a caller meets it. */
  start(): void {
    const look = () => {
      for (const url of this.#needs.settings().instances) void this.#gateOf(url).look(idleMs)
      this.#stopLooking = this.#needs.clock.after(lookEveryMs, look)
    }
    this.#stopLooking ??= this.#needs.clock.after(0, look)
  }

  stop(): void {
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  #credentialOf(presented: Presented, instance: string): Credential {
    const known = this.#credentials.get(presented)
    if (known) return known
    const { username, secret } = presented
    const login = presented.basicUser ?? username
    const said = JSON.stringify([instance, login, secret, ...(username === login ? [] : [username])])
    const key = this.#key.of('base64', said)
    const credential = { key, mismatchKey: mismatchKey(key, presented), presented, login, instance }
    this.#credentials.set(presented, credential)
    return credential
  }

  /** Decides on a credential; synchronously when the answer is remembered. */
  #believe(credential: Credential, address: string): Belief | Promise<Belief> {
    const { key } = credential
    const nowMs = this.#needs.clock.monotonic()
    const mismatch = this.#mismatched.get(credential.mismatchKey)
    if (mismatch && nowMs < mismatch.untilMs) {
      this.#needs.onOutcome('remembered_wrong')
      throw this.#mismatch(credential, mismatch.username)
    }
    const wrongUntilMs = this.#wrong.get(key)
    // A remembered guess is not looked up in the database either.
    const known = this.#known.get(key) ?? (wrongUntilMs === undefined ? this.#stored(credential) : undefined)
    const verdict = beforeAsking(known, wrongUntilMs, nowMs, this.#needs.settings())
    if (verdict === 'believe' && known) {
      this.#needs.onOutcome('fresh')
      return { username: known.username, isStale: false }
    }
    if (verdict === 'refuse') {
      this.#needs.onOutcome('remembered_wrong')
      throw invalidCredentials()
    }
    const underWay = this.#underWay.get(key) ?? this.#askBeside(credential, known, address)
    return known ? this.#soon(underWay, known) : underWay.belief
  }

  /** Asks in the background; simultaneous requests with one credential share the question. */
  #askBeside(credential: Credential, known: Known | undefined, address: string): UnderWay {
    const { key } = credential
    const belief = this.#conclude(credential, known, address).finally(() => this.#underWay.delete(key))
    // The request may have continued with the stale answer, so a rejection here may have no listener.
    belief.catch(() => {})
    const underWay = { belief, sinceMs: this.#needs.clock.monotonic() }
    this.#underWay.set(key, underWay)
    return underWay
  }

  /** Resolves with the server's answer, or after half a second with the last one; the request continues in the background. */
  #soon({ belief, sinceMs }: UnderWay, known: Known): Promise<Belief> {
    const nowMs = this.#needs.clock.monotonic()
    if (nowMs - known.verifiedMs > this.#needs.settings().staleForMs) return belief
    const stale = (): Belief => {
      this.#needs.onOutcome('stale')
      return { username: known.username, isStale: true }
    }
    const leftMs = sinceMs + patienceMs - nowMs
    if (leftMs <= 0) return Promise.resolve(stale())
    return new Promise((resolve, reject) => {
      const cancel = this.#needs.clock.after(leftMs, () => resolve(stale()))
      belief.then(resolve, reject).finally(cancel)
    })
  }

  /** Returns what an earlier process stored, as stale: the server is asked again first. */
  #stored({ key }: Credential): Known | undefined {
    const stored = this.#needs.callers.find(idOf(key))
    if (!stored) return undefined
    const { username, asBearer, ageMs } = stored
    return {
      username,
      asBearer,
      verifiedMs: this.#needs.clock.monotonic() - Math.max(ageMs, this.#needs.settings().freshForMs),
    }
  }

  async #conclude(credential: Credential, known: Known | undefined, address: string): Promise<Belief> {
    const startedMs = this.#needs.clock.monotonic()
    const answer = await this.#ask(credential, known, address)
    const conclusion = afterAnswer(known, answer.kind, this.#needs.clock.monotonic(), this.#needs.settings())
    this.#needs.onOutcome(conclusion === 'fresh' ? 'verified' : conclusion)
    if (answer.kind === 'verified') {
      if (!isNameOf(credential, answer)) throw this.#belongsToAnother(credential, known, answer.username)
      return this.#remember(credential, answer, startedMs)
    }
    if (answer.kind === 'wrong') throw this.#forget(credential, known, address)
    if (conclusion === 'stale' && known) return { username: known.username, isStale: true }
    throw notVouchedFor(answer)
  }

  async #ask(
    { presented, login, instance }: Credential,
    known: Known | undefined,
    address: string,
  ): Promise<GateAnswer> {
    const gate = this.#gateOf(instance)
    if (gate.closedForMs > 0) {
      const why = 'not asked: it has not answered lately'
      const retryAfterMs = gate.closedForMs
      return {
        kind: 'unclear',
        why,
        isLockOut: false,
        retryAfterMs,
        mayCount: false,
        asBearer: true,
        knowsLogin: false,
      }
    }
    const question = {
      login,
      secret: presented.secret,
      address,
      standing: this.#standingOf(login, instance, known),
      wasBearer: known?.asBearer === true,
      wasOf: known?.username,
      hasLogin: presented.basicUser !== undefined || presented.isTyped === true,
    }
    if (known) {
      const lane = `${known.username}@${instance}`
      return this.#turnsOfKnown.run(lane, () => gate.verify(question)).catch(tooMany)
    }
    return this.#needs.slowing.check(address, `${login}@${instance}`, () =>
      this.#turnsOfStrangers.run(networkOf(address), () => gate.verify(question), login),
    )
  }

  #standingOf(login: string, instance: string, known: Known | undefined): Standing {
    if (known) return 'right-before'
    return this.knows(login, instance) ? 'known-name' : 'stranger'
  }

  #remember(
    { key, instance }: Credential,
    { username, groups, asBearer }: GateAnswer & { kind: 'verified' },
    verifiedMs: number,
  ): Belief {
    this.#known.set(key, { username, verifiedMs, asBearer })
    this.#wrong.delete(key)
    this.#needs.callers.verified({
      id: idOf(key),
      instance,
      username,
      asBearer,
      groups,
      role: roleOfGroups(groups, instance, this.#needs.settings()),
    })
    return { username, isStale: false }
  }

  #forget({ key, presented, login, instance }: Credential, known: Known | undefined, address: string): AppError {
    this.#known.delete(key)
    this.#wrong.set(key, this.#needs.clock.monotonic() + wrongForMs)
    if (known) this.#end(key, known.username, instance)
    else this.#needs.slowing.wrong(address, `${login}@${instance}`, presented.secret)
    return invalidCredentials()
  }

  /** Makes the error for a right secret with another user's name, and remembers it. */
  #belongsToAnother(credential: Credential, known: Known | undefined, username: string): AppError {
    this.#known.delete(credential.key)
    if (known) this.#end(credential.key, known.username, credential.instance)
    const untilMs = this.#needs.clock.monotonic() + wrongForMs
    this.#mismatched.set(credential.mismatchKey, { username, untilMs })
    return this.#mismatch(credential, username)
  }

  #end(key: string, username: string, instance: string): void {
    const user = identityOf({ username, instance })
    this.#ended.set(user, (this.#ended.get(user) ?? 0) + 1)
    this.#needs.callers.ended(idOf(key))
  }

  #mismatch({ presented, instance }: Credential, username: string): AppError {
    return userMismatch(
      `${instance} says that this secret is the one of ${JSON.stringify(username)}, not of ` +
        `${JSON.stringify(presented.username)}: send X-Storage-Username: ${username}`,
    )
  }

  #gateOf(url: string): StorageGate {
    const known = this.#gates.get(url)
    if (known) return known
    const gate = new StorageGate({
      url,
      client: this.#needs.client,
      clock: this.#needs.clock,
      record: this.#needs.tries.of(url),
      onChange: (_, now) => {
        if (!now) this.#needs.log.info({ instance: url }, 'the storage server answers as it should again')
        else if (now.kind === 'slow')
          this.#needs.log.warn({ instance: url, why: now.why }, 'the storage server is slow')
        else this.#needs.log.warn({ instance: url, why: now.why }, 'the storage server does not answer')
      },
    })
    this.#gates.set(url, gate)
    return gate
  }

  /** Vouches for the user with the groups that the server last named. The same again is the same object. */
  #vouchFor(belief: Belief, instance: string): Verified {
    const groups = this.#needs.callers.groupsOf(instance, belief.username) ?? []
    const settings = this.#needs.settings()
    const known = this.#vouched.get(groups)
    const caller = known?.verified.caller
    const isOfUser = caller?.username === belief.username && caller.instance === instance
    if (known && isOfUser && known.settings === settings && known.isStale === belief.isStale) return known.verified
    const verified = { caller: callerOf(belief, instance, groups, settings) }
    this.#vouched.set(groups, { settings, isStale: belief.isStale, verified })
    return verified
  }
}
