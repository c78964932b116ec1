import type { AlertOut } from '../webhooks/index.ts'
import type { Kind } from './frames.ts'
import type { CameraNow, HealthNow } from './schema.ts'

/** Receivers of a message. */
export type Scope =
  | { readonly of: 'everyone' | 'alerts' }
  | { readonly of: 'warehouse' | 'camera'; readonly id: number }
  /** For an incident, which may belong to no warehouse. */
  | { readonly of: 'incidents'; readonly warehouseId: number | null }

/** One message before it is written. */
export type Change = { readonly kind: Kind; readonly scope: Scope; readonly data: unknown }

/** State outside of the ledger at the last look. */
export type Seen = {
  readonly cameras: ReadonlyMap<number, CameraNow>
  readonly alerts: ReadonlyMap<number, AlertOut>
  readonly health: HealthNow
}

/**
 * Returns the differences between two looks. Pure. An alert that is not open any more was acknowledged: `acknowledged` returns it
 * as it is now.
 */
export function differences(before: Seen, now: Seen, acknowledged: (id: number) => AlertOut | undefined): Change[] {
  const cameras = [...now.cameras.values()].filter((camera) => !isSame(camera, before.cameras.get(camera.id)))
  const raised = [...now.alerts.values()].filter(({ id }) => !before.alerts.has(id))
  const closed = [...before.alerts.keys()].filter((id) => !now.alerts.has(id)).flatMap((id) => acknowledged(id) ?? [])
  return [
    ...cameras.map((data): Change => ({ kind: 'camera', scope: { of: 'camera', id: data.id }, data })),
    ...[...raised, ...closed].map((data): Change => ({ kind: 'alert', scope: { of: 'alerts' }, data })),
    ...(isSame(before.health, now.health)
      ? []
      : [{ kind: 'health' as const, scope: { of: 'everyone' as const }, data: now.health }]),
  ]
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
