import { createSecretKey, type KeyObject } from 'node:crypto'
import { sql as raw } from 'kysely'
import {
  type CallerMemory,
  clockSlackMs,
  countedForMs,
  type KeptTry,
  keptForMs,
  latestCountMs,
  loginMarks,
  Recent,
  type TryMemory,
  type Verification,
} from '../../auth/index.ts'
import { type Clock, isoTime, type Logger } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, sql } from '../store/statement.ts'

/** The newest callers that a process remembers of an earlier one. */
const callersInMemory = 10_000
/** Secrets of one user: a browser, a script and some tokens. */
const mostSecrets = 16

const callers = builtStatement('storage-callers', { since: 'timestamptz' }, ({ since }) =>
  sql
    .selectFrom('storage_caller')
    .select(['instance', 'username', 'groups', 'credentials'])
    .where('updated_at', '>=', since)
    .orderBy('updated_at', 'desc')
    .limit(raw.lit(callersInMemory)),
)
const keptCaller = builtStatement(
  'keep-storage-caller',
  { instance: 'text', username: 'text', groups: 'text[]', credentials: 'jsonb', at: 'timestamptz' },
  ({ at, ...caller }) =>
    sql
      .insertInto('storage_caller')
      .values({ ...caller, updated_at: at })
      .onConflict((on) =>
        on.columns(['instance', 'username']).doUpdateSet((row) => ({
          groups: row.ref('excluded.groups'),
          credentials: row.ref('excluded.credentials'),
          updated_at: row.ref('excluded.updated_at'),
        })),
      ),
)
const everyTry = builtStatement('storage-tries', {}, () =>
  sql.selectFrom('storage_tries').select(['instance', 'tries']),
)
const keptTries = builtStatement(
  'keep-storage-tries',
  { instance: 'text', tries: 'jsonb', at: 'timestamptz' },
  ({ instance, tries, at }) =>
    sql
      .insertInto('storage_tries')
      .values({ instance, tries, updated_at: at })
      .onConflict((on) =>
        on.column('instance').doUpdateSet((row) => ({
          tries: row.ref('excluded.tries'),
          updated_at: row.ref('excluded.updated_at'),
        })),
      ),
)

type Secret = { readonly id: string; readonly asBearer: boolean; readonly verifiedAtMs: number }
type KnownUser = {
  readonly instance: string
  readonly username: string
  readonly groups: readonly string[]
  readonly credentials: readonly Secret[]
}
type Try = KeptTry & { readonly atMs: number }

type StorageMemoryNeeds = {
  readonly db: HubTx
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** 32 bytes. */
  readonly key: Uint8Array
}

/**
 * Remembers which secrets the storage servers vouched for, and which tries count against them. It is asked in memory, and the
 * database has it for the next process. Facts that a crash loses are asked for again. A second process at the same database has its
 * own memory.
 */
export class StorageMemory implements CallerMemory, TryMemory {
  readonly #needs: StorageMemoryNeeds
  readonly #key: KeyObject
  readonly #users = new Recent<KnownUser>(callersInMemory)
  /** Key of the user, by id of the secret. */
  readonly #secrets = new Recent<string>(2 * callersInMemory)
  readonly #tries = new Map<string, Try[]>()
  #lastId = 0
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(needs: StorageMemoryNeeds) {
    this.#needs = needs
    this.#key = createSecretKey(needs.key)
  }

  /** Reads what an earlier process left. */
  static async read(needs: StorageMemoryNeeds): Promise<StorageMemory> {
    const memory = new StorageMemory(needs)
    const known = await needs.db.rows(callers, { since: isoTime(needs.clock.now() - keptForMs) })
    for (const user of known.toReversed())
      memory.#remember({ ...user, credentials: user.credentials as readonly Secret[] })
    for (const { instance, tries: stored } of await needs.db.rows(everyTry, {})) {
      const tries = stored as Try[]
      memory.#tries.set(instance, tries)
      memory.#lastId = Math.max(memory.#lastId, ...tries.map(({ id }) => id))
    }
    return memory
  }

