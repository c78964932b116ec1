import {
  type Accounts,
  accountRoutes,
  factorRoutes,
  type OpenSessions,
  ownAccountPath,
  type Sights,
  sessionsPath,
} from '../accounts/index.ts'
import {
  type Admission,
  type Authenticator,
  door,
  type FirstUses,
  type Refusals,
  type SecondFactors,
  type Sessions,
  type Tally,
} from '../auth/index.ts'
import {
  type CamerasService,
  cameraRoutes,
  type Detections,
  type Gaps,
  gapRoutes,
  type LiveViews,
  livePaths,
  liveRoutes,
  type Scores,
  type Snapshots,
  scoreRoutes,
} from '../cameras/index.ts'
import { type ClockBook, clockRoutes } from '../clock/index.ts'
import {
  challengePath,
  consoleRoutes,
  type DetectionModels,
  helpRoutes,
  missingPage,
  passkeyPath,
  sessionPath,
  trustRoutes,
} from '../console/index.ts'
import { type CountsService, countRoutes } from '../counts/index.ts'
import {
  collectPath,
  type DeviceService,
  deviceRoutes,
  enrolPath,
  type Pairings,
  pairingRoutes,
  pairingsPath,
  type SignedUrls,
} from '../devices/index.ts'
import {
  type Absence,
  absenceRoutes,
  type IncidentPackages,
  incidentPackageRoutes,
  type Proofs,
  type PublishedLog,
  proofRoutes,
  type Receipts,
  receiptRoutes,
  transparencyRoutes,
  type Witness,
  witnessRoutes,
} from '../evidence/index.ts'
import { type ExchangeService, exchangeRoutes } from '../exchange/index.ts'
import {
  type AssetList,
  assetRoutes,
  type Discrepancies,
  discrepancyRoutes,
  type FloorService,
  floorRoutes,
  type ResolvedDisputes,
  type Scanner,
  scanRoutes,
  slotBatchPath,
  type Traces,
  traceRoutes,
} from '../floor/index.ts'
import type { Governance } from '../governance/index.ts'
import { type HealthWatch, healthRoutes, type LastDay, type Metrics } from '../health/index.ts'
import {
  type Api,
  type BoxAuthority,
  crossOrigin,
  jsonBodies,
  jsonBodyLimitBytes,
  newRoot,
  probePaths,
} from '../http/index.ts'
import { type ImportService, importRoutes, slotListPath } from '../imports/index.ts'
import { type LabelService, labelRoutes } from '../labels/index.ts'
import {
  type Acts,
  actRoutes,
  batchBytesLimit,
  batchPath,
  type Corrections,
  type LedgerService,
  ledgerRoutes,
} from '../ledger/index.ts'
import { isProviderSignIn, providerRoutes, type SignIns } from '../oidc/index.ts'
import { type Photos, photoRoutes, photosPath } from '../photos/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { type Exports, type Notices, privacyRoutes, type Redactions } from '../privacy/index.ts'
import { type ScaleService, scaleRoutes } from '../scales/index.ts'
import { type StreamHub, streamRoutes } from '../stream/index.ts'
import { type UnitService, unitRoutes } from '../units/index.ts'
import { type UploadService, uploadRoutes } from '../upload/index.ts'
import {
  type AssetService,
  isPlanImagePath,
  type PlanImages,
  planImageRoutes,
  type WarehouseService,
  warehouseRoutes,
} from '../warehouse/index.ts'
import type { Takeover } from './control/takeover.ts'
import { descriptionRoutes } from './description.ts'

export type ApiParts = {
  readonly log: Logger
  readonly clock: Clock
  readonly version: string
  readonly makeId: () => string
  readonly addressOf: (raw: { peer: string | undefined; forwarded: string | undefined }) => string
  readonly isOverTls: (raw: { encrypted: boolean; peer: string | undefined; proto: string | undefined }) => boolean
  readonly isOurHost: (host: string) => boolean
  readonly servesPlainHttp: () => boolean
  readonly corsOrigins: () => readonly string[]
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly sessions: Sessions
  readonly admission: Admission
  readonly firstUses: FirstUses
  readonly refusals: Refusals
  readonly site: () => {
    readonly siteId: string
    readonly instance: string
    readonly storageInstances: readonly string[]
    readonly providers: readonly string[]
  }
  /** Refuses writes while a new version takes over. */
  readonly takeover: Pick<Takeover, 'gate'>
  readonly metrics: Metrics
  readonly health: Pick<HealthWatch, 'checks'>
  readonly lastDay: Pick<LastDay, 'columns'>
  readonly uptimeSeconds: () => number
  readonly accounts: Accounts
  readonly openSessions: OpenSessions
  readonly sights: Sights
  readonly secondFactors: SecondFactors
  readonly providerSignIns: SignIns
  readonly devices: DeviceService
  readonly pairings: Pairings
  readonly signedUrls: SignedUrls
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly planImages: PlanImages
  readonly floor: FloorService
  readonly scanner: Scanner
  readonly discrepancies: Discrepancies
  readonly resolvedDisputes: ResolvedDisputes
  readonly traces: Traces
  readonly assetList: AssetList
  readonly labels: LabelService
  readonly ledger: LedgerService
  readonly acts: Acts
  readonly corrections: Corrections
  readonly exchange: ExchangeService
  readonly photos: Photos
  readonly units: UnitService
  readonly scales: ScaleService
  readonly imports: ImportService
  readonly counts: CountsService
  readonly cameras: CamerasService
  readonly liveViews: LiveViews
  readonly detectionModels: DetectionModels
  readonly snapshots: Snapshots
  readonly tally: Tally
  readonly detections: Detections
  readonly notices: Notices
  readonly gaps: Gaps
  readonly scores: Scores
  readonly redactions: Redactions
  readonly clipExports: Exports
  readonly webhooks: { routes(api: Api): void }
  readonly alerting: { routes(api: Api): void }
  readonly governance: Governance
  readonly clockBook: ClockBook
  readonly uploads: UploadService
  readonly vkeys: () => readonly [string, string] | readonly [null, null]
  readonly publishedLog: PublishedLog
  readonly proofs: Proofs
  readonly witness: Witness
  readonly absence: Absence
  readonly incidentPackages: IncidentPackages
  readonly streamHub: StreamHub
  readonly receipts: Receipts
  readonly authority: () => BoxAuthority | undefined
}

