import type { Database, Statement } from 'better-sqlite3'
import { AppError } from '../errors/index.ts'
import { ownTurn } from '../platform/index.ts'
import { isBusy, isSqliteFault, misplacedFault, translateSqlite } from './faults.ts'
import { Gathering } from './gathering.ts'
import { OpenFiles } from './open-files.ts'
import { type Head, LongWrite, type Slice, type Slices } from './slices.ts'
import { executor, type NoPromise, type ReadTx, type Tx } from './transaction.ts'

type Waiting = {
  readonly sinceMs: number
  /** Nothing but the transaction and the heads knows that it ran, so it may run again. */
  readonly isRepeatable: boolean
  /** The work is a generator, and each slice runs in a separate turn. */
  readonly isSliced: boolean
  work: (tx: Tx) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Most members of a group, so that one commit blocks the event loop only briefly. */
const groupLimit = 200
const groupBudgetMs = 15

/** The clients wait as long as a commit takes, and the thread too. One alone may be a checkpoint of the write-ahead log. */
const slowCommitMs = 1000

/** After a write without a savepoint has failed, each of so many groups has them: refusals come in bursts. */
const groupsWithSavepoints = 64

/** A member without a savepoint has failed: its changes are undone with the whole group. */
class GroupFailed extends Error {}

/**
 * Another program (an auditor's sqlite3, a backup) may hold the write lock. SQLite waits by sleeping in this thread, so it sleeps
 * only for a short time. Then a timer tries again, and all other work continues meanwhile.
 */
const lockSleepMs = 50
const lockRetryMs = 200
const lockPatienceMs = 10_000
const stopping = () => new AppError('NOT_READY', 'The gateway is stopping', { retryAfterSeconds: 5 })

type UnitOfWorkNeeds = {
  writer: Database
  reader: Database
  /** Longest wait of a write for another program's lock; default 10 s. */
  lockPatienceMs?: number
}

/**
 * Runs all reads and writes of the database. Writes that arrive while a commit runs share the next transaction. Each has a separate
 * savepoint where it may run only once. Each promise resolves after the group's commit is on disk (synchronous=FULL), in a file that
 * is still in its place.
 */
export class UnitOfWork {
  readonly #needs: UnitOfWorkNeeds
  readonly #write: Tx
  readonly #read: Tx
  readonly #heads: Head[] = []
  readonly #listeners: (() => void)[] = []
  readonly #patienceMs: number
  /** Prepared once: exec would parse them anew for every event. */
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  readonly #totalChanges: Statement
  readonly #beginRead: Statement
  readonly #endRead: Statement
  readonly #versionNow: Statement
  readonly #files: OpenFiles
  /** At the last commit a file was not in its place. */
  #wasMisplaced = false
  /** The last write failed because of the disk, and none has been stored since. */
  #diskFault: { readonly fault: AppError; readonly changesBefore: unknown } | undefined
  /** Commits in a row that each took over a second. */
  #slowCommits = 0
  #commitMs = 0
  #waiting: Waiting[] = []
  /** The transaction of this write is open; all other writes wait behind it. */
  #long: { readonly item: Waiting; readonly write: LongWrite } | undefined
  /** So many more groups have a savepoint for each member. */
  #savepointsFor = 0
  #scheduled = false
  readonly #gathering = new Gathering(groupLimit)
  #closed = false

  constructor(needs: UnitOfWorkNeeds) {
    this.#needs = needs
    this.#write = executor(needs.writer)
    this.#read = executor(needs.reader)
    this.#begin = needs.writer.prepare('BEGIN IMMEDIATE')
    this.#commit = needs.writer.prepare('COMMIT')
    this.#savepoint = needs.writer.prepare('SAVEPOINT member')
    this.#release = needs.writer.prepare('RELEASE member')
    this.#totalChanges = needs.writer.prepare('SELECT total_changes()').pluck()
    this.#beginRead = needs.reader.prepare('BEGIN')
    this.#endRead = needs.reader.prepare('COMMIT')
    this.#versionNow = needs.reader.prepare('SELECT data_version FROM pragma_data_version').pluck()
    this.#files = new OpenFiles(needs.writer)
    this.#patienceMs = needs.lockPatienceMs ?? lockPatienceMs
    for (const db of [needs.writer, needs.reader]) db.pragma(`busy_timeout = ${lockSleepMs}`)
  }

  /** Registers a value in memory that follows the commits. */
  follow(head: Head): void {
    this.#heads.push(head)
  }

  /** Calls the listener after every commit; for workers that read new rows. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** A number that differs after each commit, also of another program; it has no other meaning. */
  get version(): number {
    if (this.#closed) throw stopping()
    try {
      return this.#versionNow.get() as number
    } catch (error) {
      throw isSqliteFault(error) ? translateSqlite(error) : error
    }
  }

  /** Says whether all writes are refused because the gateway stops. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Returns STORAGE_FULL with its cause while the disk takes no writes; undefined once a write is stored again. */
  get diskFault(): AppError | undefined {
    return this.misplaced === undefined ? this.#diskFault?.fault : misplacedFault()
  }

  /** Returns the duration of the last commit, while this and the two before took over a second; undefined else. */
  get slowCommitMs(): number | undefined {
    return this.#slowCommits < 3 ? undefined : this.#commitMs
  }

  /** Returns the path of the data folder or of a file of the database that is not in its place; undefined while all are. */
  get misplaced(): string | undefined {
    return this.#files.misplaced
  }

  /**
   * Runs `work` in the next group. Resolves with its result once that is durable. Rejects with its own error: its changes are
   * undone, those of the others stay. Rejects with STORAGE_FULL or INTERNAL_ERROR when the group could not be committed. Rejects
   * with NOT_READY when another program locked the file for 10 s.
   */
  write<T>(work: (tx: Tx) => T, ..._sync: NoPromise<T>): Promise<T> {
    return this.#take(work)
  }

  /**
   * Runs `work` as `write` does, for work that may run again, because it changes nothing in memory but heads. It runs without a
   * savepoint, which would copy each page that it changes. When it fails, its group is undone and runs again with savepoints.
   */
  writeRepeatable<T>(work: (tx: Tx) => T, ..._sync: NoPromise<T>): Promise<T> {
    return this.#take(work, { isRepeatable: true })
  }

  /**
   * Runs `work` as `write` does, in one commit, with a turn of the event loop at each `yield`. Reads between the turns see nothing
   * of it, and other writes wait for its end. For acts of so many rows that one turn would stop the floor.
   */
  writeInSlices<T>(work: Slices<T>): Promise<T> {
    return this.#take<T>(work as (tx: Tx) => never, { isSliced: true })
  }

  /**
   * Runs `work` on one snapshot of the committed state. A read inside a read shares the snapshot of the outer one. Keep it short:
   * it blocks the main thread, and a long reader lets the WAL grow. See `readInSlices`.
   */
  read<T>(work: (tx: ReadTx) => T, ..._sync: NoPromise<T>): T {
    if (this.#closed) throw stopping()
    if (this.#needs.reader.inTransaction) return work(this.#read)
    try {
      this.#beginRead.run()
      return work(this.#read)
    } catch (error) {
      throw isSqliteFault(error) ? translateSqlite(error) : error
    } finally {
      if (this.#needs.reader.inTransaction) this.#endRead.run()
    }
  }

  /**
   * Reads possibly many rows, one slice in each turn of the event loop. The function `look` reads one slice from `place` on and
   * returns the place of the next one, `undefined` after the last. Bound a slice by the rows that it reads, not by those that it
   * finds. A filter that few rows pass then costs many slices and never a long one.
   *
   * Slices see different snapshots. The caller bounds rows that must not change between them (`lastId`). Ends early, without an
   * error, when `signal` reports that the client has gone.
   */
  async *readInSlices<Found, Place>(
    first: Place,
    look: (tx: ReadTx, place: Place) => Slice<Found, Place>,
    signal?: AbortSignal,
  ): AsyncGenerator<Found, void> {
    let place: Place | undefined = first
    while (place !== undefined && !signal?.aborted) {
      const from: Place = place
      await ownTurn()
      if (signal?.aborted) return
      const slice: Slice<Found, Place> = this.read<Slice<Found, Place>>((tx) => look(tx, from))
      yield slice.found
      place = slice.next
    }
  }

  /** Commits what waits, then refuses further writes. */
  close(): void {
    while (this.#hasWork) this.#commitNext()
    this.#closed = true
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#long !== undefined
  }

  #take<T>(work: (tx: Tx) => T, { isRepeatable = false, isSliced = false } = {}): Promise<T> {
    if (this.#closed) return Promise.reject(stopping())
    return new Promise<T>((resolve, reject) => {
      const taken = { sinceMs: performance.now(), isRepeatable, isSliced, work, reject }
      this.#waiting.push({ ...taken, resolve: resolve as (value: unknown) => void })
      this.#schedule()
    })
  }

  #schedule(hadLock = true): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const commit = () => {
      if (!this.#long && this.#gathering.waits(this.#waiting.length)) return void setImmediate(commit)
      this.#scheduled = false
      const gotLock = !this.#hasWork || this.#commitNext()
      if (this.#hasWork) this.#schedule(gotLock)
    }
    if (hadLock) setImmediate(commit)
    else setTimeout(commit, lockRetryMs)
  }

  /** Commits a group, or runs a slice of a long write. @returns false when another program holds the lock */
  #commitNext(): boolean {
    if (this.#long) return this.#runSlice(this.#long)
    const [first] = this.#waiting
    return first?.isSliced ? this.#beginLong(first) : this.#commitGroup()
  }

  #beginLong(item: Waiting): boolean {
    this.#waiting.shift()
    if (this.#wasMisplaced && this.#refuseMisplaced([item])) return true
    try {
      this.#begin.run()
    } catch (error) {
      if (isBusy(error)) {
        this.#waiting = this.#patientOnes([item, ...this.#waiting], error)
        return false
      }
      item.reject(this.#noted(translateSqlite(error)))
      return true
    }
    const slices = item.work(this.#write) as ReturnType<Slices<unknown>>
    this.#long = { item, write: new LongWrite(this.#heads, slices) }
    return true
  }

  #runSlice({ item, write }: { readonly item: Waiting; readonly write: LongWrite }): true {
    try {
      const step = write.next()
      if (!step.done) return true
      this.#commitTimed()
      this.#long = undefined
      if (this.#refuseMisplaced([item])) return true
      this.#answer([() => item.resolve(step.value)])
    } catch (error) {
      this.#long = undefined
      if (this.#needs.writer.inTransaction) this.#needs.writer.exec('ROLLBACK')
      write.undo()
      item.reject(isSqliteFault(error) ? this.#noted(translateSqlite(error)) : error)
    }
    return true
  }

  /** Commits a group. @returns false when another program holds the lock; writes that waited too long are rejected */
  #commitGroup(): boolean {
    const group = this.#waiting
    this.#waiting = []
    if (this.#wasMisplaced && this.#refuseMisplaced(group)) return true
    const before = this.#heads.map((head) => head.save())
    const answers: (() => void)[] = []
    let taken = 0
    // Only until a member comes that must not run twice: by then none may have failed without a savepoint.
    let isBare = group.length > 1 && this.#savepointsFor === 0
    this.#savepointsFor = Math.max(this.#savepointsFor - 1, 0)
    try {
      this.#begin.run()
      const startedMs = performance.now()
      for (const item of group) {
        if (item.isSliced || taken >= groupLimit || (taken > 0 && performance.now() - startedMs > groupBudgetMs)) break
        taken += 1
        isBare &&= item.isRepeatable
        answers.push(isBare ? this.#runBare(item) : this.#runOne(item, group.length === 1))
      }
      this.#commitTimed()
    } catch (error) {
      if (taken === 0 && isBusy(error)) {
        this.#waiting = this.#patientOnes(group, error)
        return false
      }
      if (this.#needs.writer.inTransaction) this.#needs.writer.exec('ROLLBACK')
      this.#restore(before)
      if (error instanceof GroupFailed) {
        this.#savepointsFor = groupsWithSavepoints
        this.#waiting = [...group, ...this.#waiting]
        return true
      }
      const fault = this.#noted(translateSqlite(error))
      for (const item of group.slice(0, Math.max(taken, 1))) item.reject(fault)
      this.#waiting = [...group.slice(Math.max(taken, 1)), ...this.#waiting]
      return true
    }
    this.#waiting = [...group.slice(taken), ...this.#waiting]
    this.#gathering.committed(taken)
    if (this.#refuseMisplaced(group.slice(0, taken))) return true
    this.#answer(answers)
    return true
  }

  #answer(answers: readonly (() => void)[]): void {
    this.#stored()
    for (const answer of answers) answer()
    for (const listener of this.#listeners) listener()
  }

  #commitTimed(): void {
    const startedMs = performance.now()
    this.#commit.run()
    this.#commitMs = performance.now() - startedMs
    this.#slowCommits = this.#commitMs < slowCommitMs ? 0 : this.#slowCommits + 1
  }

  /**
   * Rejects these when a file is not in its place. Their commit may be in a file without a name, so it must not be acknowledged.
   * The heads follow that file, because the next commit goes there, too.
   */
  #refuseMisplaced(group: readonly Waiting[]): boolean {
    this.#wasMisplaced = this.misplaced !== undefined
    if (this.#wasMisplaced) for (const item of group) item.reject(misplacedFault())
    return this.#wasMisplaced
  }

  #patientOnes(group: Waiting[], busy: unknown): Waiting[] {
    const latestMs = performance.now() - this.#patienceMs
    for (const item of group) if (item.sinceMs <= latestMs) item.reject(translateSqlite(busy))
    return group.filter((item) => item.sinceMs > latestMs)
  }

  /**
   * Runs one member of the group in its savepoint. A member that is alone needs none: undoing it undoes the whole, and an empty
   * transaction is begun in its place. A full disk ends the whole transaction: that error is thrown.
   */
  #runOne(item: Waiting, isAlone: boolean): () => void {
    const before = this.#heads.map((head) => head.save())
    if (!isAlone) this.#savepoint.run()
    try {
      const result = item.work(this.#write)
      if (!isAlone) this.#release.run()
      return () => item.resolve(result)
    } catch (error) {
      if (!this.#needs.writer.inTransaction) throw error
      this.#undo(isAlone)
      this.#restore(before)
      return () => item.reject(isSqliteFault(error) ? this.#noted(translateSqlite(error)) : error)
    }
  }

  /** Runs one member without a savepoint. Throws GroupFailed when it fails: the group has to run again. */
  #runBare(item: Waiting): () => void {
    try {
      const result = item.work(this.#write)
      return () => item.resolve(result)
    } catch (error) {
      throw this.#needs.writer.inTransaction ? new GroupFailed() : error
    }
  }

  #undo(isAlone: boolean): void {
    const { writer } = this.#needs
    if (isAlone) {
      writer.exec('ROLLBACK')
      writer.exec('BEGIN')
    } else {
      writer.exec('ROLLBACK TO member')
      writer.exec('RELEASE member')
    }
  }

  #noted(fault: AppError): AppError {
    if (fault.code === 'STORAGE_FULL') this.#diskFault = { fault, changesBefore: this.#totalChanges.get() }
    return fault
  }

  /** Clears the disk fault, if the commit changed something: an empty commit does not touch the disk. */
  #stored(): void {
    if (this.#diskFault && this.#diskFault.changesBefore !== this.#totalChanges.get()) this.#diskFault = undefined
  }

  #restore(saved: unknown[]): void {
    this.#heads.forEach((head, i) => {
      head.restore(saved[i])
    })
  }
}
