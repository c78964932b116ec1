import type { Tx } from '../../database/index.ts'
import type { Outbox } from '../../journal/index.ts'
import type { Log } from '../../log/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { ConfiguredCameras } from '../configured.ts'
import { type Span, without } from '../span.ts'
import type { GapCause } from '../watch.ts'
import { gapFacts } from './leaf.ts'
import { gapRecorded } from './schema.ts'
import * as store from './store.ts'

type GapLedgerNeeds = {
  readonly clock: Clock
  readonly log: Log
  readonly outbox: Outbox
  readonly makeId: () => string
  readonly cameras: ConfiguredCameras
}

/** A gap that has ended; milliseconds since the epoch. */
export type EndedGap = Span & { readonly cctvId: number; readonly cause: GapCause; readonly detail: string | null }

/** Appends gaps that have ended: row, leaf and notification in the transaction of the caller. */
export class GapLedger {
  readonly #needs: GapLedgerNeeds

  constructor(needs: GapLedgerNeeds) {
    this.#needs = needs
  }

  /** Appends what no other gap of the camera covers: nothing, one gap, or the pieces around others. */
  append(tx: Tx, { cctvId, fromMs, toMs, cause, detail }: EndedGap): void {
    const span = { fromMs: Math.round(fromMs), toMs: Math.round(toMs) }
    if (span.toMs <= span.fromMs) return
    const taken = store.gapsIn(tx, cctvId, span).map(({ from_ms, to_ms }) => ({ fromMs: from_ms, toMs: to_ms }))
    const open = store.findWatch(tx, cctvId)?.open_from_ms
    if (open != null) taken.push({ fromMs: open, toMs: Number.POSITIVE_INFINITY })
    for (const piece of without(span, taken)) this.#append(tx, { cctvId, ...piece, cause, detail })
  }

  /**
   * Records that no video of a clip was stored from the motion to the next gap. The gap ended the run that recorded the clip, so
   * the cause is the same. Later gaps do not concern the clip. Appends nothing when there was a gap at the motion already.
   */
  appendUntilNextGap(tx: Tx, cctvId: number, fromMs: number, detail: string): void {
    if (store.beginOfOverlap(tx, cctvId, fromMs) < fromMs) return
    const next = store.nextGap(tx, cctvId, fromMs)
    if (next) this.append(tx, { cctvId, fromMs, toMs: next.fromMs, cause: next.cause, detail })
  }

  #append(tx: Tx, { cctvId, fromMs, toMs, cause, detail }: EndedGap): void {
    const { clock, log, outbox, makeId, cameras } = this.#needs
    const { nextId, recordedAtMs } = store.endOfGaps(tx)
    const unsealed = {
      id: nextId,
      event_id: makeId(),
      cctv_id: cctvId,
      from_ms: fromMs,
      to_ms: toMs,
      cause,
      detail,
      recorded_at_ms: Math.max(clock.now(), recordedAtMs),
    }
    const row = { ...unsealed, ...log.append(tx, 'camera-gap', String(nextId), gapFacts(unsealed)) }
    store.appendGap(tx, row)
    outbox.created(tx, gapRecorded(row, cameras.warehouseOf(cctvId)))
  }
}
