import { cameraNotifications, motionRecorded } from '../cameras/index.ts'
import { governanceNotifications } from '../governance/index.ts'
import { healthCreated } from '../health/index.ts'
import { ledgerNotifications } from '../ledger/index.ts'
import { scaleNotifications } from '../scales/index.ts'
import { unitCreated, unitNotifications } from '../units/index.ts'
import { allNotifications } from '../webhooks/index.ts'

/** The shape of every notification that this gateway sends: what is described, and what is checked when it is published. */
export const notifications = allNotifications(
  [ledgerNotifications, cameraNotifications, unitNotifications, scaleNotifications, governanceNotifications],
  motionRecorded,
  { ...healthCreated, ...unitCreated },
)
