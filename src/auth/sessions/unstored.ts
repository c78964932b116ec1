import type { AppError } from '../../errors/index.ts'
import { Recent } from '../rates/recent.ts'

/** A session as the database holds it. */
export type SessionRow = {
  readonly username: string
  readonly instance: string
  /** Empty when the session uses the sealed credential. */
  readonly account_mark: Buffer
  readonly created_at_ms: number
  readonly expires_at_ms: number
  readonly sealed: Buffer | null
  /** Network address of the sign-in; null for a session from before schema 18. */
  readonly address: string | null
  /** When the session last showed a second factor; null: never. */
  readonly factor_at_ms: number | null
}

const keptAtMost = 1000

/**
 * Keeps sessions in memory while the disk takes no writes. A sign-in works at once, and a sign-out ends the session
 * although its row still exists. A restart loses both: people then sign in again.
 */
export class UnstoredSessions {
  readonly #begun = new Recent<SessionRow>(keptAtMost)
  readonly #ended = new Map<string, Buffer>()

  begin(hash: Buffer, row: SessionRow): void {
    this.#begun.set(keyOf(hash), row)
  }

  find(hash: Buffer): SessionRow | undefined {
    return this.#begun.get(keyOf(hash))
  }

  /** Lists the sessions that only memory has, with the hashes of their tokens. */
  all(): { readonly token_sha256: Buffer; readonly row: SessionRow }[] {
    return this.#begun.entries().map(([key, row]) => ({ token_sha256: Buffer.from(key, 'base64'), row }))
  }

  /** @returns whether it was here */
  forget(hash: Buffer): boolean {
    const isHere = this.find(hash) !== undefined
    this.#begun.delete(keyOf(hash))
    return isHere
  }

  end(hash: Buffer): void {
    this.#begun.delete(keyOf(hash))
    this.#ended.set(keyOf(hash), hash)
  }

  hasEnded(hash: Buffer): boolean {
    return this.#ended.has(keyOf(hash))
  }

  /** Lists sessions that were signed out while their rows still exist. */
  get ended(): readonly Buffer[] {
    return [...this.#ended.values()]
  }

  /** Forgets sign-outs whose rows were deleted. */
  removed(hashes: readonly Buffer[]): void {
    for (const hash of hashes) this.#ended.delete(keyOf(hash))
  }
}

const keyOf = (hash: Buffer) => hash.toString('base64')

/** Says whether a write was refused because the disk is full. */
export const isDiskFull = (error: unknown): boolean => (error as Partial<AppError> | undefined)?.code === 'STORAGE_FULL'
