import { type Alerting, createAlerting, type Place } from '../../alerting/index.ts'
import type { Config } from '../../config/index.ts'
import type { ReadTx } from '../../database/index.ts'
import { secretBox } from '../../platform/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedLedger } from './ledger.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'

type Parts = ComposedStorage &
  ComposedCallers &
  Pick<ComposedLedger, 'warehouse'> &
  Pick<ComposedVideo, 'configured'> & { readonly webhooks: Webhooks }

/** Builds the part that reports alerts to people. */
export function composeAlerting(live: { config: Config }, outside: Outside, parts: Parts): Alerting {
  const { clock, random, log } = outside
  const { work, makeId, audit, expiryClock, derivedKey, names, callerNamed, configured, webhooks, admission } = parts
  return createAlerting({
    ...{ work, clock, expiryClock, random, log, makeId, audit, names, callerNamed, webhooks, admission },
    box: secretBox(derivedKey('gatehouse alerts'), random),
    dataDir: live.config.dataDir,
    settings: () => live.config.alerts,
    site: () => live.config.site,
    placeOf: (tx, alert) => placeOf(tx, alert, live.config, parts),
    isCameraVisible: (id, caller) => configured.isVisible(id, caller),
  })
}

/** Returns where an alert belongs: with its camera, or in the warehouse of everything that names none. */
function placeOf(
  tx: ReadTx,
  { kind, subject }: { readonly kind: string; readonly subject: string },
  { cameras, site }: Config,
  { warehouse }: Pick<Parts, 'warehouse'>,
): Place {
  // `7` or `pre-roll 7`.
  const cameraId = kind.startsWith('camera.') ? Number(/\d+$/.exec(subject)?.[0] ?? Number.NaN) : null
  const warehouseId = cameras.find(({ id }) => id === cameraId)?.warehouseId ?? site.warehouseId
  return { warehouseId, cameraId, timezone: warehouse.timezoneOf(tx, warehouseId) }
}
