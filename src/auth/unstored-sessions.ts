import type { AppError } from '../errors/index.ts'
import { Recent } from './recent.ts'

/** A session as the database holds it. */
export type SessionRow = {
  readonly username: string
  readonly instance: string
  /** Empty where the session rests on the sealed credential. */
  readonly account_mark: Buffer
  readonly created_at_ms: number
  readonly expires_at_ms: number
  readonly sealed: Buffer | null
}

const keptAtMost = 1000

/**
 * Sessions while the disk takes no writes: who signs in is kept in memory, so that reading goes on; who signs out is out
 * at once, although the row is still there. Both are lost with the process: then people sign in once more.
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

  /** Those that are out while their rows are still there. */
  get ended(): readonly Buffer[] {
    return [...this.#ended.values()]
  }

  /** Their rows are gone. */
  removed(hashes: readonly Buffer[]): void {
    for (const hash of hashes) this.#ended.delete(keyOf(hash))
  }
}

const keyOf = (hash: Buffer) => hash.toString('base64')

/** Whether a write was refused because of the disk, and nothing else is wrong. */
export const isDiskFull = (error: unknown): boolean => (error as Partial<AppError> | undefined)?.code === 'STORAGE_FULL'
