/** The API's answers, as far as the page uses them. */
import type { MediaRemoval } from './ask.ts'

export type Session = {
  readonly siteId: string
  readonly instance: string
  readonly storageInstances: readonly string[]
  readonly caller: Person | null
  readonly csrfToken: string | null
}

export type SignedIn = {
  readonly username: string
  readonly role: string
  readonly permissions: readonly string[]
  /** Why the role is lower than that of the account, for a while. */
  readonly withheld?: string
  /** `missing`: the role needs one, and nothing else works until it is set up. */
  readonly secondFactor?: 'missing' | 'stale'
}

/** `instance`: the server that verified the name; the same name elsewhere is another person. */
export type Person = SignedIn & { readonly instance: string }

export type List<T> = { readonly data: readonly T[] }

/** A page of a list. `total`: null when there are too many to count. */
export type Page<T> = List<T> & {
  readonly pagination: { readonly total: number | null; readonly hasMore: boolean; readonly nextCursor: string | null }
}

export type Point = { readonly x: number; readonly y: number }

export type Slot = {
  readonly id: number
  readonly slot_id: string
  readonly warehouseId: number
  readonly zone: string
  readonly zoneId: number | null
  readonly zone_type: string | null
  readonly floor_plan_polygon: readonly Point[]
  readonly constraints: Constraints | null
  readonly retiredAt: string | null
  readonly isOccupied: boolean
  readonly assetBarcode: string | null
  readonly isVerified?: boolean
  readonly isDisputed?: boolean
}

export type Constraints = {
  readonly max_weight?: number
  readonly max_height?: number
  readonly allowed_types?: readonly string[]
}

export type Zone = {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly warehouseId: number
  /** As somebody drew it; null: it is where its slots are. */
  readonly floor_plan_polygon: readonly Point[] | null
}

/** Where the picture of a hall lies on its plan; `rotation` in degrees clockwise around its middle. */
export type ImagePlace = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly rotation: number
  readonly opacity: number
}

export type PlanImage = {
  readonly sha256: string
  readonly widthPx: number
  readonly heightPx: number
  readonly place: ImagePlace
}

export type Warehouse = {
  readonly id: number
  readonly name: string
  readonly timezone: string
  readonly floorPlanImage: PlanImage | null
}

export type PlacementEvent = {
  readonly id: number
  readonly event_type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slot_id: number
  readonly slot_code: string
  readonly asset_barcode: string
  /** The barcode as it is compared. */
  readonly asset_key: string
  readonly operator: string | null
  readonly timestamp: string
  readonly received_at: string
  readonly photo_sha256: string | null
  readonly photoEvidence: 'held' | 'claimed' | 'opening_list' | 'count' | null
  readonly scale_weight_kg: number | null
  /** The transport unit or order that the move was for. */
  readonly work_order_ref: string | null
  readonly verification_notes: string | null
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

export type Health = {
  /** Absent where the stream tells it. */
  readonly timestamp?: string
  readonly checks: Readonly<Record<string, { readonly status: string; readonly reason?: string }>>
}

export type Utilization = {
  readonly totalSlots: number
  readonly occupiedSlots: number
  readonly utilizationPercent: number
  readonly pendingVerifications: number
  readonly byZone: readonly { readonly zone: string; readonly occupied: number; readonly total: number }[]
}

export type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly active: boolean
  readonly hold: boolean
  readonly checkpoint: boolean
  readonly status: 'active' | 'failing' | 'disabled'
  readonly consecutiveFailures: number
  readonly pacing: { readonly slowedSince: string; readonly nextAttemptAt: string | null } | null
}

export type Alert = { readonly id: number; readonly message: string; readonly createdAt: string }

/** An alert with its subject. */
export type AlertOf = Alert & { readonly kind: string; readonly subject: string }

export type Camera = {
  readonly id: number
  readonly name: string
  readonly enabled: boolean
  readonly state: string
  readonly problem: string | null
  /** Which problem that is. */
  readonly problemCode: string | null
  readonly online: boolean
  readonly lastFrameAt: string | null
}

/** A camera as it is listed. */
export type ListedCamera = Camera & {
  readonly purpose: string | null
  /** Null when the caller may not see it. */
  readonly warehouseId: number | null
  readonly slots: readonly string[]
  readonly scene: { readonly state: string; readonly forSeconds: number } | null
  /** Why motion cannot be found though pictures come. */
  readonly impairment: { readonly why: string; readonly forSeconds: number } | null
  readonly motion: {
    readonly running: boolean
    readonly settings: { readonly sensitivity: number }
    /** Null: the caller may not change how the camera detects motion. */
    readonly area: { readonly masks: readonly Polygon[]; readonly zones: readonly Polygon[] } | null
  }
}

/** Corners in parts of the picture's width and height, from the upper left. */
export type Polygon = readonly Point[]

export type Detection = {
  readonly id: number
  readonly cctvId: number
  readonly timestamp: string
  readonly duration: number | null
  readonly clipUrls: { readonly playback: string | null; readonly snapshot: string | null }
  readonly clipStatus: string
  readonly removal: MediaRemoval | null
}

export type ScanAnswer = {
  readonly code: string
  readonly kind: string
  readonly barcode: {
    readonly gs1: Readonly<Record<string, string>> | null
    readonly warnings: readonly { readonly code: string; readonly message: string }[]
  }
  readonly matches: readonly ScanMatch[]
}

