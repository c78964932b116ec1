import type { ReadTx, Tx, UnitOfWork } from '../../database/index.ts'
import { removalOf } from '../../log/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { Server } from '../dav/remote.ts'
import type { UploadEnding } from '../ending.ts'
import * as store from '../store.ts'
import type { Compared } from '../transfer.ts'
import { endCheck, nextCheck, skipCheck } from './check-store.ts'

/** From the end of one comparison to the next, so that a server is not kept busy by hashes. */
const betweenChecksMs = 5000
/** How often a server is asked for room while files wait for it. */
const roomEveryMs = 600_000
/** How often a file is tried where the server does not say how much room it has. */
const blindEveryMs = 3_600_000

type Failure = Exclude<Compared, { kind: 'same' | 'missing' | 'different' }>

type AftercareNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly ending: UploadEnding
}

/** Compares uploaded copies again, and retries files that found no room. */
export class Aftercare {
  readonly #needs: AftercareNeeds
  #checkFromMs = 0
  #roomFromMs = Number.NEGATIVE_INFINITY

  constructor(needs: AftercareNeeds) {
    this.#needs = needs
  }

  /** Ends the waits: somebody has asked for it, or another server may answer. */
  hurry(): void {
    this.#checkFromMs = 0
    this.#roomFromMs = Number.NEGATIVE_INFINITY
  }

  /** How long nothing is due; undefined while there is nothing to do. */
  get dueInMs(): number | undefined {
    const due = this.#needs.work
      .read((tx) => [this.#checkInMs(tx), this.#roomInMs(tx)])
      .filter((ms) => ms !== undefined)
    return due.length === 0 ? undefined : Math.max(0, Math.min(...due))
  }

  #checkInMs(tx: ReadTx): number | undefined {
    const next = nextCheck(tx)
    const { clock } = this.#needs
    return next && Math.max(next.dueMs - clock.now(), this.#checkFromMs - clock.monotonic())
  }

  #roomInMs(tx: ReadTx): number | undefined {
    const waits = store.smallestWithoutRoom(tx) !== undefined
    return waits ? this.#roomFromMs - this.#needs.clock.monotonic() : undefined
  }

  /** Does what is due, one step of each. Returns the server's failure when the server takes nothing. */
  async pass(server: Server): Promise<Failure | undefined> {
    const { work } = this.#needs
    if ((work.read((tx) => this.#roomInMs(tx)) ?? 1) <= 0) await this.#lookForRoom(server)
    return (work.read((tx) => this.#checkInMs(tx)) ?? 1) <= 0 ? this.#check(server) : undefined
  }

  /** Puts back the files that would fit. Where the server does not say how much room it has, the smallest one is tried. */
  async #lookForRoom(server: Server): Promise<void> {
    const { work, clock } = this.#needs
    const free = await server.freeBytes()
    const isKnown = typeof free === 'number'
    const isFirst = this.#roomFromMs === Number.NEGATIVE_INFINITY
    this.#roomFromMs = clock.monotonic() + (free === null ? blindEveryMs : roomEveryMs)
    // The first look is right after the file was parked, when it has just been tried.
    if (!isKnown && (free !== null || isFirst)) return
    await work.write((tx) => store.retryWhatFits(tx, isKnown ? free : (store.smallestWithoutRoom(tx) ?? 0)))
  }

  async #check(server: Server): Promise<Failure | undefined> {
    const { work, clock, ending } = this.#needs
    // Also when the result cannot be stored: a full disk must not become a loop.
    this.#checkFromMs = clock.monotonic() + betweenChecksMs
    const id = work.read(nextCheck)?.id ?? 0
    const row = work.read((tx) => store.findUpload(tx, id))
    const isOver = row?.kind === 'clip' && work.read((tx) => removalOf(tx, row.sha256))?.cause === 'age'
    if (row?.status !== 'uploaded' || isOver) return this.#withoutAsking((tx) => endCheck(tx, id))
    const path = `${row.root}/${row.path}`
    // Another server, or another account of it, knows nothing of this copy.
    if (server.urlOf(path) !== row.url) return this.#withoutAsking((tx) => skipCheck(tx, id, clock.now()))
    const compared = await server.compareAgain({ ...row, path, sizeBytes: row.size_bytes })
    await ending.recordCompared(row, compared)
    this.#checkFromMs = clock.monotonic() + betweenChecksMs
    return isFailure(compared) ? compared : undefined
  }

  /** The next comparison need not wait: no server was kept busy. */
  async #withoutAsking(write: (tx: Tx) => void): Promise<undefined> {
    await this.#needs.work.write(write)
    this.#checkFromMs = 0
  }
}

const isFailure = (compared: Compared): compared is Failure =>
  compared.kind !== 'same' && compared.kind !== 'missing' && compared.kind !== 'different'
