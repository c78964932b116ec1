import type { UnitOfWork } from '../../database/index.ts'
import type { AuditFacts, AuditOrigin, AuditTrail } from '../../journal/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'

/** Events that are counted together in one row. */
type Counted = {
  readonly facts: AuditFacts
  readonly firstMs: number
  count: number
  lastMs: number
  last: AuditOrigin
}
/** `counted`: undefined while everything is written. */
type Window = { counted: Counted | undefined; readonly cancel: () => void }

const windowMs = 10 * 60_000
/** Open windows at once; above that, events are counted by action alone. */
const keptApart = 1000

type TallyNeeds = { work: UnitOfWork; audit: AuditTrail; clock: Pick<Clock, 'now' | 'after'> }

/**
 * Counts repeated events for the audit trail: one row for all that is alike within ten minutes, with count, first and last. The row
 * is appended when the window closes, so a flood cannot fill the disk. With `noteAtOnce`, the first event has a row at once,
 * because a power cut must not hide it. The row of the window counts the others.
 */
export class Tally {
  readonly #needs: TallyNeeds
  readonly #windows = new Map<string, Window>()

  constructor(needs: TallyNeeds) {
    this.#needs = needs
  }

  /**
   * Counts one event.
   * @param likeness what it has in common with others of its row
   * @param common used instead of `facts` when there are too many rows; it has no names
   */
  note(likeness: readonly unknown[], by: AuditOrigin, facts: AuditFacts, common: AuditFacts = facts): void {
    const own = JSON.stringify([facts.action, ...likeness])
    const isOwn = this.#windows.has(own) || this.#windows.size < keptApart
    const nowMs = this.#needs.clock.now()
    const key = isOwn ? own : JSON.stringify([common.action])
    this.#add(key, { facts: isOwn ? facts : common, firstMs: nowMs, lastMs: nowMs, count: 1, last: by })
  }

  /** Counts one event that a caller is accountable for. The first one within ten minutes is written at once, in a separate row. */
  noteAtOnce(likeness: readonly unknown[], by: AuditOrigin, facts: AuditFacts): void {
    const key = JSON.stringify([facts.action, ...likeness])
    const nowMs = this.#needs.clock.now()
    const one = { facts, firstMs: nowMs, lastMs: nowMs, count: 1, last: by }
    if (this.#windows.has(key)) {
      this.#add(key, one)
      return
    }
    this.#windows.set(key, { counted: undefined, cancel: this.#needs.clock.after(windowMs, () => this.#close(key)) })
    this.#write(key, one)
  }

  /** Closes every window now: before the process ends, and before a person is erased. */
  flush(): void {
    for (const key of this.#windows.keys()) this.#close(key)
  }

  #add(key: string, one: Counted): void {
    const open = this.#windows.get(key)
    if (!open) {
      this.#windows.set(key, { counted: one, cancel: this.#needs.clock.after(windowMs, () => this.#close(key)) })
      return
    }
    const { counted = { ...one, count: 0 } } = open
    const [first, last] = counted.lastMs <= one.lastMs ? [counted, one] : [one, counted]
    open.counted = { ...last, firstMs: Math.min(first.firstMs, last.firstMs), count: first.count + last.count }
  }

  #close(key: string): void {
    const window = this.#windows.get(key)
    if (!window) return
    this.#windows.delete(key)
    window.cancel()
    if (window.counted) this.#write(key, window.counted)
  }

  #write(key: string, counted: Counted): void {
    const { facts, firstMs, lastMs, count, last } = counted
    const changes = { ...facts.changes, count, first: isoTime(firstMs), last: isoTime(lastMs) }
    // If the disk refuses the row, its count goes into the next window.
    this.#needs.work
      .write((tx) => this.#needs.audit.write(tx, last, { ...facts, changes }))
      .catch(() => this.#add(key, counted))
  }
}
