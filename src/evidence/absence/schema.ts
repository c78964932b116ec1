import { z } from '@hono/zod-openapi'
import { CameraGap } from '../../cameras/index.ts'
import { rowId, timeOut } from '../../http/index.ts'
import { HandOverProof } from '../bundle/schema.ts'

/** Contents of a statement about a slot. It is signed as a whole. */
export const untouchedShape = {
  siteId: z.string(),
  slot: z.object({ id: rowId(), slot_id: z.string(), warehouseId: rowId() }),
  from: timeOut().openapi({ description: 'inclusive' }),
  to: timeOut().openapi({ description: 'exclusive; never in the future' }),
  untouched: z.boolean().openapi({
    description: 'true: the ledger, up to the checkpoint, has no event of this slot in this time, of any type',
  }),
  events: z.array(rowId()).openapi({ description: 'ids of the events of this time, oldest first, at most 10,000' }),
  recordedAfter: z.array(rowId()).openapi({
    description: 'those of them that were recorded after the time was over, so that no one saw them in it',
  }),
  recordedWithin: z.array(rowId()).openapi({
    description: 'events of this slot that were recorded in this time and state another time; at most 10,000',
  }),
  watchedShare: z.number().openapi({
    description:
      'share of the time in which at least one of the cameras watched, so that it would have found motion, 0 to 1; 0 without a camera. While a camera was covered, turned or still it did not watch',
  }),
  cameras: z
    .array(
      z.object({
        cctvId: rowId(),
        watchedShare: z.number(),
        knownSince: timeOut().nullable(),
        detections: z.array(rowId()).openapi({ description: 'motion that it recorded in this time, newest first' }),
      }),
    )
    .openapi({ description: 'the cameras whose config names this slot now, as far as the caller may see them' }),
  otherCameras: z.boolean().openapi({ description: 'the slot has cameras that the caller may not see; not counted' }),
  gaps: z.array(CameraGap).openapi({ description: 'when they did not watch, and why; newest first, camera by camera' }),
  complete: z.boolean().openapi({
    description: 'false: a list was too long and has only a part; `untouched` and `watchedShare` count all',
  }),
  madeAt: timeOut().openapi({ description: 'by the clock of the gateway' }),
  lateEventsUntil: timeOut().nullable().openapi({
    description:
      'until when the gateway takes events about this time (ledger.maxAge, while its clock is synchronised); null: for ever. Later events are not covered: ask again',
  }),
  checkpoint: z
    .object({
      logId: z.string(),
      size: z.int().openapi({ description: 'number of leaves; nothing behind them was read' }),
      rootHash: z.string().openapi({ format: 'byte' }),
      note: z.string().openapi({ description: 'the checkpoint as a signed note' }),
    })
    .openapi({ description: 'covers every leaf that was on disk at madeAt' }),
  key: z.string().openapi({ description: 'verifier key of the signature; compare it with one that you know' }),
  handOvers: z.array(HandOverProof).optional().openapi({
    description: 'after a rotation of the keys of the log: an earlier key leads to `key`, as in a proof bundle',
  }),
}

const Untouched = z.object(untouchedShape)
export type Untouched = z.infer<typeof Untouched>

/** The answer: the statement, and the same as a signed note. */
export const untouchedAnswer = {
  ...untouchedShape,
  note: z.string().openapi({
    description:
      'the statement as a signed note (c2sp.org/signed-note): a first line, the RFC 8785 JSON of all fields but `success` and `note`, the signature',
  }),
}
