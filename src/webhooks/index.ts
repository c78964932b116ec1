import type { Tx, UnitOfWork } from '../database/index.ts'
import type { Api } from '../http/index.ts'
import type { AuditTrail, CheckpointNote, Idempotency, NotificationSchemas, Outbox } from '../journal/index.ts'
import type { Clock, Logger, RandomBytes, SecretBox } from '../platform/index.ts'
import { Alerts, type NewAlert, raiseAlert, raiseAlertOnce, resolveAlert } from './alerts.ts'
import { DeliveryLog } from './delivery/log.ts'
import { Pacing } from './delivery/pacing.ts'
import { DeliveryWorker } from './delivery/worker.ts'
import type { AttemptReport } from './delivery/worker-options.ts'
import { webhookRoutes } from './routes.ts'
import { Authorities } from './sending/authorities.ts'
import { type GuardedAgent, type Resolve, systemResolve } from './sending/guarded-agent.ts'
import { GuardedAgents } from './sending/guarded-agents.ts'
import { Sender } from './sending/sender.ts'
import { Uplink } from './sending/uplink.ts'
import { WebhookService } from './service.ts'
import { uplinkProbesOf, type WebhookSettings } from './settings.ts'
import { countInTrouble, countWebhooks, hasWebhooks, type WebhookCounts } from './store.ts'

export { type AlertOrigin, alertsAfter, findAlert, newestAlertId, recentAlerts, wasRaisedSince } from './alerts.ts'
export { ClockSteps } from './delivery/clock-steps.ts'
export { longestDelayMs, nextAttempt } from './delivery/retry-schedule.ts'
export { type ReceivedCheckpoint, receivedCheckpoints } from './delivery/witnessed.ts'
export type { AttemptReport } from './delivery/worker-options.ts'
export { describeNotifications } from './description.ts'
export { allNotifications } from './events.ts'
export { AlertItem, type AlertOut } from './schema.ts'
export { usableSecrets } from './secrets.ts'
export type { Resolve } from './sending/guarded-agent.ts'
export type { WebhookSettings } from './settings.ts'
export { isAnyoneOwed, type WebhookCounts } from './store.ts'

export type WebhooksOptions = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly random: RandomBytes
  /** UUIDv7: ids of webhooks and deliveries ascend. */
  readonly makeId: () => string
  readonly box: SecretBox
  readonly outbox: Outbox
  /** Schemas of everything that is published. */
  readonly notifications: NotificationSchemas
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  /** Read at every use, so that a reload of the config applies. */
  readonly settings: () => WebhookSettings
  readonly site: { readonly siteId: string; readonly warehouseId: number }
  /** Returns the newest checkpoint of this transaction, with the cosignatures that it has by then; undefined before the first. */
  readonly newestCheckpoint: () => CheckpointNote | undefined
  /** The daemon's version, for the User-Agent. */
  readonly version: string
  readonly log: Logger
  /** Called after every recorded attempt; tests of an endpoint don't count. */
  readonly onAttempt?: (report: AttemptReport) => void
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

export type Webhooks = {
  /** Adds /api/webhooks and /api/alerts. */
  routes(api: Api): void
  /** `settled` resolves when nothing is under way. */
  readonly worker: Pick<DeliveryWorker, 'start' | 'stop' | 'settled' | 'isSending'>
  /** Raises an alert in the transaction of its cause. */
  raise(tx: Tx, alert: NewAlert): void
  /** As `raise`, unless an alert with the same kind and subject is not acknowledged yet. */
  raiseOnce(tx: Tx, alert: NewAlert): void
  /** Notes the end of the trouble that the newest alert of kind and subject reports. */
  resolve(tx: Tx, ended: Pick<NewAlert, 'kind' | 'subject' | 'nowMs'>): void
  /** Adds alerts that are not stored yet to the list of alerts; `unwritten` returns them, newest last. */
  alsoList(unwritten: () => readonly NewAlert[]): void
  /** Alerts for rooms that show and report them. */
  readonly alerts: Pick<Alerts, 'open' | 'find' | 'acknowledge'>
  /** Endpoints and their waiting deliveries, for health and metrics. */
  status(): WebhookCounts & { readonly offline: number }
  /** Resolves with whether a probe of the uplink answers; null without probes. Takes up to 10 s when none does. */
  isOnline(): Promise<boolean | null>
  /** Resolves with the number of alerts that are not acknowledged (null: more than are counted), and the newest of them. */
  openAlerts(): Promise<OpenAlerts>
  /** Returns an agent for addresses that a client named; it connects as webhooks do. */
  guardedAgent(): GuardedAgent
  /** Whether no endpoint is slowed down, failing, disabled, or out of reach because the gateway is offline. */
  areWell(): boolean
  /** Whether anybody has registered an endpoint. */
  hasEndpoints(): boolean
}

export type OpenAlerts = {
  readonly open: number | null
  readonly newest: readonly { readonly at: string; readonly kind: string; readonly message: string }[]
}

/** So many alerts are shown at a glance. */
const alertsShown = 10

/** Builds the room. Nothing is sent before `worker.start()`, except tests of an endpoint. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { work, audit, clock, resolve = systemResolve } = options
  const authorities = new Authorities(options)
  const uplink = new Uplink({ ...options, resolve, authorities })
  const agents = new GuardedAgents({ ...options, resolve, authorities })
  const sender = new Sender({ ...options, agents, uplink })
  const pacing = new Pacing(options)
  const worker = new DeliveryWorker({ ...options, sender, pacing })
  const service = new WebhookService({ ...options, resolve, sender, pacing, onChange: () => worker.wake() })
  const deliveries = new DeliveryLog({ ...options, pacing, onChange: () => worker.wake() })
  const alerts = new Alerts({ work, audit, clock })
  return {
    routes: (api) => webhookRoutes(api, { service, deliveries, alerts, notifications: options.notifications }),
    worker,
    raise: (tx, alert) => raiseAlert(tx, options.outbox, alert),
    raiseOnce: (tx, alert) => raiseAlertOnce(tx, options.outbox, alert),
    resolve: (tx, ended) => resolveAlert(tx, options.outbox, ended),
    alsoList: (unwritten) => alerts.alsoList(unwritten),
    alerts,
    status: () => ({ ...work.read(countWebhooks), offline: pacing.offline() }),
    isOnline: async () => {
      if (uplinkProbesOf(options.settings()).length === 0) return null
      return (await uplink.wasDown(clock.monotonic())) !== true
    },
    openAlerts: async () => {
      const { data, pagination } = await alerts.list({ acknowledged: 'false', limit: alertsShown })
      return {
        open: pagination.total,
        newest: data.map(({ createdAt, kind, message }) => ({ at: createdAt, kind, message })),
      }
    },
    guardedAgent: () => agents.current(),
    areWell: () => work.read(countInTrouble) === 0 && pacing.offline() === 0,
    hasEndpoints: () => work.read(hasWebhooks),
  }
}
