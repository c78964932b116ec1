import type { Alert, Camera, Health, PlacementEvent, Slot } from './answers.ts'

type IncidentNow = {
  readonly id: number
  readonly status: 'open' | 'investigating' | 'resolved'
  readonly severity: 'low' | 'medium' | 'high' | 'critical'
}

/** A message of the gateway's stream. `lost`: from now on the page has to poll. */
export type Heard =
  | { readonly kind: 'hello'; readonly data: { readonly resumed: boolean } }
  | {
      readonly kind: 'floor'
      readonly data: {
        readonly warehouseId: number
        readonly layoutChanged: boolean
        readonly slots: readonly Pick<Slot, 'id' | 'isOccupied' | 'assetBarcode' | 'isVerified' | 'isDisputed'>[]
      }
    }
  | { readonly kind: 'event'; readonly data: PlacementEvent }
  | { readonly kind: 'camera'; readonly data: Omit<Camera, 'lastFrameAt'> }
  | { readonly kind: 'alert'; readonly data: Alert & { readonly acknowledgedAt: string | null } }
  | {
      readonly kind: 'unit'
      readonly data: {
        readonly id: string
        readonly warehouseId: number
        readonly stage: string
        readonly status: string
      }
    }
  | { readonly kind: 'incident'; readonly data: IncidentNow }
  | { readonly kind: 'health'; readonly data: Health }
  | { readonly kind: 'lost' }
