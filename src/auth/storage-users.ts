import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import type { Clock, Logger } from '../world/index.ts'
import { afterAnswer, beforeAsking, type Known, wrongForMs } from './belief.ts'
import { invalidCredentials, type Presented, sameButForCase, userMismatch } from './credentials.ts'
import type { KnownCallers } from './known-callers.ts'
import { networkOf } from './network-of.ts'
import { Recent } from './recent.ts'
import { permissionsOf, type Role, roleOfGroups } from './roles.ts'
import type { ServerWellness } from './server-wellness.ts'
import type { Slowing } from './slowing.ts'
import type { StorageClient } from './storage-client.ts'
import { type Asked, StorageGate } from './storage-gate.ts'
import { Turns } from './turns.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

export type StorageSettings = {
  /** As the config names them; nothing else is ever asked. */
  readonly instances: readonly string[]
  readonly freshForMs: number
  readonly staleForMs: number
  readonly groupRoles: Readonly<Record<string, Role>>
  readonly defaultRole: Role
}

/** How a credential was decided upon: for the metrics. */
export type VerificationOutcome = 'fresh' | 'remembered_wrong' | 'verified' | 'wrong' | 'stale' | 'unknown'

type Credential = {
  /** HMAC of it, base64. */
  readonly key: string
  readonly presented: Presented
  readonly instance: string
}
type Belief = { readonly username: string; readonly isStale: boolean }

const remembered = 10_000
const lookEveryMs = 30_000
const idleMs = 60_000

/** Vouches for the users of the company's file storage servers: asks there, and remembers what they said. */
export class StorageUsers implements CredentialVerifier {
  readonly #settings: () => StorageSettings
  readonly #client: StorageClient
  readonly #callers: KnownCallers
  readonly #slowing: Slowing
  readonly #clock: Clock
  readonly #log: Logger
  readonly #key: KeyObject
  readonly #onOutcome: (outcome: VerificationOutcome) => void
  readonly #gates = new Map<string, StorageGate>()
  readonly #known = new Recent<Known>(remembered)
  /** Until when it is taken for wrong, by credential. Apart from the known ones: guesses make nobody be forgotten. */
  readonly #wrong = new Recent<number>(remembered)
  readonly #underWay = new Map<string, Promise<Belief>>()
  /** Whoever was right before has turns of his own: guesses take none of them. */
  readonly #turnsOfKnown = new Turns({ atOnce: 8, waitingOfLane: 32, waiting: 1024 })
  readonly #turnsOfStrangers = new Turns({ atOnce: 4, waitingOfLane: 32, waiting: 256 })
  #stopLooking: (() => void) | undefined

  /** @param options.key of this box, 32 bytes; under it credentials are remembered through restarts */
  constructor(options: {
    settings: () => StorageSettings
    client: StorageClient
    callers: KnownCallers
    slowing: Slowing
    clock: Clock
    log: Logger
    key: Uint8Array
    onOutcome: (outcome: VerificationOutcome) => void
  }) {
    this.#settings = options.settings
    this.#client = options.client
    this.#callers = options.callers
    this.#slowing = options.slowing
    this.#clock = options.clock
    this.#log = options.log
    this.#key = createSecretKey(options.key)
    this.#onOutcome = options.onOutcome
  }

  vouchesFor(instance: string): boolean {
    return this.#settings().instances.includes(instance)
  }

