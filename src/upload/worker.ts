import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StorageInstance } from '../auth/index.ts'
import { readSecretFile, SecretFileError } from '../config/index.ts'
import { queueBacklog, type Source } from './backlog.ts'
import { Aftercare } from './copies/aftercare.ts'
import { firstFolder, rememberFolder, scheduleUnknown } from './copies/check-store.ts'
import { OpenClips, partEveryMs } from './copies/open-clips.ts'
import type { FolderId } from './dav/folder-facts.ts'
import { type Account, newPassword } from './dav/probe.ts'
import type { Remote, Server } from './dav/remote.ts'
import { isClosed, troubleMs, UploadEnding, type UploadEndingNeeds } from './ending.ts'
import { type Line, nextOf, paused, probed, type Refusal, refused, unknownLine } from './line.ts'
import type { UploadQueue } from './queue.ts'
import * as store from './store.ts'
import type { UploadRow } from './tables.ts'
import type { Outcome } from './transfer.ts'

export type UploadTarget = {
  readonly instance: StorageInstance
  readonly username: string
  readonly passwordFile: string
  readonly root: string
}

type UploadWorkerNeeds = UploadEndingNeeds & {
  readonly queue: UploadQueue
  readonly remote: Remote
  readonly dataDir: string
  /** Null while `storage.upload` is not set. */
  readonly target: () => UploadTarget | null
  readonly sources: readonly Source[]
}

type UnderWay = { readonly isUrgent: boolean; readonly done: Promise<void> }

/** One in order, and one for urgent files: a slow file keeps no incident waiting. */
const mostAtOnce = 2
const longestTimerMs = 3_600_000

/**
 * Sends the queue to the storage server: the oldest file first, urgent ones before all. Before the first file, and after each
 * failure, it only asks the server for its name. So an outage costs a small request and no attempt.
 */
export class UploadWorker {
  readonly #needs: UploadWorkerNeeds
  readonly #underWay = new Map<number, UnderWay>()
  #line: Line = unknownLine
  readonly #openClips: OpenClips
  readonly #ending: UploadEnding
  readonly #aftercare: Aftercare
  #looking: Promise<void> | undefined
  #cancelLook = () => {}
  #connected: Server | undefined
  #parts: Promise<void> | undefined
  #cancelParts = () => {}
  #asking: Promise<void> | undefined
  #backlog: Promise<void> = Promise.resolve()
  #running = false
  #cancelDue = () => {}

  constructor(needs: UploadWorkerNeeds) {
    this.#needs = needs
    const { work, clock, log, dataDir } = needs
    this.#openClips = new OpenClips({ work, clock, log, folder: join(dataDir, 'clips') })
    this.#ending = new UploadEnding(needs)
    this.#aftercare = new Aftercare({ work, clock, ending: this.#ending })
  }

  /** Puts back what was under way when the gateway ended, then works until `stop`. May be called once. */
  async start(): Promise<void> {
    const { work, queue, log } = this.#needs
    this.#running = true
    work.onCommit(() => {
      if (queue.takeChange()) this.wake()
    })
    try {
      let scheduled: number | undefined = 0
      while (scheduled !== undefined && this.#running) {
        const behind: number = scheduled
        scheduled = await work.write((tx) => scheduleUnknown(tx, behind))
      }
      const cut = await work.write(store.requeueCut)
      if (cut > 0) log.info({ files: cut }, 'uploads under way when the gateway ended go on')
    } catch (err) {
      log.error({ err }, 'uploads under way when the gateway ended wait for the next start')
    }
    this.#readBacklog()
    this.wake()
  }

  /** Cuts what is under way; its files stay in the queue. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancelDue()
    this.#cancelParts()
    this.#cancelLook()
    this.#needs.remote.abandon()
    await this.#asking
    await this.#parts
    await this.#looking
    await this.#backlog
    await Promise.all([...this.#underWay.values()].map(({ done }) => done))
  }

  /** Asks the server again at once: its address, its authority or the password may have changed. */
  onReload(): void {
    this.tryNow()
    this.#readBacklog()
  }

