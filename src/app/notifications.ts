import { cameraCreated, cameraNotifications, motionRecorded } from '../cameras/index.ts'
import { floorCreated } from '../floor/index.ts'
import { governanceNotifications } from '../governance/index.ts'
import { healthCreated } from '../health/index.ts'
import { ledgerNotifications } from '../ledger/index.ts'
import { scaleNotifications } from '../scales/index.ts'
import { unitCreated, unitNotifications } from '../units/index.ts'
import { allNotifications } from '../webhooks/index.ts'

/**
 * The schema of every notification: the description shows it, and each notification is checked against it when
 * published.
 */
export const notifications = allNotifications(
  [ledgerNotifications, cameraNotifications, unitNotifications, scaleNotifications, governanceNotifications],
  motionRecorded,
  { ...cameraCreated, ...floorCreated, ...healthCreated, ...unitCreated },
)