const healthPath = '/api/health'
const publicPaths = new Set([...probePaths, enrolPath, pairingsPath, collectPath, challengePath, passkeyPath])

/** A sign-in has no caller yet; a sign-out has one. */
const isPublic = (path: string, method: string) =>
  publicPaths.has(path) ||
  (path === sessionPath && ['GET', 'HEAD', 'POST'].includes(method)) ||
  isProviderSignIn(path, method)

/** Paths with which a caller sets up the second factor that the role demands, and signs out. */
const isForSettingUp = (path: string) =>
  [sessionPath, sessionsPath, ownAccountPath].some((start) => path === start || path.startsWith(`${start}/`))

/** Builds the whole API. The order of checks matters: browser origin, caller and rate, request body, route. */
export function buildApi(parts: ApiParts): Api {
  const root = newRoot({
    log: parts.log,
    clock: parts.clock,
    makeRequestId: parts.makeId,
    addressOf: parts.addressOf,
    isOverTls: parts.isOverTls,
    isOurHost: parts.isOurHost,
    servesPlainHttp: parts.servesPlainHttp,
    missingPage: (c) => missingPage(c, parts),
    onAnswer: (answer) => parts.metrics.answered(answer),
  })
  root.use('/api/*', crossOrigin(parts.corsOrigins)) // in front of the door: a browser asks first, without credentials
  root.use('/api/*', parts.takeover.gate)
  root.use(
    '/api/*',
    door({
      ...parts,
      isPublic,
      isFullerForCallers: (path) => path === healthPath,
      isLive: (path) => livePaths.test(path),
      isForSettingUp,
    }),
  )
  root.use(
    '/api/*',
    jsonBodies(
      (path) => path === photosPath || path === slotListPath || isPlanImagePath(path),
      (path) => (path === batchPath || path === slotBatchPath ? batchBytesLimit : jsonBodyLimitBytes),
    ),
  )
  healthRoutes(root, { ...parts, now: () => parts.clock.now(), logKeys: () => parts.vkeys() })
  pairingRoutes(root, parts.pairings)
  deviceRoutes(root, parts)
  accountRoutes(root, parts)
  factorRoutes(root, parts)
  warehouseRoutes(root, parts.warehouse, parts.assets)
  planImageRoutes(root, parts.planImages)
  floorRoutes(root, parts.floor)
  scanRoutes(root, parts.scanner)
  discrepancyRoutes(root, parts.discrepancies, parts.resolvedDisputes)
  traceRoutes(root, parts.traces)
  exchangeRoutes(root, parts.exchange) // in front of /events/{id}, which would take `export` for an id
  actRoutes(root, parts.acts, parts.corrections)
  assetRoutes(root, parts.assetList)
  labelRoutes(root, parts.labels)
  ledgerRoutes(root, parts.ledger)
  photoRoutes(root, parts.photos)
  unitRoutes(root, parts.units)
  scaleRoutes(root, parts.scales)
  importRoutes(root, parts.imports)
  countRoutes(root, parts.counts)
  liveRoutes(root, parts)
  cameraRoutes(root, parts.cameras, parts.detections)
  privacyRoutes(root, parts)
  gapRoutes(root, parts.gaps)
  scoreRoutes(root, parts.scores)
  parts.webhooks.routes(root)
  parts.alerting.routes(root)
  parts.governance.routes(root)
  clockRoutes(root, parts.clockBook, () => parts.clock.now())
  uploadRoutes(root, parts.uploads)
  transparencyRoutes(root, parts.publishedLog)
  proofRoutes(root, parts.proofs)
  witnessRoutes(root, { ...parts, admit: (c) => parts.admission.anybody('witness', c.get('address')) })
  absenceRoutes(root, parts.absence)
  incidentPackageRoutes(root, parts.incidentPackages)
  streamRoutes(root, parts.streamHub)
  receiptRoutes(root, parts)
  consoleRoutes(root, parts)
  providerRoutes(root, parts)
  trustRoutes(root, parts)
  helpRoutes(root, parts)
  descriptionRoutes(root, parts.version)
  return root
}
