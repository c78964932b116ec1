import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { permissionsOf, type Role, roleWhileUnconfirmed } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import type { Standing } from './basic-budget.ts'
import type { BasicTries } from './basic-tries.ts'
import { afterAnswer, beforeAsking, type Known, wrongForMs } from './belief.ts'
import { type NameSettings, roleOfGroups } from './config-names.ts'
import { invalidCredentials, type Presented, sameButForCase, userMismatch } from './credentials.ts'
import { FairTurns } from './fair-turns.ts'
import type { KnownCallers } from './known-callers.ts'
import { networkOf } from './network-of.ts'
import { Recent } from './recent.ts'
import type { Slowing } from './slowing.ts'
import type { StorageClient } from './storage-client.ts'
import { type GateAnswer, type ServerWellness, StorageGate, type Trouble } from './storage-gate.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

/** `instances`: as the config names them; nothing else is ever asked. */
export type StorageSettings = NameSettings & {
  readonly freshForMs: number
  readonly staleForMs: number
  readonly defaultRole: Role
}

/** How the storage servers are; `down` and `slow` count those that have been so for over a minute. */
export type StorageStatus = {
  /** Not asked for a while because they fail. */
  readonly open: number
  readonly down: number
  readonly slow: number
  /** What is wrong with each of them; `sinceMs` on the monotonic clock. */
  readonly troubles: readonly (Trouble & { readonly instance: string })[]
}

/** How a credential was decided upon: for the metrics. */
export type VerificationOutcome = 'fresh' | 'remembered_wrong' | 'verified' | 'wrong' | 'stale' | 'unknown'

type Credential = {
  /** HMAC of it, base64. */
  readonly key: string
  readonly presented: Presented
  readonly login: string
  readonly instance: string
}
type Belief = { readonly username: string; readonly isStale: boolean }
type UnderWay = { readonly belief: Promise<Belief>; readonly sinceMs: number }

const remembered = 10_000
const lookEveryMs = 30_000
const idleMs = 60_000
/** Longer than this nobody waits who is known. */
const patienceMs = 500

/** Vouches for the users of the company's file storage servers: asks there, and remembers what they said. */
export class StorageUsers implements CredentialVerifier {
  readonly #settings: () => StorageSettings
  readonly #client: StorageClient
  readonly #callers: KnownCallers
  readonly #tries: BasicTries
  readonly #slowing: Slowing
  readonly #clock: Clock
  readonly #log: Logger
  readonly #key: KeyObject
  readonly #onOutcome: (outcome: VerificationOutcome) => void
  readonly #gates = new Map<string, StorageGate>()
  readonly #known = new Recent<Known>(remembered)
  /** Until when it is taken for wrong, by credential. Apart from the known ones: guesses make nobody be forgotten. */
  readonly #wrong = new Recent<number>(remembered)
  /** Whose a right secret is that came with the name of another, and until when that is remembered. */
  readonly #mismatched = new Recent<{ readonly username: string; readonly untilMs: number }>(remembered)
  readonly #underWay = new Map<string, UnderWay>()
  /** Whoever was right before has turns of his own: guesses take none of them. */
  readonly #turnsOfKnown = new FairTurns({ atOnce: 8, waitingOfLane: 32, waiting: 1024 })
  readonly #turnsOfStrangers = new FairTurns({ atOnce: 4, waitingOfLane: 32, waiting: 256 })
  #stopLooking: (() => void) | undefined