  /** Ends the wait for the server. */
  tryNow(): void {
    this.#line = unknownLine
    this.#aftercare.hurry()
    this.wake()
  }

  /** State of the server, for health. */
  get line(): Line {
    return this.#line
  }

  /** Looks for work. */
  wake(): void {
    try {
      this.#pass()
    } catch (error) {
      this.#trouble(error)
    }
  }

  #readBacklog(): void {
    const { work, queue, sources, clock } = this.#needs
    const read = () => queueBacklog({ work, queue, sources, clock, isStopping: () => !this.#running })
    this.#backlog = this.#backlog.then(read).catch((error: unknown) => this.#trouble(error))
  }

  #pass(): void {
    const target = this.#needs.target()
    if (!this.#running || !target || this.#asking) return
    this.#cancelDue()
    const next = nextOf(this.#line, this.#needs.clock.monotonic())
    switch (next.kind) {
      case 'wait':
        this.#wakeIn(next.ms)
        break
      case 'probe':
        if (this.#hasDue()) this.#ask(target)
        this.#wakeAtNextDue()
        break
      case 'send':
        this.#send(target)
        this.#sendParts()
        this.#lookAfter()
        this.#wakeAtNextDue()
    }
  }

  #hasDue(): boolean {
    const hasFile = this.#next(true) !== undefined || this.#next(false) !== undefined
    return hasFile || this.#openClips.hasWork || this.#aftercare.dueInMs === 0
  }

  #next(isUrgent: boolean): UploadRow | undefined {
    const { work, clock } = this.#needs
    return work.read((tx) => store.nextUpload(tx, isUrgent, clock.now()))
  }

  #wakeAtNextDue(): void {
    const nowMs = this.#needs.clock.now()
    const dueMs = this.#needs.work.read((tx) => store.nextDueMs(tx, nowMs))
    if (dueMs !== undefined) this.#wakeIn(dueMs - nowMs)
    const { dueInMs } = this.#aftercare
    this.#cancelLook()
    // Files that are due now are begun by the pass itself, or wait for the server.
    if (dueInMs !== undefined && dueInMs > 0) {
      this.#cancelLook = this.#needs.clock.after(Math.min(dueInMs, longestTimerMs), () => this.wake())
    }
  }

