/** The API's answers, as far as the page uses them. */

export type Session = {
  readonly siteId: string
  readonly instance: string
  readonly storageInstances: readonly string[]
  readonly caller: SignedIn | null
  readonly csrfToken: string | null
}

export type SignedIn = { readonly username: string; readonly role: string; readonly permissions: readonly string[] }

export type List<T> = { readonly data: readonly T[] }

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

export type Zone = { readonly id: number; readonly name: string; readonly color: string; readonly warehouseId: number }

export type Warehouse = { readonly id: number; readonly name: string; readonly timezone: string }

export type PlacementEvent = {
  readonly id: number
  readonly event_type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slot_id: number
  readonly slot_code: string
  readonly asset_barcode: string
  readonly operator: string | null
  readonly timestamp: string
  readonly received_at: string
  readonly photo_sha256: string | null
  readonly photoEvidence: 'held' | 'claimed' | 'opening_list' | 'count' | null
  readonly scale_weight_kg: number | null
  readonly verification_notes: string | null
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

export type Health = {
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
  readonly status: 'active' | 'failing' | 'disabled'
  readonly consecutiveFailures: number
}

export type Alert = { readonly id: number; readonly message: string; readonly createdAt: string }

export type Camera = {
  readonly id: number
  readonly name: string
  readonly enabled: boolean
  readonly state: string
  readonly problem: string | null
  readonly online: boolean
  readonly lastFrameAt: string | null
}

export type Detection = {
  readonly id: number
  readonly cctvId: number
  readonly timestamp: string
  readonly duration: number | null
  readonly clipUrls: { readonly playback: string | null; readonly snapshot: string | null }
  readonly clipStatus: string
}
