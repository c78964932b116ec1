import type { Agent } from 'node:https'
import type { Admission, ConfigNames } from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import type { Observation } from '../health/index.ts'
import type { Api, Caller } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock, Logger, RandomBytes, SecretBox } from '../platform/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { Links } from './links.ts'
import { Overview } from './overview.ts'
import type { PlanNeeds } from './plan.ts'
import { Recipients, type RecipientsNeeds } from './recipients.ts'
import { alertingRoutes } from './routes.ts'
import { Silences } from './silences.ts'
import { Subscriptions } from './subscriptions.ts'
import { type VapidKeys, vapidKeys } from './ways/vapid-keys.ts'
import { AlertWorker } from './worker.ts'

export type { Place } from './selection.ts'
export { removeSubscriptionsOf } from './store.ts'

export type AlertingOptions = {
  readonly work: UnitOfWork
  readonly clock: Clock
  /** The time by which links end. */
  readonly expiryClock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly log: Logger
  readonly makeId: () => string
  readonly audit: AuditTrail
  /** Seals links and subscriptions. */
  readonly box: SecretBox
  readonly dataDir: string
  /** Read at every use, so that a reload of the config applies. */
  readonly settings: () => Config['alerts']
  readonly site: () => Config['site']
  readonly names: ConfigNames
  readonly callerNamed: RecipientsNeeds['callerNamed']
  readonly placeOf: PlanNeeds['placeOf']
  readonly isCameraVisible: (cameraId: number, caller: Caller) => boolean
  readonly webhooks: Pick<Webhooks, 'alerts' | 'guardedAgent'>
  readonly admission: Pick<Admission, 'anybody'>
}

export type Alerting = {
  routes(api: Api): void
  readonly worker: Pick<AlertWorker, 'start' | 'stop' | 'settled' | 'look'>
  /** Returns whether the messages of each channel arrive. */
  observations(): Observation[]
  /** Removes the push subscriptions of an erased person. */
  forget(username: string, instance: string): Promise<void>
}

/** Builds the room. Nothing is sent before `worker.start()`, except tests of a channel. */
export function createAlerting(options: AlertingOptions): Alerting {
  const { webhooks, settings, site, admission } = options
  const links = new Links({ box: options.box, clock: options.expiryClock, siteUrl: () => site().url })
  const recipients = new Recipients({ ...options, links })
  let keys: VapidKeys | undefined
  const vapid = () => {
    keys ??= vapidKeys(options.dataDir)
    return keys
  }
  const guardedAgent = (): Agent => webhooks.guardedAgent()
  const contact = () => contactOf(settings(), site().url)
  const worker = new AlertWorker({ ...options, recipients, vapid, contact, guardedAgent })
  const overview = new Overview({ ...options, recipients, worker })
  const silences = new Silences(options)
  const subscriptions = new Subscriptions({ ...options, vapid })
  const { alerts } = webhooks
  return {
    routes: (api) => alertingRoutes(api, { overview, silences, subscriptions, links, alerts, admission }),
    worker,
    observations: () => overview.observations(),
    forget: (username, instance) => subscriptions.forget(username, instance),
  }
}

/** A push service may ask this contact why it gets so many messages. */
function contactOf({ smtp }: Config['alerts'], siteUrl: string): string {
  if (smtp) return `mailto:${smtp.from}`
  return siteUrl.startsWith('https:') ? siteUrl : 'mailto:gatehouse@example.invalid'
}
