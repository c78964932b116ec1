import type { UnitOfWork } from '../database/index.ts'
import type { AuditFacts, AuditOrigin, AuditTrail } from '../journal/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'

/** What is counted together in one row. */
type Counted = {
  readonly facts: AuditFacts
  readonly firstMs: number
  count: number
  lastMs: number
  last: AuditOrigin
}
type Window = { counted: Counted; readonly cancel: () => void }

const windowMs = 10 * 60_000
/** Open windows at once; above that, events are counted by action alone. */
const keptApart = 1000

type TallyNeeds = { work: UnitOfWork; audit: AuditTrail; clock: Pick<Clock, 'now' | 'after'> }

/**
 * Counts repeated events for the audit trail: one row for all that is alike within ten minutes, with count, first and
 * last. The row is appended when the window closes, so a flood cannot fill the disk.
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
    const [first, last] = open.counted.lastMs <= one.lastMs ? [open.counted, one] : [one, open.counted]
    open.counted = { ...last, firstMs: Math.min(first.firstMs, last.firstMs), count: first.count + last.count }
  }

  #close(key: string): void {
    const window = this.#windows.get(key)
    if (!window) return
    this.#windows.delete(key)
    window.cancel()
    const { facts, firstMs, lastMs, count, last } = window.counted
    const changes = { ...facts.changes, count, first: isoTime(firstMs), last: isoTime(lastMs) }
    // If the disk refuses the row, its count goes into the next window.
    this.#needs.work
      .write((tx) => this.#needs.audit.write(tx, last, { ...facts, changes }))
      .catch(() => this.#add(key, window.counted))
  }
}