  find(id: Buffer) {
    const wanted = id.toString('base64')
    const user = this.#users.get(this.#secrets.get(wanted) ?? '')
    const secret = user?.credentials.find((one) => one.id === wanted)
    const ageMs = secret && this.#needs.clock.now() - secret.verifiedAtMs
    if (!user || !secret || ageMs === undefined || ageMs < -clockSlackMs || ageMs > keptForMs) return undefined
    return { username: user.username, asBearer: secret.asBearer, ageMs: Math.max(ageMs, 0) }
  }

  groupsOf(instance: string, username: string): readonly string[] | undefined {
    return this.#users.get(keyOf(instance, username))?.groups
  }

  verified({ id, instance, username, asBearer, groups }: Verification): void {
    const earlier = this.#users.get(keyOf(instance, username))?.credentials ?? []
    const secret = { id: id.toString('base64'), asBearer, verifiedAtMs: this.#needs.clock.now() }
    const credentials = [secret, ...earlier.filter((one) => one.id !== secret.id)].slice(0, mostSecrets)
    this.#keep({ instance, username, groups, credentials })
  }

  ended(id: Buffer): void {
    const ended = id.toString('base64')
    const user = this.#users.get(this.#secrets.get(ended) ?? '')
    this.#secrets.delete(ended)
    if (user) this.#keep({ ...user, credentials: user.credentials.filter((one) => one.id !== ended) })
  }

  of(instance: string) {
    return {
      markOf: loginMarks(this.#key, instance),
      earlier: () => this.#earlier(instance),
      begun: (network: string, login: string) => {
        this.#lastId += 1
        this.#keepTries(instance, [
          ...this.#earlier(instance),
          { id: this.#lastId, network, login, atMs: this.#needs.clock.now() },
        ])
        return this.#lastId
      },
      over: (ids: readonly number[]) =>
        this.#keepTries(
          instance,
          this.#earlier(instance).filter(({ id }) => !ids.includes(id)),
        ),
    }
  }

  /** Resolves when everything that was remembered is stored, or could not be. */
  async stored(): Promise<void> {
    await this.#writing
  }

  /** Returns the tries that still count. One from the future means that the clock was set back: it counts in full. */
  #earlier(instance: string): (Try & { readonly ageMs: number })[] {
    const nowMs = this.#needs.clock.now()
    return (this.#tries.get(instance) ?? [])
      .map((one) => ({ ...one, ageMs: Math.max(0, nowMs - one.atMs - latestCountMs) }))
      .filter(({ ageMs }) => ageMs < countedForMs)
  }

  #keepTries(instance: string, tries: readonly Try[]): void {
    const kept = tries.map(({ id, atMs, network, login }) => ({ id, atMs, network, login }))
    this.#tries.set(instance, kept)
    const values = { instance, tries: JSON.stringify(kept), at: isoTime(this.#needs.clock.now()) }
    this.#store(() => this.#needs.db.rows(keptTries, values))
  }

  #remember(user: KnownUser): string {
    const key = keyOf(user.instance, user.username)
    this.#users.set(key, user)
    for (const { id } of user.credentials) this.#secrets.set(id, key)
    return key
  }

  #keep(user: KnownUser): void {
    this.#remember(user)
    const { instance, username, groups, credentials } = user
    const at = isoTime(this.#needs.clock.now())
    const values = { instance, username, groups, credentials: JSON.stringify(credentials), at }
    this.#store(() => this.#needs.db.rows(keptCaller, values))
  }

  /** Writes behind, one after the other. A sign-in does not wait for it, so a full disk refuses none. */
  #store(write: () => Promise<unknown>): void {
    this.#writing = this.#writing
      .then(write)
      .catch((err: unknown) => this.#needs.log.warn({ err }, 'a sign-in could not be remembered'))
  }
}

const keyOf = (instance: string, username: string): string => JSON.stringify([instance, username])
