import { type Clock, isoTime } from '../platform/index.ts'
import { type BoxSample, firstSampleMs } from './box.ts'

const everyMs = 60_000
/** A day of minutes: 1,440 rows of nine numbers, about 150 kB. */
export const keptMinutes = 1440

/** The figures that are kept. Null: the box could not report it. */
export const figureNames = [
  'diskFreeBytes',
  'temperatureCelsius',
  'cpuLoadPercent',
  'memoryAvailableBytes',
  'events',
  'camerasOnline',
  'deliveriesWaiting',
  'uploadsWaiting',
] as const
export type FigureName = (typeof figureNames)[number]

type Minute = Readonly<Record<FigureName, number | null>> & { readonly atMs: number }

export type LastDayNeeds = {
  readonly clock: Clock
  readonly box: () => Promise<BoxSample>
  /** Throws while the disk cannot be asked. */
  readonly freeBytes: () => number
  /** Returns the leaves of the log: all that were ever recorded. */
  readonly recorded: () => number
  readonly camerasOnline: () => number
  readonly deliveriesWaiting: () => number
  readonly uploadsWaiting: () => number
}

/** Keeps the figures of the last day in memory, one row a minute. A restart begins anew: Prometheus has the lasting figures. */
export class LastDay {
  readonly #needs: LastDayNeeds
  #minutes: Minute[] = []
  #recordedBefore: number | undefined
  #cancel: (() => void) | undefined

  constructor(needs: LastDayNeeds) {
    this.#needs = needs
  }

  start(): void {
    const round = () => {
      void this.take()
      this.#cancel = this.#needs.clock.after(everyMs, round)
    }
    this.#cancel ??= this.#needs.clock.after(firstSampleMs, round)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Takes the figures of this minute. Unreadable figures are null; never rejects. */
  async take(): Promise<void> {
    const { clock, freeBytes, recorded, camerasOnline, deliveriesWaiting, uploadsWaiting } = this.#needs
    const atMs = clock.now()
    const box = await this.#needs.box().catch(() => undefined)
    const recordedNow = orNull(recorded)
    const before = this.#recordedBefore
    this.#recordedBefore = recordedNow ?? before
    const minute = {
      atMs,
      diskFreeBytes: orNull(freeBytes),
      temperatureCelsius: rounded(box?.temperatureCelsius),
      cpuLoadPercent: rounded(box?.cpuLoadPercent),
      memoryAvailableBytes: box?.memoryAvailableBytes ?? null,
      events: recordedNow === null || before === undefined ? null : recordedNow - before,
      camerasOnline: orNull(camerasOnline),
      deliveriesWaiting: orNull(deliveriesWaiting),
      uploadsWaiting: orNull(uploadsWaiting),
    }
    this.#minutes = [...this.#minutes, minute].slice(-keptMinutes)
  }

  /** Returns the figures in columns, oldest first: `times` and one list of the same length for each figure. */
  columns(): { readonly times: string[]; readonly figures: Record<FigureName, (number | null)[]> } {
    const column = (name: FigureName) => this.#minutes.map((minute) => minute[name])
    const figures = Object.fromEntries(figureNames.map((name) => [name, column(name)]))
    return {
      times: this.#minutes.map(({ atMs }) => isoTime(atMs)),
      figures: figures as Record<FigureName, (number | null)[]>,
    }
  }
}

const rounded = (value: number | undefined) => (value === undefined ? null : Math.round(value * 10) / 10)

function orNull(read: () => number): number | null {
  try {
    return read()
  } catch {
    return null
  }
}
