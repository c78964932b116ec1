import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import type { SilenceIn, SilenceOut } from './schema.ts'
import type { Silence } from './selection.ts'
import * as store from './store.ts'

/** A longer silence is a config without the channel. */
const longestMs = 30 * 86_400_000

type SilencesNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly audit: AuditTrail
}

/** Times of planned work, in which messages about alerts wait. An alert that is still open afterwards is reported then. */
export class Silences {
  readonly #needs: SilencesNeeds

  constructor(needs: SilencesNeeds) {
    this.#needs = needs
  }

  /** Returns present and future silences, the newest first. */
  list(): SilenceOut[] {
    const nowMs = this.#needs.clock.now()
    return this.#needs.work.read((tx) => store.silencesUntil(tx, nowMs)).map((one) => asOut(one, nowMs))
  }

  /** Throws VALIDATION_ERROR. */
  add(silence: SilenceIn, by: RequestOrigin): Promise<SilenceOut & { readonly success: true }> {
    const { work, clock, audit } = this.#needs
    return work.write((tx) => {
      const nowMs = clock.now()
      const { until: untilMs, from: fromMs = nowMs, kinds = [], warehouses = [], reason } = silence
      if (untilMs <= Math.max(fromMs, nowMs))
        throw AppError.field('until', 'expected a time after `from` and after now')
      if (untilMs - fromMs > longestMs) throw AppError.field('until', 'expected at most 30 days after `from`')
      const one = { fromMs, untilMs, kinds, warehouses, reason }
      const id = store.addSilence(tx, one, nowMs)
      const changes = { from: isoTime(fromMs), until: isoTime(untilMs), kinds, warehouses, reason }
      audit.write(tx, by, { action: 'alerts.silenced', entity: 'alert', changes: { silence: id, ...changes } })
      return { success: true as const, ...asOut({ id, ...one }, nowMs) }
    })
  }

  /** Ends a silence now; one that has ended stays as it is. Throws NOT_FOUND. */
  end(id: number | undefined, by: RequestOrigin): Promise<SilenceOut & { readonly success: true }> {
    const { work, clock, audit } = this.#needs
    return work.write((tx) => {
      const nowMs = clock.now()
      const one = id === undefined ? undefined : store.findSilence(tx, id)
      if (!one) throw AppError.notFound('Silence')
      if (one.untilMs <= nowMs) return { success: true as const, ...asOut(one, nowMs) }
      const untilMs = Math.max(nowMs, one.fromMs)
      store.endSilence(tx, one.id, untilMs)
      audit.write(tx, by, { action: 'alerts.silence_ended', entity: 'alert', changes: { silence: one.id } })
      return { success: true as const, ...asOut({ ...one, untilMs }, nowMs) }
    })
  }
}

const asOut = ({ id, fromMs, untilMs, kinds, warehouses, reason }: Silence, nowMs: number): SilenceOut => ({
  ...{ id, from: isoTime(fromMs), until: isoTime(untilMs), kinds: [...kinds], warehouses: [...warehouses], reason },
  isActive: fromMs <= nowMs && nowMs < untilMs,
})
