import { z } from '@hono/zod-openapi'
import { CameraGap, DetectionEvent, detectionShape } from '../cameras/index.ts'
import { historyQuery, listOf, resource, rowId, sha256Hex, timeOut } from '../http/index.ts'
import { PlacementEvent } from '../ledger/index.ts'
import { SlotName, whenQuery } from './schema.ts'

export const traceQuery = z.object({ ...historyQuery, ...whenQuery, cursor: z.string().max(64).optional() })

export const endings = ['removed', 'other_asset_removed', 'replaced', 'placed_again', 'moved'] as const

const Stay = z
  .object({
    slot: SlotName,
    asset_barcode: z.string(),
    from: timeOut(),
    to: timeOut().nullable().openapi({ description: 'null: the asset is still there' }),
    seconds: z.number().nullable(),
    isVerified: z.boolean(),
    isDisputed: z.boolean(),
    placed: PlacementEvent.openapi({ description: 'the event that began it' }),
    ended: z.union([PlacementEvent, z.null()]).openapi({ description: 'the event that ended it' }),
    endedBy: z
      .enum(endings)
      .nullable()
      .openapi({
        description:
          'removed · other_asset_removed: another pallet was removed from here · replaced: another pallet was placed here · ' +
          'placed_again · moved: it was placed in another slot',
      }),
    judgements: z.array(PlacementEvent).openapi({ description: 'VERIFIED and DISPUTED of this stay, oldest first' }),
  })
  .openapi('Stay')
export type Stay = z.infer<typeof Stay>
export const StayList = listOf(Stay)

export const footageReasons = [
  'no_camera',
  'camera_not_visible',
  'pending',
  'no_motion',
  'gap',
  'cooldown',
  'lost',
  'expired',
] as const
export type FootageReason = (typeof footageReasons)[number]

const Clip = z
  .object({
    detection: DetectionEvent,
    offsetSeconds: z.number().nullable().openapi({
      description: 'position of the event in the clip; null: the clip began later or ended earlier',
    }),
  })
  .openapi('FootageClip')

const reason = () =>
  z
    .enum(footageReasons)
    .nullable()
    .openapi({
      description:
        'why there is no clip to play; null: there is one. no_camera: no camera covers the slot · camera_not_visible: one ' +
        'does, but the caller may not see it · pending: still being recorded · no_motion: the camera watched all of this window, ' +
        'and nothing moved · gap: it did not watch all of it, so something may have moved unseen · cooldown: no clip ' +
        'is cut so soon after the previous one · lost · expired: removed by retention',
    })

const CameraFootage = z
  .object({ cctvId: rowId(), name: z.string(), clips: z.array(Clip), reason: reason() })
  .openapi('CameraFootage')

const footageShape = {
  cctv_clip_url: z.string().nullable().openapi({ description: 'as sent with the event; never fetched' }),
  windowSeconds: z.int().openapi({ description: 'the time around the event that was searched' }),
  cameras: z.array(CameraFootage),
  reason: reason(),
}
const Footage = z.object(footageShape).openapi('Footage')
export type Footage = z.infer<typeof Footage>

const Film = z
  .object({
    detectionId: rowId(),
    cctvId: rowId(),
    from: timeOut().openapi({ description: 'time of the first picture' }),
    to: timeOut().openapi({ description: 'time of the last picture' }),
    url: z.string(),
    sha256: sha256Hex(),
    cameraClock: detectionShape.cameraClock,
    kind: detectionShape.kind,
  })
  .openapi('EventFilm')

export const eventFootageReasons = ['no_camera', 'camera_not_visible', 'gap', 'not_kept', 'expired', 'pending'] as const

const eventFootageShape = {
  eventId: rowId(),
  timestamp: timeOut(),
  slot_code: z.string(),
  cctv_clip_url: footageShape.cctv_clip_url,
  cameras: z.array(rowId()).openapi({ description: 'ids of the cameras that watch the slot' }),
  clips: z.array(Film).openapi({ description: 'films that show the moment of the event' }),
  pending: z.array(z.object({ detectionId: rowId(), cctvId: rowId(), url: z.string() })).openapi({
    description: 'films that are being made, under the addresses that they will have; 503 CLIP_PENDING until then',
  }),
  gaps: z.array(CameraGap).openapi({ description: 'when these cameras did not watch, around the event' }),
  reason: z
    .enum(eventFootageReasons)
    .nullable()
    .openapi({
      description:
        'why there is no film; null: there is one. no_camera: no camera watches the slot · camera_not_visible: one does, but ' +
        'the caller may not see it · gap: nothing was recorded at that moment · not_kept: a camera watched, but no video of the ' +
        'moment was kept: the event came too late for its film, and no continuous video reaches back to it · expired: removed ' +
        'by retention · pending: it is being made',
    }),
  detail: z.string().nullable().openapi({
    description: 'why the film of the event was lost or not kept, or that the cameras came later, in words',
  }),
  windowSeconds: footageShape.windowSeconds,
  watching: z
    .array(CameraFootage)
    .openapi({ description: 'all that each camera recorded in this window, nearest first' }),
}
export type EventFootage = z.infer<z.ZodObject<typeof eventFootageShape>>
export const FootageResource = resource(eventFootageShape)

const StoryStep = z
  .object({
    event: PlacementEvent,
    slot: SlotName,
    timezone: z.string().openapi({ description: 'time zone of the warehouse of the slot', example: 'Europe/Berlin' }),
    until: timeOut()
      .nullable()
      .openapi({ description: 'end of the stay; after a removal, time of the next move of this asset' }),
    photo: z.object({
      evidence: z.enum(['held', 'claimed', 'opening_list', 'count']).nullable(),
      url: z.string().nullable(),
      sha256: sha256Hex().nullable(),
      takenAt: timeOut().nullable(),
    }),
    weightKg: z.number().nullable(),
    operator: z.string().nullable(),
    actor: z.string().nullable(),
    verification: z.enum(['verified', 'disputed', 'none']).nullable().openapi({ description: 'null for a removal' }),
    judgements: z.array(PlacementEvent),
    corrects: rowId().nullable(),
    correctedBy: z.array(rowId()),
    footage: Footage,
  })
  .openapi('StoryStep')
export type StoryStep = z.infer<typeof StoryStep>
export const StoryList = listOf(StoryStep)