  /** @param options.key of this box, 32 bytes; under it credentials are remembered through restarts */
  constructor(options: {
    settings: () => StorageSettings
    client: StorageClient
    callers: KnownCallers
    tries: BasicTries
    slowing: Slowing
    clock: Clock
    log: Logger
    key: Uint8Array
    onOutcome: (outcome: VerificationOutcome) => void
  }) {
    this.#settings = options.settings
    this.#client = options.client
    this.#callers = options.callers
    this.#tries = options.tries
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
    const { username, secret } = presented
    const login = presented.basicUser ?? username
    const said = JSON.stringify([instance, login, secret, ...(username === login ? [] : [username])])
    const key = createHmac('sha256', this.#key).update(said).digest('base64')
    const believed = this.#believe({ key, presented, login, instance }, address)
    const belief = believed instanceof Promise ? await believed : believed
    return { caller: this.#callerOf(belief, instance) }
  }

  /** Nobody here holds their secrets. */
  recall(): undefined {
    return undefined
  }

  knows(username: string, instance: string): boolean {
    return this.#callers.groupsOf(instance, username) !== undefined
  }

  /** For health and metrics. */
  status(): StorageStatus {
    const gates = this.#settings().instances.map((instance) => ({ instance, gate: this.#gates.get(instance) }))
    const troubles = gates.flatMap(({ instance, gate }) => (gate?.trouble ? [{ ...gate.trouble, instance }] : []))
    const count = (kind: Trouble['kind']) => troubles.filter((trouble) => trouble.kind === kind).length
    return { open: gates.filter(({ gate }) => gate?.isOpen).length, down: count('down'), slow: count('slow'), troubles }
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
    const { key } = credential
    const nowMs = this.#clock.monotonic()
    const mismatch = this.#mismatched.get(mismatchKey(credential))
    if (mismatch && nowMs < mismatch.untilMs) {
      this.#onOutcome('remembered_wrong')
      throw this.#mismatch(credential, mismatch.username)
    }
    const wrongUntilMs = this.#wrong.get(key)
    // A guess that is remembered asks nobody, not the database either.
    const known = this.#known.get(key) ?? (wrongUntilMs === undefined ? this.#stored(credential) : undefined)
    const verdict = beforeAsking(known, wrongUntilMs, nowMs, this.#settings())
    if (verdict === 'believe' && known) {
      this.#onOutcome('fresh')
      return { username: known.username, isStale: false }
    }
    if (verdict === 'refuse') {
      this.#onOutcome('remembered_wrong')
      throw invalidCredentials()
    }
    const underWay = this.#underWay.get(key) ?? this.#askBeside(credential, known, address)
    return known ? this.#soon(underWay, known) : underWay.belief
  }

  /** Many requests of one device at once are one question. */
  #askBeside(credential: Credential, known: Known | undefined, address: string): UnderWay {
    const { key } = credential
    const belief = this.#conclude(credential, known, address).finally(() => this.#underWay.delete(key))
    // Whoever asked may have gone on with what was known.
    belief.catch(() => {})
    const underWay = { belief, sinceMs: this.#clock.monotonic() }
    this.#underWay.set(key, underWay)
    return underWay
  }

  /** What the server says, or after half a second what it said last; the question goes on beside. */
  #soon({ belief, sinceMs }: UnderWay, known: Known): Promise<Belief> {
    const nowMs = this.#clock.monotonic()
    if (nowMs - known.verifiedMs > this.#settings().staleForMs) return belief
    const stale = (): Belief => {
      this.#onOutcome('stale')
      return { username: known.username, isStale: true }
    }
    const leftMs = sinceMs + patienceMs - nowMs
    if (leftMs <= 0) return Promise.resolve(stale())
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(leftMs, () => resolve(stale()))
      belief.then(resolve, reject).finally(cancel)
    })
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
    if (answer.kind === 'verified') {
      if (!isNameOf(credential, answer)) throw this.#belongsToAnother(credential, known, answer.username)
      return this.#remember(credential, answer, startedMs)
    }
    if (answer.kind === 'wrong') throw this.#forget(credential, known, address)
    if (conclusion === 'stale' && known) return { username: known.username, isStale: true }
    throw notTold(answer)
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
    return this.#slowing.check(address, `${login}@${instance}`, () =>
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
    this.#callers.verified({
      id: idOf(key),
      instance,
      username,
      asBearer,
      groups,
      role: roleOfGroups(groups, instance, this.#settings()),
    })
    return { username, isStale: false }
  }

