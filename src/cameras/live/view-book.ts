import type { UnitOfWork } from '../../database/index.ts'
import { identityOf, type RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import { type Clock, isoTime, type Logger } from '../../platform/index.ts'
import type { LiveFormat } from '../../video/index.ts'

/** A view that begins again within this time counts as continued: a page was reloaded, or the camera was away. */
const pauseMs = 30_000
/** A long view is written in parts, so that a power cut loses at most this. */
const partMs = 60 * 60_000

export type View = { readonly cctvId: number; readonly format: LiveFormat; readonly by: RequestOrigin }

type Entry = {
  readonly view: View
  fromMs: number
  /** When the last connection ended; used while none is open. */
  toMs: number
  open: number
  cancel: () => void
}

type ViewBookNeeds = {
  readonly work: Pick<UnitOfWork, 'write'>
  readonly audit: AuditTrail
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Logger
}

/**
 * Writes live views into the audit trail. A row is written as soon as one caller sees one camera, so that a power cut hides no
 * view. A row with the span follows when the view has ended.
 */
export class ViewBook {
  readonly #needs: ViewBookNeeds
  readonly #entries = new Map<string, Entry>()

  constructor(needs: ViewBookNeeds) {
    this.#needs = needs
  }

  /** Notes that a view begins. Returns a function that notes its end. */
  begin(view: View): () => void {
    const key = JSON.stringify([identityOf(view.by.caller), view.cctvId, view.format])
    const entry = this.#entries.get(key) ?? this.#open(key, view)
    entry.open += 1
    if (entry.open === 1) this.#later(key, entry, partMs)
    return () => {
      entry.open -= 1
      entry.toMs = this.#needs.clock.now()
      if (entry.open === 0 && this.#entries.get(key) === entry) this.#later(key, entry, pauseMs)
    }
  }

  /** Writes all views as they are now: before the process ends, and before a person is erased. */
  async flush(): Promise<void> {
    await Promise.all([...this.#entries].map(([key, entry]) => this.#write(key, entry)))
  }

  #open(key: string, view: View): Entry {
    const nowMs = this.#needs.clock.now()
    const entry = { view, fromMs: nowMs, toMs: nowMs, open: 0, cancel: () => {} }
    this.#entries.set(key, entry)
    this.#noteBegin(view)
    return entry
  }

  /** A row that the disk refuses is not tried again, because the row of the end states when the view began. */
  #noteBegin(view: View): void {
    const { cctvId, format } = view
    const facts = { action: 'camera.view_began', entity: 'camera', entityId: cctvId, changes: { format } } as const
    const { work, audit, log } = this.#needs
    void work
      .write((tx) => audit.write(tx, view.by, facts))
      .catch((err: unknown) => log.error({ err, cctvId }, 'the begin of a live view could not be noted'))
  }

  #later(key: string, entry: Entry, ms: number): void {
    entry.cancel()
    entry.cancel = this.#needs.clock.after(ms, () => void this.#write(key, entry))
  }

  /** Writes the span up to now. A view that has not ended continues in another row; a row that the disk refuses is longer later. */
  async #write(key: string, entry: Entry): Promise<void> {
    const { view, fromMs } = entry
    const toMs = entry.open > 0 ? this.#needs.clock.now() : entry.toMs
    entry.cancel()
    try {
      await this.#needs.work.write((tx) => this.#needs.audit.write(tx, view.by, factsOf(view, fromMs, toMs)))
      entry.fromMs = toMs
      if (entry.open === 0) this.#entries.delete(key)
    } catch (err) {
      this.#needs.log.error({ err, cctvId: view.cctvId }, 'a live view could not be noted; it is tried again')
    }
    if (this.#entries.get(key) === entry) this.#later(key, entry, entry.open > 0 ? partMs : pauseMs)
  }
}

function factsOf({ cctvId, format }: View, fromMs: number, toMs: number) {
  const span = { from: isoTime(fromMs), to: isoTime(toMs), seconds: Math.round((toMs - fromMs) / 1000) }
  return { action: 'camera.viewed', entity: 'camera', entityId: cctvId, changes: { format, ...span } } as const
}
