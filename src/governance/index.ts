import type { ConfiguredCameras, Detections } from '../cameras/index.ts'
import type { ClockBook } from '../clock/index.ts'
import type { DiskRoom, Tx, UnitOfWork } from '../database/index.ts'
import type { Api } from '../http/index.ts'
import type { AuditOrigin, AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import type { Checkpoint, EvidenceStates, Log, Openings, People } from '../log/index.ts'
import type { Photos } from '../photos/index.ts'
import type { Clock } from '../platform/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { AccountWatch, type ConfigAccount } from './accounts.ts'
import { AuditReader } from './audit.ts'
import type { ComposedReport, ReportSpec } from './compliance.ts'
import { Erasure, type ErasureRequest, type ErasureResult } from './erasure.ts'
import { Incidents } from './incidents.ts'
import { type FindElsewhere, References } from './references.ts'
import type { ReportFacts } from './report-store.ts'
import { Reports } from './reports.ts'
import { governanceRoutes } from './routes.ts'
import { Sight, type SightNeeds } from './sight.ts'

export { type ComposedReport, composeReport, type ReportSpec } from './compliance.ts'
export { type ErasureRequest, type ErasureResult, namesErasedLater } from './erasure.ts'
export { governanceNotifications } from './events.ts'
export { incidentFacts, type UnsealedIncidentChange } from './incident-leaf.ts'
export { endOfChanges, incidentsBehindChange, linksOfIncidents, statedIncidentChanges } from './incident-store.ts'
export { reportFacts, reportFile, type UnsealedReport } from './report-leaf.ts'
export { everyReportFile, linksOfReports, type ReportFacts, reportsAfter, statedReports } from './report-store.ts'
export type { Incident } from './schema.ts'
export type { IncidentChangeRow, ReportRow } from './tables.ts'

export type GovernanceOptions = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  /** The time of the gateway's clock, in milliseconds. */
  readonly nowMs: () => number
  readonly log: Log
  readonly clockBook: Pick<ClockBook, 'span'>
  readonly openings: Openings
  readonly people: People
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly makeId: () => string
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly cameras: ConfiguredCameras
  readonly detections: Detections
  readonly photos: Photos
  readonly room: Pick<DiskRoom, 'demand'>
  readonly dataDir: string
  /** Read at every use, so that a reload of the config applies. */
  readonly site: () => { readonly siteUrl: string; readonly instance: string; readonly warehouseId: number }
  readonly evidenceStates: EvidenceStates
  /** Signs the log as it is now, before a report. Rejects with NOT_READY when it may not be signed. */
  readonly signHead: () => Promise<Checkpoint>
  /** `composeReport`, in the jobs thread. */
  readonly compose: (spec: ReportSpec) => Promise<ComposedReport>
  /** Called for each file that an incident needs, in its transaction. */
  readonly onHeld: (tx: Tx, sha256: string) => void
  /** Called in the transaction of a report's row. */
  readonly onReport: (tx: Tx, report: ReportFacts) => void
  /** Finds transport units, whose room this one does not import. */
  readonly transportUnit?: FindElsewhere
  readonly elsewhere?: SightNeeds['elsewhere']
}

export type Governance = {
  /** Adds /api/governance. */
  routes(api: Api): void
  readonly incidents: Pick<Incidents, 'incident' | 'provable'>
  readonly audit: Pick<AuditReader, 'entries'>
  /** Notes in the audit trail how the config's accounts changed. */
  noteAccounts(accounts: readonly ConfigAccount[], by: AuditOrigin): Promise<void>
  /** Erases a person; see the README. */
  erase(request: ErasureRequest, by: AuditOrigin): Promise<ErasureResult>
}

/** Builds the room. */
export function createGovernance(options: GovernanceOptions): Governance {
  const { warehouse, assets, cameras, detections, photos, elsewhere, transportUnit } = options
  const sight = new Sight({ warehouse, assets, cameras, photos, ...(elsewhere && { elsewhere }) })
  const siteUrl = () => options.site().siteUrl
  const references = new References({ warehouse, assets, cameras, detections, photos, siteUrl, transportUnit })
  const audit = new AuditReader({ ...options, sight })
  const incidents = new Incidents({ ...options, warehouseId: () => options.site().warehouseId, references, sight })
  const reports = new Reports({ ...options, siteUrl, sight })
  const erasure = new Erasure(options)
  const accounts = new AccountWatch({ ...options, instance: () => options.site().instance })
  return {
    incidents,
    audit,
    routes: (api) => governanceRoutes(api, { audit, incidents, reports }),
    noteAccounts: (known, by) => accounts.note(known, by),
    erase: (request, by) => erasure.erase(request, by),
  }
}
