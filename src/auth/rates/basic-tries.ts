import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { sql as raw } from 'kysely'
import { built, change, integer, pick, type UnitOfWork } from '../../database/index.ts'
import type { Clock } from '../../platform/index.ts'
import { sql, tables } from '../tables.ts'

const lastTry = built({}, () => sql.selectFrom('storage_try').select('id').orderBy('id', 'desc').limit(raw.lit(1)))
const triesOf = built(pick(tables.storage_try, 'instance'), ({ instance }) =>
  sql
    .selectFrom('storage_try')
    .select(['id', 'at_ms', 'network', 'login_mark'])
    .where('instance', '=', instance)
    .orderBy('at_ms'),
)
const newTry = built(tables.storage_try, (row) => sql.insertInto('storage_try').values(row))
const withoutOlder = built({ ms: integer }, ({ ms }) => sql.deleteFrom('storage_try').where('at_ms', '<', ms))
const withoutThese = change('DELETE FROM storage_try WHERE id IN (SELECT value FROM json_each(?))')

/** The server counts failures this long. */
export const countedForMs = 30 * 60_000
/** From the question to the moment at which the server counts it; longer than the client waits for an answer. */
export const latestCountMs = 10_000

/** A Basic password that was wrong, or that got no answer. `login`: a mark, never the name. */
export type KeptTry = { readonly id: number; readonly network: string; readonly login: string }

/** The part of the store of tries that `StorageUsers` uses. */
export type TryMemory = Pick<BasicTries, 'of'>

type BasicTriesNeeds = {
  work: UnitOfWork
  clock: Pick<Clock, 'now'>
  /** 32 bytes, one key for each box. */
  key: Uint8Array
}

/**
 * Stores the tries that count against a server's lock-out, so that they survive a restart. A row is written when the
 * question is sent and deleted when the password was right. The request does not wait for it, so a full disk refuses no
 * sign-in.
 */
export class BasicTries {
  readonly #needs: BasicTriesNeeds
  readonly #key: KeyObject
  #lastId: number

  constructor(needs: BasicTriesNeeds) {
    this.#needs = needs
    this.#key = createSecretKey(needs.key)
    this.#lastId = needs.work.read((tx) => tx.get(lastTry))?.id ?? 0
  }

  /** Returns the record of one server's tries. */
  of(instance: string): TryRecord {
    return {
      markOf: loginMarks(this.#key, instance),
      earlier: () => this.#earlier(instance),
      begun: (network, login) => this.#begun(instance, network, login),
      over: (ids) => this.#over(ids),
    }
  }

  /** Returns earlier tries. A row from the future means that the clock was set back: it counts in full. */
  #earlier(instance: string): (KeptTry & { ageMs: number })[] {
    const nowMs = this.#needs.clock.now()
    const rows = this.#needs.work.read((tx) => tx.all(triesOf, { instance }))
    return rows
      .map(({ id, at_ms, network, login_mark }) => ({
        id,
        network,
        login: login_mark,
        ageMs: Math.max(0, nowMs - at_ms - latestCountMs),
      }))
      .filter(({ ageMs }) => ageMs < countedForMs)
  }

  #begun(instance: string, network: string, login: string): number {
    this.#lastId += 1
    const id = this.#lastId
    const nowMs = this.#needs.clock.now()
    void this.#needs.work
      .write((tx) => {
        tx.run(withoutOlder, { ms: nowMs - countedForMs - latestCountMs })
        tx.run(newTry, { id, instance, at_ms: nowMs, network, login_mark: login })
      })
      .catch(() => {})
    return id
  }

  #over(ids: readonly number[]): void {
    if (ids.length === 0) return
    void this.#needs.work.write((tx) => void tx.run(withoutThese, [JSON.stringify(ids)])).catch(() => {})
  }
}

/** Returns the function that marks a login instead of storing it. */
export function loginMarks(key: KeyObject, instance: string): (login: string) => string {
  return (login) =>
    createHmac('sha256', key)
      .update(JSON.stringify([instance, login]))
      .digest('base64url')
}

export type TryRecord = {
  /** Returns the mark that is stored instead of a login. */
  markOf(login: string): string
  /** Lists tries of an earlier run that still count, oldest first. */
  earlier(): readonly (KeptTry & { readonly ageMs: number })[]
  begun(network: string, login: string): number
  /** Deletes tries that have ceased to count. */
  over(ids: readonly number[]): void
}