export type ScanMatch = {
  readonly kind: string
  readonly id: number | string
  readonly slot?: Slot
  readonly asset?: Asset
  readonly location?: { readonly slot: Slot | null; readonly since: string | null } | null
  readonly resource?: Partial<TransportUnit>
}

export type Asset = {
  readonly asset_id: string
  readonly type: string | null
  readonly weight_kg: number | null
  readonly sscc: string | null
  readonly gtin: string | null
  readonly lot: string | null
  readonly bestBefore: string | null
  readonly serial: string | null
  /** Known from events only: no one has registered it. */
  readonly provisional: boolean
}

export type TransportUnit = {
  readonly id: string
  readonly reference: string
  readonly direction: string
  readonly stage: string
  readonly status: string
  readonly carrier: string | null
  readonly vehicle: string | null
  readonly updatedAt: string
}

export type StoryStep = {
  readonly event: PlacementEvent & { readonly count: { readonly id: number } | null; readonly time_quality: string }
  readonly slot: { readonly id: number; readonly slot_id: string }
  readonly timezone: string
  readonly until: string | null
  readonly photo: { readonly evidence: string | null; readonly url: string | null; readonly sha256: string | null }
  readonly weightKg: number | null
  readonly operator: string | null
  readonly verification: 'verified' | 'disputed' | 'none' | null
  readonly judgements: readonly PlacementEvent[]
  readonly corrects: number | null
  readonly correctedBy: readonly number[]
  readonly footage: {
    readonly cameras: readonly { readonly cctvId: number; readonly name: string }[]
    readonly reason: string | null
  }
}

export type Story = List<StoryStep> & {
  readonly pagination: Page<StoryStep>['pagination']
}

export type Gap = {
  readonly cctvId: number
  readonly from: string
  readonly to: string | null
  readonly cause: string
  readonly detail: string | null
}

export type Film = {
  readonly detectionId: number
  readonly cctvId: number
  readonly from: string
  readonly to: string
  readonly url: string
}

export type EventFootage = {
  readonly clips: readonly Film[]
  /** All that each camera recorded around the moment. `offsetSeconds`: of the moment in the clip; null: it does not show it. */
  readonly watching: readonly {
    readonly clips: readonly {
      readonly detection: { readonly removal: MediaRemoval | null }
      readonly offsetSeconds: number | null
    }[]
  }[]
  readonly gaps: readonly Gap[]
  readonly reason: string | null
  readonly detail: string | null
}

export type Watched = {
  readonly watchedShare: number
  readonly gaps: readonly Gap[]
  readonly detections: readonly number[]
}

export type Evidence = {
  readonly state: 'recorded' | 'signed' | 'witnessed' | 'timestamped'
  readonly signedAt?: string | null
  readonly witnesses?: readonly { readonly name: string; readonly at: string }[]
  readonly timestampedAt?: string | null
}

/** The part of a proof bundle that is read without checking it. */
export type LeafProof = { readonly leaf: string; readonly tlogProof: string }

type State = 'recorded' | 'signed' | 'witnessed' | 'timestamped'
type ReceiptRow = {
  readonly timestamp: string
  readonly weightKg: number | null
  readonly photos: readonly { readonly sha256: string; readonly url: string }[]
  readonly evidence: { readonly state: State }
}

/** The fields that the person who handed a transport unit over may see and keep. */
export type Receipt = {
  readonly unit: {
    readonly id: string
    readonly reference: string
    readonly sscc: string | null
    readonly direction: 'inbound' | 'outbound'
    readonly carrier: string | null
    readonly vehicle: string | null
    readonly stage: string
    readonly status: string
    readonly siteId: string
    readonly warehouse: string
    readonly timezone: string
    readonly weightKg: number | null
    readonly steps: readonly (ReceiptRow & {
      readonly eventId: string
      readonly action: string
      readonly stage: string
    })[]
  }
  readonly placements: readonly (ReceiptRow & {
    readonly id: number
    readonly event_type: 'PLACED' | 'REMOVED'
    readonly asset_barcode: string
    readonly slot_code: string
  })[]
  readonly complete: boolean
  readonly proofs: readonly {
    readonly kind: 'unit-step' | 'event'
    readonly id: string
    readonly bundle: LeafProof & { readonly handOvers?: readonly LeafProof[] }
  }[]
  readonly checkpoint: { readonly size: number; readonly signedAt: string; readonly note: string; readonly key: string }
  readonly links: { readonly consistency: string; readonly zip: string }
}

export type Discrepancy = {
  readonly id: string
  readonly kind: string
  readonly what: string
  readonly todo: string
  readonly since: string
  readonly slot: SlotName
  readonly assetBarcode: string | null
  readonly otherSlot: SlotName | null
  readonly otherAssetBarcode: string | null
  readonly countId: number | null
  /** Only for `removed_elsewhere`: whether the newest placement of the pallet is here, so that its location is this slot. */
  readonly lastPlacedHere: boolean | null
  /** The events that prove it, oldest first. */
  readonly eventIds: readonly number[]
}

type SlotName = { readonly id: number; readonly slot_id: string }

export type ObjectDetection = {
  readonly enabled: boolean
  readonly confidenceThreshold: number
  readonly maxDetections: number
  readonly fps: number
  readonly model: {
    readonly sha256: string
    readonly width: number
    readonly height: number
    readonly layout: 'columns' | 'rows'
    readonly labels: readonly string[] | null
  } | null
  readonly problem: string | null
}