  #wakeIn(ms: number): void {
    this.#cancelDue = this.#needs.clock.after(Math.min(ms, longestTimerMs), () => this.wake())
  }

  #ask(target: UploadTarget): void {
    this.#asking = this.#probe(target)
      .catch((error: unknown) => this.#trouble(error))
      .finally(() => {
        this.#asking = undefined
      })
      .then(() => this.wake())
  }

  async #probe(target: UploadTarget): Promise<void> {
    const { remote, clock, log } = this.#needs
    const account = accountOf(target)
    const asked = this.#line
    const found = 'kind' in account ? account : await remote.probe(account)
    const server =
      found.kind === 'up' && !('kind' in account)
        ? remote.connect({ ...found, account, folder: this.#folderOf(target) })
        : undefined
    const outcome = (await this.#refusalOf(server)) ?? found
    // A reload meanwhile: the answer is about another account.
    if (this.#line !== asked || !this.#running) return
    this.#line = probed(asked, outcome, clock.monotonic())
    if (outcome.kind === 'up') {
      this.#connected = server
      log.info({ flavor: outcome.flavor, scheme: outcome.scheme }, 'the storage server takes uploads')
    } else {
      log.warn({ problem: outcome.error }, 'the storage server takes no uploads; trying again')
    }
  }

  /** Before the first file: whether the folder is the one into which all others went. */
  async #refusalOf(server: Server | undefined): Promise<Refusal | undefined> {
    const refusal = await server?.refusalOfFolder()
    return refusal?.kind === 'refused' ? refusal : undefined
  }

  #folderOf({ instance: { url: instance }, username, root }: UploadTarget) {
    const { work } = this.#needs
    const key = { instance, username, root }
    const first = () => work.read((tx) => firstFolder(tx, key))
    return { root, book: { first, remember: (id: FolderId) => work.write((tx) => rememberFolder(tx, key, id)) } }
  }

  #send(target: UploadTarget): void {
    const urgent = this.#next(true)
    if (urgent) this.#begin(urgent, target)
    const isBusy = [...this.#underWay.values()].some(({ isUrgent }) => !isUrgent)
    const inOrder = isBusy ? undefined : this.#next(false)
    if (inOrder) this.#begin(inOrder, target)
  }

  /** Beside the files: clips that are being recorded are looked at again and again. */
  #sendParts(): void {
    const server = this.#connected
    if (this.#parts || !server || !this.#openClips.hasWork) return
    this.#cancelParts()
    this.#parts = this.#openClips
      .pass(server)
      .then((failed) => {
        if (failed) this.#noteLine(failed)
      })
      .catch((error: unknown) => this.#trouble(error))
      .finally(() => {
        this.#parts = undefined
        if (this.#running && this.#openClips.hasWork)
          this.#cancelParts = this.#needs.clock.after(partEveryMs / 2, () => this.wake())
      })
  }

  /** Beside the files, one at a time: copies are compared again, and the server is asked for room. */
  #lookAfter(): void {
    const server = this.#connected
    if (this.#looking || !server || this.#aftercare.dueInMs !== 0) return
    this.#looking = this.#aftercare
      .pass(server)
      .then((failed) => {
        if (failed) this.#noteLine(failed)
      })
      .catch((error: unknown) => this.#trouble(error))
      .finally(() => {
        this.#looking = undefined
      })
      .then(() => this.wake())
  }

  #begin(row: UploadRow, target: UploadTarget): void {
    if (this.#underWay.size >= mostAtOnce || this.#underWay.has(row.id)) return
    const end = () => this.#underWay.delete(row.id)
    const done = this.#upload(row, target).then(
      () => {
        end()
        this.wake()
      },
      (error: unknown) => {
        end()
        this.#trouble(error)
      },
    )
    this.#underWay.set(row.id, { isUrgent: row.urgent === 1, done })
  }

  async #upload(row: UploadRow, { root }: UploadTarget): Promise<void> {
    const { work, dataDir } = this.#needs
    const connected = this.#connected
    const isOurs = await work.write((tx) => store.claim(tx, row.id, root))
    if (!isOurs || !connected) return
    // The next urgent file can begin beside this one.
    void nextTurn().then(() => this.wake())
    const outcome = await connected.run({
      path: `${root}/${row.path}`,
      file: join(dataDir, row.file),
      sha256: row.sha256,
      sizeBytes: row.size_bytes,
      about: row.about,
      urgent: row.urgent === 1,
    })
    this.#noteLine(outcome)
    await this.#ending.record(row, outcome, () => this.#running)
  }

  /** After a failure the server is asked before the next file. */
  #noteLine(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'pause':
        this.#line = paused(this.#line, outcome.error, outcome.afterMs, this.#needs.clock.monotonic())
        break
      case 'refused':
        this.#line = refused(outcome, this.#needs.clock.monotonic())
        break
      case 'wait':
      case 'unauthorized':
        if (this.#line.kind === 'up') this.#line = unknownLine
        break
      case 'uploaded':
      case 'park':
        break
    }
  }

  #trouble(error: unknown): void {
    if (!this.#running || isClosed(error)) return
    this.#needs.log.error({ err: error }, 'uploads have stopped for a moment')
    this.#cancelDue()
    this.#wakeIn(troubleMs)
  }
}

/** Reads the password at each question, so that a corrected one needs no restart. */
function accountOf({ instance, username, passwordFile }: UploadTarget): Account | Refusal {
  try {
    return { instance, username, password: readSecretFile(passwordFile) }
  } catch (error) {
    if (error instanceof SecretFileError)
      return { kind: 'refused', error: error.message, remedy: newPassword, isPassword: true }
    throw error
  }
}