  async verify(presented: Presented, instance: string, address: string): Promise<Verified> {
    const login = presented.basicUser ?? presented.username
    const said = JSON.stringify([instance, login, presented.secret])
    const key = createHmac('sha256', this.#key).update(said).digest('base64')
    const believed = this.#believe({ key, presented, instance }, address)
    const belief = believed instanceof Promise ? await believed : believed
    const { username, isTyped } = presented
    if (isTyped ? !sameButForCase(username, belief.username) : username !== belief.username) {
      throw userMismatch('the storage server names the user of this credential otherwise; mind capital letters')
    }
    return { caller: this.#callerOf(belief, instance) }
  }

  /** Nobody here holds their secrets. */
  recall(): undefined {
    return undefined
  }

  knows(username: string, instance: string): boolean {
    return this.#callers.groupsOf(instance, username) !== undefined
  }

  /** For health and metrics: servers that are not asked because they fail, and those that have failed for long. */
  status(): { readonly open: number; readonly down: number } {
    const gates = this.#settings().instances.flatMap((url) => this.#gates.get(url) ?? [])
    return { open: gates.filter((gate) => gate.isOpen).length, down: gates.filter((gate) => gate.isDown).length }
  }

  /** For health: how each configured server is. One that nobody has asked yet is well. */
  wellness(): ServerWellness[] {
    return this.#settings().instances.map((url) => this.#gateOf(url).wellness)
  }

  /** Looks now and then whether the servers are there, so that an outage is known before somebody meets it. */
  start(): void {
    const look = () => {
      for (const url of this.#settings().instances) void this.#gateOf(url).look(idleMs)
      this.#stopLooking = this.#clock.after(lookEveryMs, look)
    }
    this.#stopLooking ??= this.#clock.after(0, look)
  }

  stop(): void {
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  /** At once when it is known. */
  #believe(credential: Credential, address: string): Belief | Promise<Belief> {
    const nowMs = this.#clock.monotonic()
    const wrongUntilMs = this.#wrong.get(credential.key)
    // A guess that is remembered asks nobody, not the database either.
    const known = this.#known.get(credential.key) ?? (wrongUntilMs === undefined ? this.#stored(credential) : undefined)
    const verdict = beforeAsking(known, wrongUntilMs, nowMs, this.#settings())
    if (verdict === 'believe' && known) {
      this.#onOutcome('fresh')
      return { username: known.username, isStale: false }
    }
    if (verdict === 'refuse') {
      this.#onOutcome('remembered_wrong')
      throw invalidCredentials()
    }
    // Many requests of one device at once are one question.
    const underWay = this.#underWay.get(credential.key)
    if (underWay) return underWay
    const asked = this.#conclude(credential, known, address).finally(() => this.#underWay.delete(credential.key))
    this.#underWay.set(credential.key, asked)
    return asked
  }

  /** What an earlier process was told serves only while the server can't be reached: at first it is asked again. */
  #stored({ key }: Credential): Known | undefined {
    const stored = this.#callers.find(idOf(key))
    if (!stored) return undefined
    const { username, asBearer, ageMs } = stored
    return { username, asBearer, verifiedMs: this.#clock.monotonic() - Math.max(ageMs, this.#settings().freshForMs) }
  }

  async #conclude(credential: Credential, known: Known | undefined, address: string): Promise<Belief> {
    const startedMs = this.#clock.monotonic()
    const answer = await this.#ask(credential, known, address)
    const conclusion = afterAnswer(known, answer.kind, this.#clock.monotonic(), this.#settings())
    this.#onOutcome(conclusion === 'fresh' ? 'verified' : conclusion)
    if (answer.kind === 'verified') return this.#remember(credential, answer, startedMs)
    if (answer.kind === 'wrong') throw this.#forget(credential, known, address)
    if (conclusion === 'stale' && known) return { username: known.username, isStale: true }
    throw notTold(answer)
  }

  async #ask(credential: Credential, known: Known | undefined, address: string): Promise<Asked> {
    const { presented, instance } = credential
    const gate = this.#gateOf(instance)
    if (gate.closedForMs > 0) {
      const why = 'not asked: it has not answered lately'
      return { kind: 'unclear', why, isLockOut: false, retryAfterMs: gate.closedForMs, asBearer: true }
    }
    const login = presented.basicUser ?? presented.username
    const question = {
      login,
      secret: presented.secret,
      address,
      wasRight: known !== undefined,
      wasBearer: known?.asBearer === true,
    }
    if (known) return this.#turnsOfKnown.run(known.username, () => gate.verify(question))
    return this.#slowing.check(address, login, () =>
      this.#turnsOfStrangers.run(networkOf(address), () => gate.verify(question)),
    )
  }

  #remember(
    { key, instance }: Credential,
    { username, groups, asBearer }: Asked & { kind: 'verified' },
    verifiedMs: number,
  ): Belief {
    this.#known.set(key, { username, verifiedMs, asBearer })
    this.#wrong.delete(key)
    this.#callers.verified({
      id: idOf(key),
      instance,
      username,
      asBearer,
      groups,
      role: roleOfGroups(groups, this.#settings()),
    })
    return { username, isStale: false }
  }

  #forget({ key, presented }: Credential, known: Known | undefined, address: string): AppError {
    this.#known.delete(key)
    this.#wrong.set(key, this.#clock.monotonic() + wrongForMs)
    if (known) this.#callers.ended(idOf(key))
    else this.#slowing.wrong(address, presented.basicUser ?? presented.username, presented.secret)
    return invalidCredentials()
  }

  #gateOf(url: string): StorageGate {
    const known = this.#gates.get(url)
    if (known) return known
    const gate = new StorageGate({
      url,
      client: this.#client,
      clock: this.#clock,
      onTrouble: (why) => this.#log.warn({ instance: url, why }, 'the storage server does not answer'),
    })
    this.#gates.set(url, gate)
    return gate
  }

  /** Role and groups as the server last said; what only an admin may do needs an answer that is fresh. */
  #callerOf({ username, isStale }: Belief, instance: string): Caller {
    const groups = this.#callers.groupsOf(instance, username) ?? []
    const role = roleOfGroups(groups, this.#settings())
    const named = { username, instance, groups }
    if (!isStale) return { ...named, role, permissions: permissionsOf(role), authMode: 'storage' }
    const lowered = role === 'admin' ? 'supervisor' : role
    return {
      ...named,
      role: lowered,
      permissions: permissionsOf(lowered),
      authMode: 'offline-cache',
      ...(lowered !== role && { withheld: 'what only an admin may do waits until the storage server can be reached' }),
    }
  }
}

const idOf = (key: string): Buffer => Buffer.from(key, 'base64')

function notTold(answer: Asked): AppError {
  const retryAfterMs = answer.kind === 'unclear' ? answer.retryAfterMs : undefined
  const retryAfterSeconds = Math.max(1, Math.ceil((retryAfterMs ?? 5000) / 1000))
  if (answer.isOwnFault) {
    return new AppError('RATE_LIMITED', 'Too many wrong passwords', {
      details: `try again in ${retryAfterSeconds} s`,
      retryAfterSeconds,
    })
  }
  return new AppError('AUTH_BACKEND_UNREACHABLE', 'The storage server can not say who you are', {
    details: `try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
    ...(answer.kind === 'unclear' && { cause: answer.why }),
  })
}