  #forget({ key, presented, login, instance }: Credential, known: Known | undefined, address: string): AppError {
    this.#known.delete(key)
    this.#wrong.set(key, this.#clock.monotonic() + wrongForMs)
    if (known) this.#callers.ended(idOf(key))
    else this.#slowing.wrong(address, `${login}@${instance}`, presented.secret)
    return invalidCredentials()
  }

  /** Right, but for another name: no sign-in of anybody. */
  #belongsToAnother(credential: Credential, known: Known | undefined, username: string): AppError {
    this.#known.delete(credential.key)
    if (known) this.#callers.ended(idOf(credential.key))
    const untilMs = this.#clock.monotonic() + wrongForMs
    this.#mismatched.set(mismatchKey(credential), { username, untilMs })
    return this.#mismatch(credential, username)
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
      client: this.#client,
      clock: this.#clock,
      record: this.#tries.of(url),
      onChange: (_, now) => {
        if (!now) this.#log.info({ instance: url }, 'the storage server answers as it should again')
        else if (now.kind === 'slow') this.#log.warn({ instance: url, why: now.why }, 'the storage server is slow')
        else this.#log.warn({ instance: url, why: now.why }, 'the storage server does not answer')
      },
    })
    this.#gates.set(url, gate)
    return gate
  }

  /** Role and groups as the server last said; what only an admin may do needs an answer that is fresh. */
  #callerOf({ username, isStale }: Belief, instance: string): Caller {
    const groups = this.#callers.groupsOf(instance, username) ?? []
    const role = roleOfGroups(groups, instance, this.#settings())
    const named = { username, instance, groups }
    if (!isStale) return { ...named, role, permissions: permissionsOf(role), authMode: 'storage' }
    const lowered = roleWhileUnconfirmed(role)
    return {
      ...named,
      role: lowered,
      permissions: permissionsOf(lowered),
      authMode: 'offline-cache',
      ...(lowered !== role && {
        withheld: 'what only an admin may do waits until the storage server has answered; try again in some seconds',
      }),
    }
  }
}

/** Who is known is never sent away because many ask at once: what was said last serves. */
function tooMany(error: unknown): GateAnswer {
  if (!(error instanceof AppError) || error.code !== 'NOT_READY') throw error
  const why = 'not asked: too many questions at once'
  return {
    kind: 'unclear',
    why,
    isLockOut: false,
    retryAfterMs: undefined,
    mayCount: false,
    asBearer: true,
    knowsLogin: false,
  }
}

const idOf = (key: string): Buffer => Buffer.from(key, 'base64')

/** Short forms and other spellings that the server takes for the same user. */
function isNameOf({ presented, login }: Credential, answer: GateAnswer & { kind: 'verified' }): boolean {
  const { username } = presented
  if (username === answer.username || (username === login && answer.knowsLogin)) return true
  if (presented.basicUser === undefined) return false
  const others = [answer.username, answer.email, ...(answer.knowsLogin ? [login] : [])]
  return others.some((name) => name !== undefined && sameButForCase(username, name))
}

/** A bearer token that comes without a login is looked at more strictly than the same secret with one. */
const mismatchKey = ({ key, presented }: Credential): string =>
  presented.basicUser !== undefined || presented.isTyped ? `login ${key}` : key

/** Nobody could be asked: whose fault that is, and how long it lasts. */
function notTold(answer: GateAnswer): AppError {
  const retryAfterMs = answer.kind === 'unclear' ? answer.retryAfterMs : undefined
  const retryAfterSeconds = Math.max(1, Math.ceil((retryAfterMs ?? (answer.held ? 300_000 : 5000)) / 1000))
  const cause = answer.kind === 'unclear' ? { cause: answer.why } : {}
  const inTheMeantime = 'an application password works at once'
  if (answer.held === 'own-tries') {
    return new AppError('RATE_LIMITED', 'Too many wrong passwords for this user name from here', {
      details: `try again in ${retryAfterSeconds} s; ${inTheMeantime}`,
      retryAfterSeconds,
    })
  }
  if (answer.held === 'tries-of-all') {
    return new AppError('SIGN_IN_TRIES_SPENT', 'Too many wrong passwords were sent through this gateway', {
      details: `the storage server takes no more account passwords from it for now: try again in ${retryAfterSeconds} s; ${inTheMeantime}`,
      retryAfterSeconds,
      ...cause,
    })
  }
  return new AppError('AUTH_BACKEND_UNREACHABLE', 'The storage server cannot say who you are', {
    details: `try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
    ...cause,
  })
}
