import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseFile, openReader, openWriter, UnitOfWork } from '../../src/database/index.ts'
import { silentLogger } from '../../src/platform/index.ts'
import type { UploadAlert } from '../../src/upload/alerts.ts'
import type { Remote } from '../../src/upload/dav/remote.ts'
import { UploadQueue } from '../../src/upload/queue.ts'
import type { UploadRow } from '../../src/upload/tables.ts'
import type { Compared, Outcome } from '../../src/upload/transfer.ts'
import { UploadWorker } from '../../src/upload/worker.ts'
import { allOf, runOf } from './plain-sql.ts'
import { SimulatedClock } from './simulated-clock.ts'

/** One attempt as the server sees it; times are monotonic. `beside`: attempts under way when it began. */
export type Sent = {
  readonly path: string
  readonly urgent: boolean
  readonly startedMs: number
  endedMs?: number
  readonly beside: number
}

/** The upload worker on a real database, with simulated time and a simulated server: a week in a second. */
export class SimulatedUploads {
  readonly clock = new SimulatedClock()
  readonly sent: Sent[] = []
  /** Copies that were compared again. */
  readonly compared: { readonly path: string; readonly atMs: number }[] = []
  /** Raised alerts, also while an alert of the same kind is not acknowledged. */
  readonly raised: UploadAlert[] = []
  findsCopy: (path: string) => Compared = () => ({ kind: 'same', verified: 'hash' })
  probes = 0
  isUp = true
  /** How long a file takes, and how it ends. */
  takes: (path: string) => number = () => 100
  ends: (path: string) => Outcome = (path) => ({ kind: 'uploaded', verified: 'hash', url: `https://cloud${path}` })
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-uploads-'))
  readonly #files: ReturnType<typeof openWriter>
  readonly #reader: ReturnType<typeof openReader>
  readonly #work: UnitOfWork
  readonly queue: UploadQueue
  worker!: UploadWorker
  #generation = 0

  constructor() {
    writeFileSync(join(this.#folder, 'password'), 'secret')
    this.#files = openWriter({ dataDir: this.#folder, nowMs: this.clock.now() })
    this.#reader = openReader(databaseFile(this.#folder))
    this.#work = new UnitOfWork({ writer: this.#files.db, reader: this.#reader })
    this.queue = new UploadQueue({ clock: this.clock, settings: () => ({ root: '/gatehouse' }) })
  }

  /** Starts a worker; a second time as after kill -9. */
  async start(): Promise<void> {
    this.#generation += 1
    this.worker = new UploadWorker({
      ...{ work: this.#work, clock: this.clock, log: silentLogger(), queue: this.queue, remote: this.#remote() },
      dataDir: this.#folder,
      target: () => ({
        instance: { url: 'https://cloud', caFile: null },
        username: 'gatehouse-dc7',
        passwordFile: join(this.#folder, 'password'),
        root: '/gatehouse',
      }),
      ...{ sources: [], raise: () => {}, raiseOnce: (_, alert) => void this.raised.push(alert), onUploaded: () => {} },
    })
    await this.worker.start()
    await this.quiet()
  }

  async add(ref: string, urgent = false): Promise<void> {
    const file = { kind: 'clip', ref, path: ref, file: ref, sha256: ref, sizeBytes: 1000, urgent } as const
    await this.#work.write((tx) => this.queue.enqueue(tx, file))
    await this.quiet()
  }

  /** Retention removes the file of a clip from the box, because of its age or for room. */
  async ageOut(ref: string, cause: 'age' | 'free-space' = 'age'): Promise<void> {
    await this.#work.write((tx) => {
      const id = Number(ref.split('-')[1])
      runOf(
        tx,
        `INSERT INTO log_identity (id, log_id, site_id, created_at_ms)
          SELECT 1, 'log', 'test-site', 0 WHERE NOT EXISTS (SELECT 1 FROM log_identity)`,
      )
      runOf(
        tx,
        `INSERT INTO log_leaf (row, log_id, seq, kind, ref, bytes, hash)
          VALUES (${id}, 1, ${id}, 'media-removed', '${id}', x'00', zeroblob(32))`,
      )
      runOf(
        tx,
        `INSERT INTO media_removed (id, log_id, leaf_seq, leaf_version, evidence_hash, event_id, sha256, media_kind,
            detection_id, cause, policy, removed_at_ms)
          VALUES (${id}, 1, ${id}, 2, 'hash-${id}', 'event-${id}', ?, 'clip',
            ${id}, '${cause}', 'retention.videos.keepLocalDays: 7', ${this.clock.now()})`,
        [ref],
      )
    })
  }

  /** Copies whose comparison is due by now. */
  get due(): number {
    const sql = `SELECT upload_id FROM upload_check WHERE due_at_ms <= ${this.clock.now()}`
    return this.#work.read((tx) => allOf(tx, sql)).length
  }

  rows(): UploadRow[] {
    return this.#work.read((tx) => allOf<UploadRow>(tx, 'SELECT * FROM upload ORDER BY id'))
  }

  /** Lets time pass, timer by timer. */
  async pass(ms: number): Promise<void> {
    const endMs = this.clock.monotonic() + ms
    for (;;) {
      await this.quiet()
      const stepMs = this.clock.nextInMs
      if (stepMs === undefined || stepMs > endMs - this.clock.monotonic()) break
      this.clock.advance(stepMs)
    }
    this.clock.advance(endMs - this.clock.monotonic())
    await this.quiet()
  }

  /** Until nothing happens without time. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  end(): void {
    this.#work.close()
    this.#reader.close()
    this.#files.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #remote(): Remote {
    const generation = this.#generation
    const { clock } = this
    const after = <T>(ms: number, what: () => T) =>
      new Promise<T>((resolve) => clock.after(ms, () => generation === this.#generation && resolve(what())))
    return {
      probe: () => {
        this.probes += 1
        return after(50, () =>
          this.isUp
            ? { kind: 'up', flavor: 'nextcloud', scheme: 'bearer' }
            : { kind: 'pause', error: 'ENETUNREACH', afterMs: null },
        )
      },
      connect: () => ({
        send: ({ path }) => after(this.takes(path), () => this.ends(path)),
        clear: async () => 'done',
        refusalOfFolder: async () => undefined,
        freeBytes: async () => null,
        urlOf: (path) => `https://cloud${path}`,
        compareAgain: ({ path }) => {
          this.compared.push({ path, atMs: clock.monotonic() })
          return after(100, () => this.findsCopy(path))
        },
        run: ({ path, urgent }) => {
          const beside = this.sent.filter(({ endedMs }) => endedMs === undefined).length
          const sent: Sent = { path, urgent, startedMs: clock.monotonic(), beside }
          this.sent.push(sent)
          return after(this.takes(path), () => {
            sent.endedMs = clock.monotonic()
            return this.isUp ? this.ends(path) : { kind: 'pause', error: 'ENETUNREACH', afterMs: null }
          })
        },
      }),
      abandon: () => {},
    }
  }
}
