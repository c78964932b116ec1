/** Names for the shapes of the API that several views use. The description of the API has the shapes themselves. */
import type { Answer, Shape } from './api.ts'

export type Session = Shape<'Session'>
/** `instance`: the server that verified the name; the same name elsewhere is another person. */
export type Person = NonNullable<Session['caller']>
export type SignedIn = Omit<Person, 'instance'>
export type Permission = SignedIn['permissions'][number]

export type List<T> = { readonly data: readonly T[] }

/** A page of a list. `total`: null when there are too many to count. */
export type Page<T> = List<T> & {
  readonly pagination: Pick<Shape<'Pagination'>, 'total' | 'hasMore' | 'nextCursor'>
}

export type Slot = Omit<Shape<'Slot'>, 'version' | 'createdAt' | 'updatedAt'>
export type Point = Slot['floor_plan_polygon'][number]
export type Zone = Shape<'Zone'>
export type Warehouse = Shape<'Warehouse'>
export type PlanImage = NonNullable<Shape<'FloorPlanImage'>>
/** Where the picture of a hall lies on its plan; `rotation` in degrees clockwise around its middle. */
export type ImagePlace = PlanImage['place']

export type PlacementEvent = Shape<'PlacementEvent'>
/** Its time is missing where the stream tells it. */
export type Health = Pick<Shape<'Health'>, 'status'> &
  Partial<Pick<Shape<'Health'>, 'timestamp'>> & {
    readonly checks: Readonly<Record<string, Pick<Shape<'Health'>['checks'][string], 'status' | 'reason'>>>
  }
export type Utilization = Shape<'Utilization'>
export type Webhook = Shape<'WebhookItem'>
export type Alert = Shape<'AlertItem'>

/** The part of a camera that the floor shows. */
export type Camera = Pick<
  Shape<'Camera'>,
  'id' | 'name' | 'enabled' | 'state' | 'problem' | 'problemCode' | 'online' | 'lastFrameAt'
>
type Motion = Shape<'Camera'>['motion']
export type ListedCamera = Camera &
  Pick<Shape<'Camera'>, 'purpose' | 'warehouseId' | 'slots' | 'scene' | 'impairment' | 'analytics'> & {
    readonly motion: Pick<Motion, 'running' | 'area'> & { readonly settings: Pick<Motion['settings'], 'sensitivity'> }
  }
/** Corners in parts of the picture's width and height, from the upper left. */
export type Polygon = NonNullable<ListedCamera['motion']['area']>['masks'][number]
export type Detection = Pick<
  Shape<'DetectionEvent'>,
  'id' | 'cctvId' | 'timestamp' | 'duration' | 'clipUrls' | 'clipStatus' | 'removal'
>
export type ObjectDetection = Shape<'ObjectDetection'>

export type ScanAnswer = Answer<'/api/whms/scan/{code}'>
export type ScanMatch = Shape<'ScanMatch'>
export type Asset = Shape<'ScannedAsset'>
export type TransportUnit = Shape<'TransportUnitItem'>

export type Story = Answer<'/api/whms/assets/{barcode}/story'>
export type StoryStep = Shape<'StoryStep'>
type Footage = Answer<'/api/whms/events/{id}/footage'>
type WatchingClip = Footage['watching'][number]['clips'][number]
export type EventFootage = Pick<Footage, 'clips' | 'reason' | 'detail'> & {
  readonly gaps: readonly Gap[]
  /** All that each camera recorded around the moment. `offsetSeconds`: of the moment in the clip; null: it does not show it. */
  readonly watching: readonly {
    readonly clips: readonly (Pick<WatchingClip, 'offsetSeconds'> & {
      readonly detection: Pick<WatchingClip['detection'], 'removal'>
    })[]
  }[]
}
export type Gap = Pick<Shape<'CameraGap'>, 'cctvId' | 'from' | 'to' | 'cause' | 'detail'>
export type Watched = Pick<Answer<'/api/iot/cctv/{id}/watched'>, 'watchedShare' | 'detections'> & {
  readonly gaps: readonly Gap[]
}
export type Evidence = Shape<'Evidence'>
type SlotName = Pick<Shape<'SlotName'>, 'id' | 'slot_id'>
/** A later version of the gateway may know more kinds. */
export type Discrepancy = Omit<Shape<'Discrepancy'>, 'kind' | 'slot' | 'otherSlot'> & {
  readonly kind: string
  readonly slot: SlotName
  readonly otherSlot: SlotName | null
}

export type Receipt = Answer<'/api/whms/transport-units/{id}/receipt'>
/** The part of a proof bundle that is read without checking it. */
export type LeafProof = Pick<Shape<'ProofBundle'>, 'leaf' | 'tlogProof'>
