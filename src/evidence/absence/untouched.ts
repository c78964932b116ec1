import type { ConfiguredCameras, Gaps } from '../../cameras/index.ts'
import type { UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import {
  beforeFirstTouch,
  type EventPlace,
  lastIdReceivedBy,
  lastIdUpToSeq,
  touchesOfSlot,
} from '../../ledger/index.ts'
import { canonicalJson, type Json, type Log } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { WarehouseService } from '../../warehouse/index.ts'
import { handOverProofs } from '../bundle/hand-over-proofs.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import type { LogSigner } from '../transparency/keys.ts'
import { signedNote } from '../transparency/published-log.ts'
import type { Untouched } from './schema.ts'

/** Ids in a list of a statement. */
const mostIds = 10_000
const mostGaps = 1000

export type AbsenceNeeds = {
  readonly work: UnitOfWork
  readonly logRoom: Log
  readonly warehouse: Pick<WarehouseService, 'slotByPath'>
  readonly cameras: Pick<ConfiguredCameras, 'watching'>
  readonly gaps: Pick<Gaps, 'sight'>
  readonly checkpoints: Pick<Checkpoints, 'covering'>
  readonly signer: () => LogSigner
  /** The time of the gateway's clock, in milliseconds. */
  readonly nowMs: () => number
  /** `ledger.maxAge` */
  readonly maxAgeMs: () => number | null
}

type Asked = { readonly path: string; readonly byLabel: boolean; readonly from: number; readonly to: number }

/** Ids of events, by how they touch a time. */
type Touches = Pick<Untouched, 'events' | 'recordedAfter' | 'recordedWithin'>

/** Says that nothing happened at a slot, in a form that its reader can keep and check. */
export class Absence {
  readonly #needs: AbsenceNeeds

  constructor(needs: AbsenceNeeds) {
    this.#needs = needs
  }

  /**
   * States whether any event touched a slot in a time that is over, and how much of the time cameras saw the slot. It uses only the
   * leaves that its checkpoint covers. Rejects with NOT_FOUND for a slot that is not there or hidden. Rejects with VALIDATION_ERROR
   * for a time that is empty or not over. Rejects with NOT_READY while no checkpoint can be made.
   */
  async untouched({ path, byLabel, from, to }: Asked, caller: Caller): Promise<{ statement: Untouched; note: string }> {
    const { work, logRoom, warehouse, cameras, gaps, checkpoints, signer, maxAgeMs } = this.#needs
    const { id, slot_id, warehouseId } = work.read((tx) => warehouse.slotByPath(tx, path, byLabel, caller))
    const madeAtMs = this.#needs.nowMs()
    if (to <= from) throw AppError.field('to', 'must be later than from')
    if (to > madeAtMs) {
      throw AppError.field('to', `is not over: the clock of the gateway says ${isoTime(madeAtMs)}. Ask again later`)
    }
    const { siteId, logId, number } = logRoom.identity
    // The size is taken at once: whatever is on disk by madeAt is covered.
    const checkpoint = await checkpoints.covering(number, logRoom.size)
    const touches = await this.#touches(id, { from, to }, checkpoint.size)
    const watching = cameras.watching(slot_id, caller)
    const span = { fromMs: from, toMs: to }
    const ids = watching.visible.map((camera) => camera.id)
    const sight = await gaps.sight(ids, span)
    const found = sight.cameras.flatMap((camera) => camera.gaps)
    const lists = [touches.events, touches.recordedWithin]
    const late = maxAgeMs()
    const handOvers = work.read((tx) => handOverProofs(tx, number))
    const statement: Untouched = {
      siteId,
      slot: { id, slot_id, warehouseId },
      from: isoTime(from),
      to: isoTime(to),
      untouched: touches.events.length === 0,
      events: touches.events.slice(0, mostIds),
      recordedAfter: touches.recordedAfter.slice(0, mostIds),
      recordedWithin: touches.recordedWithin.slice(0, mostIds),
      watchedShare: sight.watchedShare,
      cameras: sight.cameras.map(({ cctvId, watchedShare, knownSince, detections }) => ({
        cctvId,
        watchedShare,
        knownSince,
        detections,
      })),
      otherCameras: watching.hidden > 0,
      gaps: found.slice(0, mostGaps),
      complete:
        lists.every(({ length }) => length <= mostIds) &&
        found.length <= mostGaps &&
        sight.cameras.every((camera) => camera.complete),
      madeAt: isoTime(madeAtMs),
      lateEventsUntil: late === null ? null : isoTime(to + late),
      checkpoint: {
        logId,
        size: checkpoint.size,
        rootHash: checkpoint.root.toString('base64'),
        note: work.read((tx) => signedNote(tx, checkpoint)),
      },
      key: signer().vkeys[0],
      // A bundle is JSON of fixed keys; its type has readonly lists, which that of a schema has not.
      ...(handOvers.length > 0 && { handOvers: handOvers as unknown as NonNullable<Untouched['handOvers']> }),
    }
    // Made of JSON alone; the type Json has no optional keys.
    return { statement, note: signer().state('untouched', canonicalJson(statement as unknown as Json)) }
  }

  /**
   * Reads the whole history of the slot: an event that was recorded in the time may state any other. It continues when the client
   * has gone, because a list that ended early must not be signed.
   */
  async #touches(
    slotId: number,
    { from, to }: { readonly from: number; readonly to: number },
    logSize: number,
  ): Promise<Touches> {
    const { work, logRoom } = this.#needs
    const { lastId, before, within } = work.read((tx) => ({
      lastId: lastIdUpToSeq(tx, logSize, logRoom.identity.number),
      before: lastIdReceivedBy(tx, from - 1),
      within: lastIdReceivedBy(tx, to - 1),
    }))
    const found = { events: [] as number[], recordedAfter: [] as number[], recordedWithin: [] as number[] }
    const slices = work.readInSlices<EventPlace[], EventPlace>(beforeFirstTouch, (tx, place) =>
      touchesOfSlot(tx, slotId, place),
    )
    for await (const slice of slices) {
      for (const { id, timestampMs } of slice) {
        if (id > lastId) continue
        const isIn = timestampMs >= from && timestampMs < to
        if (isIn) found.events.push(id)
        if (isIn && id > within) found.recordedAfter.push(id)
        if (!isIn && id > before && id <= within) found.recordedWithin.push(id)
      }
    }
    return found
  }
}
