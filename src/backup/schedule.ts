import { join } from 'node:path'
import { errorMessage } from '../platform/faults.ts'
import { type Clock, isoTime, type Logger, readFileIfThere, writeFileDurablyAside } from '../platform/index.ts'
import { type KeptBackup, madeByNow } from './backup-names.ts'
import type { BackupPlace } from './places.ts'
import type { BackupAt, Rehearsed } from './rehearse.ts'

export type ScheduleSettings = {
  readonly place: BackupPlace
  readonly everyMs: number
  readonly keep: number
  /** Whether photos and clips go along. */
  readonly media: boolean
}

export type ScheduleNeeds = {
  readonly clock: Clock
  readonly log: Logger
  readonly dataDir: string
  /** Null: no backups are scheduled. */
  readonly settings: () => ScheduleSettings | null
  readonly rehearse: (backup: BackupAt) => Promise<Rehearsed>
}

/** State of the scheduled backups. */
export type BackupsSeen = {
  /** Null: none are scheduled. */
  readonly everyMs: number | null
  /** Whether the next one contains photos and clips. */
  readonly media: boolean
  readonly newestMs: number | null
  /** When a backup last came back in a rehearsal. */
  readonly rehearsedMs: number | null
  /** Since when backups are waited for. */
  readonly sinceMs: number
  /** Why the last one could not be made, or did not come back; null while all is well. */
  readonly makeFault: string | null
  readonly rehearsalFault: string | null
}

/** The last rehearsal, kept in the data folder. */
type Record = { readonly file: string; readonly fault: string | null; readonly goodAt: string | null }

const lookEveryMs = 60_000
const retryMs = 15 * 60_000

/** Makes backups on schedule, removes the oldest, and rehearses the restore of each new one. */
export class BackupSchedule {
  readonly #needs: ScheduleNeeds
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined
  #newestMs: number | null = null
  #sinceMs: number
  #makeFault: string | null = null
  #retryAtMs = Number.NEGATIVE_INFINITY
  #record: Record | undefined

  constructor(needs: ScheduleNeeds) {
    this.#needs = needs
    this.#sinceMs = needs.clock.now()
  }

  start(): void {
    this.#sinceMs = this.#needs.clock.now()
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Looks whether a backup or a rehearsal is due, and does it. Calls at the same time share one look. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** Reads which backups there are, for `seen`. Makes and removes none; a place that cannot be read is a fault. */
  async count(): Promise<void> {
    const settings = this.#needs.settings()
    if (!settings) return
    try {
      await this.#kept(settings.place)
    } catch (error) {
      this.#makeFault = errorMessage(error)
    }
  }

  seen(): BackupsSeen {
    const { fault, goodAt } = this.#recorded()
    const settings = this.#needs.settings()
    return {
      everyMs: settings?.everyMs ?? null,
      media: settings?.media ?? false,
      newestMs: this.#newestMs,
      rehearsedMs: goodAt === null ? null : Date.parse(goodAt),
      sinceMs: this.#sinceMs,
      makeFault: this.#makeFault,
      rehearsalFault: fault,
    }
  }

  /** Returns the schedule as of now; null: none. */
  get settings(): ScheduleSettings | null {
    return this.#needs.settings()
  }

  #schedule(): void {
    this.#cancel = this.#needs.clock.after(lookEveryMs, () => {
      void this.look().finally(() => {
        if (this.#cancel) this.#schedule()
      })
    })
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#needs
    const settings = this.#needs.settings()
    if (!settings) {
      this.#makeFault = null
      this.#newestMs = null
      return
    }
    const { place, everyMs } = settings
    try {
      const waiting = await place.waiting()
      if (waiting) {
        this.#makeFault = waiting.fault
        return
      }
      if (clock.monotonic() < this.#retryAtMs) {
        await this.#kept(place)
        return
      }
      let [newest] = await this.#kept(place)
      if (!newest || clock.now() - newest.madeMs >= everyMs) {
        await place.make(clock.now())
        newest = (await this.#kept(place))[0]
      }
      this.#makeFault = null
      await this.#removeOld(settings)
      if (newest) await this.#rehearse(place, newest.name)
    } catch (error) {
      this.#makeFault = errorMessage(error)
      this.#retryAtMs = clock.monotonic() + retryMs
      log.error({ err: error }, 'the scheduled backup could not be made; it is tried again')
    }
  }

  async #kept(place: BackupPlace): Promise<KeptBackup[]> {
    const kept = madeByNow(await place.kept(), this.#needs.clock.now())
    this.#newestMs = kept[0]?.madeMs ?? null
    return kept
  }

  /** The newer ones are there already: there is never a moment with fewer than before. */
  async #removeOld({ place, keep }: ScheduleSettings): Promise<void> {
    const kept = madeByNow(await place.kept(), this.#needs.clock.now())
    for (const { name } of kept.slice(keep)) {
      try {
        await place.remove(name)
      } catch (err) {
        this.#needs.log.warn({ err, backup: place.pathOf(name) }, 'an old backup could not be removed')
        return
      }
    }
  }

  /** Each backup is rehearsed once; one that does not come back is tried again after a while. */
  async #rehearse(place: BackupPlace, name: string): Promise<void> {
    const { clock, log, rehearse } = this.#needs
    const before = this.#recorded()
    const file = place.pathOf(name)
    if (before.file === file && before.fault === null) return
    try {
      await rehearse(await place.at(name))
      await this.#keep({ file, fault: null, goodAt: isoTime(clock.now()) })
    } catch (error) {
      const fault = errorMessage(error)
      this.#retryAtMs = clock.monotonic() + retryMs
      log.error({ file, fault }, 'the newest backup could not be restored in a rehearsal')
      await this.#keep({ file, fault, goodAt: before.goodAt })
    }
  }

  async #keep(record: Record): Promise<void> {
    this.#record = record
    await writeFileDurablyAside(this.#path, Buffer.from(`${JSON.stringify(record)}\n`))
  }

  #recorded(): Record {
    this.#record ??= parsed(readFileIfThere(this.#path))
    return this.#record
  }

  get #path(): string {
    return join(this.#needs.dataDir, 'rehearsal.json')
  }
}

function parsed(bytes: Buffer | undefined): Record {
  const none: Record = { file: '', fault: null, goodAt: null }
  try {
    return bytes ? { ...none, ...(JSON.parse(bytes.toString('utf8')) as Partial<Record>) } : none
  } catch {
    // A damaged note does not count: the newest backup is rehearsed again.
    return none
  }
}
