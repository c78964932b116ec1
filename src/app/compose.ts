import { join } from 'node:path'
import {
  Admission,
  Authenticator,
  firstAdminFile,
  newFirstAdmin,
  Refusals,
  Sessions,
  SlidingWindow,
  storedAccounts,
  storeFirstAdmin,
} from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import { CountsService } from '../counts/index.ts'
import { databaseFile, executor, openReader, openWriter, type Tx, UnitOfWork } from '../database/index.ts'
import { ExchangeService } from '../exchange/index.ts'
import { FloorService } from '../floor/index.ts'
import { boxSampler, diskStatus, freeBytes, Metrics } from '../health/index.ts'
import type { Api } from '../http/index.ts'
import { IntakeService } from '../intake/index.ts'
import { AuditTrail, type EventType, Idempotency, inspector, Outbox } from '../journal/index.ts'
import { headOf, LedgerHead, LedgerService, Photos, Recorder } from '../ledger/index.ts'
import { identifyLog, Log, Openings } from '../log/index.ts'
import { MotionService } from '../motion/index.ts'
import { WarehouseService } from '../warehouse/index.ts'
import { createWebhooks } from '../webhooks/index.ts'
import {
  type Clock,
  clockIsTrusted,
  type Logger,
  loadBoxKey,
  type RandomBytes,
  secretBox,
  uuidv7Maker,
} from '../world/index.ts'
import { addressResolver, tlsResolver } from './addresses.ts'
import { buildApi } from './api.ts'
import { Cameras } from './cameras.ts'
import { Jobs } from './jobs.ts'
import { metricsApi, metricsToken } from './metrics-listener.ts'
import { notifications } from './notifications.ts'

/** No gatehouse existed before: a clock that stands earlier has lost its battery. */
const noClockBeforeMs = Date.UTC(2026, 0, 1)

export type Outside = {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly version: string
  /** Called when a notification is not as documented; it goes out all the same. Default: says so in the log. */
  readonly onMismatch?: (type: EventType, problem: string) => void
}

/** Everything that runs, wired. `live` holds the config that a reload may exchange. */
export type Gateway = {
  readonly api: Api
  /** What GET /metrics answers on the listener for collectors; undefined without one. */
  readonly metricsApi: Api | undefined
  readonly live: { config: Config }
  readonly jobs: Jobs
  readonly cameras: Cameras
  readonly motion: MotionService
  readonly webhooks: ReturnType<typeof createWebhooks>
  readonly intake: IntakeService
  readonly makeId: () => string
  readonly audit: (action: string, changes: Record<string, unknown>) => Promise<void>
  /** Ends writes and closes the files; after workers and listeners have stopped. */
  readonly close: () => void
}

/**
 * Builds every room of the main thread, once. Nothing runs yet.
 * @param withFirstAdmin a start without a config: an empty database gets an admin
 */
export async function compose(config: Config, outside: Outside, withFirstAdmin: boolean): Promise<Gateway> {
  const { clock, random, log, version } = outside
  const live = { config }
  const { db, close: closeWriter } = openWriter({ dataDir: config.dataDir, nowMs: clock.now() })
  const reader = openReader(databaseFile(config.dataDir))
  const tx = executor(db)
  const makeId = uuidv7Maker(clock, random)
  const atOnce = <T>(work: (tx: Tx) => T): T => db.transaction(() => work(tx)).immediate()

  const identity = atOnce(() => identifyLog(tx, config.site.id, makeId, clock.now()))
  const firstAdmin = withFirstAdmin && storedAccounts(tx).size === 0 ? await newFirstAdmin(random) : undefined
  if (firstAdmin) atOnce(() => storeFirstAdmin(tx, config.dataDir, firstAdmin.account, firstAdmin.secret, clock.now()))
  // With a config its accounts are all there are; the one that a start without a config made is for such starts.
  const stored = withFirstAdmin ? storedAccounts(tx) : new Map<string, never>()
  if (withFirstAdmin) {
    const secretFile = firstAdminFile(config.dataDir)
    log.info(
      { username: 'admin', instance: config.site.url, secretFile },
      firstAdmin ? 'first start: an admin was made' : 'sign in as admin',
    )
  }

  const work = new UnitOfWork({ writer: db, reader })
  const logRoom = new Log({ identity, size: Log.sizeOf(tx) })
  const head = new LedgerHead({ ...headOf(tx), builtAtMs: noClockBeforeMs })
  work.follow(logRoom)
  work.follow(head)

  const openings = new Openings({ random })
  const audit = new AuditTrail({ openings, clock })
  const idempotency = new Idempotency({ clock })
  const onMismatch =
    outside.onMismatch ?? ((type, problem) => log.error({ type, problem }, 'a notification is not as documented'))
  const outbox = new Outbox({
    siteId: config.site.id,
    warehouseId: config.site.warehouseId,
    makeId,
    inspect: inspector(notifications, onMismatch),
  })
  const authenticator = new Authenticator({
    accounts: (username) => live.config.auth.users.find((u) => u.username === username) ?? stored.get(username),
    settings: () => ({ siteUrl: live.config.site.url, freshForMs: live.config.auth.freshFor }),
    clock,
    random,
  })
  const admission = new Admission({ window: new SlidingWindow({ clock }), rates: () => live.config.rateLimit })
  const refusals = new Refusals({ work, audit, clock })
  const sessions = new Sessions({
    work,
    clock,
    random,
    audit,
    authenticator,
    admission,
    refusals,
    siteUrl: () => live.config.site.url,
  })
  const warehouse = new WarehouseService({
    work,
    clock,
    audit,
    idempotency,
    settings: () => ({ warehouseId: live.config.site.warehouseId, viewers: live.config.warehouses }),
  })
  const photos = new Photos({
    work,
    clock,
    openings,
    audit,
    dataDir: config.dataDir,
    siteUrl: () => live.config.site.url,
  })
  const recorder = new Recorder({
    clock,
    log: logRoom,
    openings,
    head,
    warehouse,
    photos,
    outbox,
    audit,
    makeId,
    clockIsTrusted: (nowMs) => clockIsTrusted(nowMs, noClockBeforeMs),
    settings: () => ({ enforce: live.config.ledger.enforce, maxAgeMs: live.config.ledger.maxAge }),
  })
  const ledger = new LedgerService({ work, recorder, warehouse, photos, idempotency })
  const intake = new IntakeService({
    work,
    warehouse,
    ledger,
    audit,
    openings,
    clock,
    dataDir: config.dataDir,
    warehouseId: () => live.config.site.warehouseId,
  })
  const counts = new CountsService({
    work,
    warehouse,
    recorder,
    openings,
    audit,
    idempotency,
    random,
    warehouseId: () => live.config.site.warehouseId,
  })
  const floor = new FloorService({ work, warehouse, idempotency })
  const exchange = new ExchangeService({ work, warehouse, clock, siteUrl: () => live.config.site.url })
  const webhooks = createWebhooks({
    work,
    clock,
    random,
    makeId,
    box: secretBox(loadBoxKey(join(config.dataDir, 'keys', 'box.key'), random), random),
    outbox,
    audit,
    idempotency,
    settings: () => ({
      allowNetworks: live.config.webhooks.allowNetworks,
      ...(live.config.webhooks.caFile && { caFile: live.config.webhooks.caFile }),
      timeoutMs: live.config.webhooks.timeout,
      retryScheduleMs: live.config.webhooks.retrySchedule,
      probe: { initialMs: live.config.webhooks.probe.initial, maxMs: live.config.webhooks.probe.max },
      autoResume: { enabled: live.config.webhooks.autoResume.enabled, everyMs: live.config.webhooks.autoResume.every },
      drainPerSecond: live.config.webhooks.drainPerSecond,
    }),
    site: { siteId: config.site.id, warehouseId: config.site.warehouseId },
    version,
    log,
    onAttempt: ({ outcome }) => metrics.attempted(outcome),
  })
  const cameras = new Cameras({ clipsFolder: join(config.dataDir, 'clips'), ffmpeg: config.ffmpeg.path, log, clock })
  const motion = new MotionService({
    work,
    clock,
    logger: log,
    log: logRoom,
    outbox,
    audit,
    makeId,
    clipsDir: join(config.dataDir, 'clips'),
    site: () => ({
      cameras: live.config.cameras,
      siteUrl: live.config.site.url,
      warehouseId: live.config.site.warehouseId,
      uploads: live.config.storage.upload !== null,
    }),
    link: cameras,
  })
  cameras.listen(motion)
  const metrics: Metrics = new Metrics({
    logSize: () => logRoom.size,
    webhooks: () => webhooks.status(),
    freeBytes: () => freeBytes(config.dataDir),
    box: boxSampler(clock),
    version,
  })
  const jobs = new Jobs({ log })
  const startedMs = clock.monotonic()
  const api = buildApi({
    log,
    clock,
    version,
    makeId,
    addressOf: (raw) => addressResolver(live.config.http.trustedProxies)(raw),
    isOverTls: (raw) => tlsResolver(live.config.http.trustedProxies)(raw),
    corsOrigins: () => live.config.http.corsOrigins,
    authenticator,
    sessions,
    admission,
    site: () => ({ siteId: live.config.site.id, instance: live.config.site.url }),
    metrics,
    probes: {
      database: () => {
        work.read((read) => read.oneOf('SELECT 1'))
        return 'healthy'
      },
      disk: () => diskStatus(freeBytes(config.dataDir), live.config.retention),
      clock: () => (clockIsTrusted(clock.now(), noClockBeforeMs) ? 'healthy' : 'degraded'),
      storage: () => 'healthy',
      webhooks: () => (webhooks.status().failing + webhooks.status().disabled > 0 ? 'degraded' : 'healthy'),
      cameras: () => (motion.areWell() ? 'healthy' : 'degraded'),
    },
    uptimeSeconds: () => (clock.monotonic() - startedMs) / 1000,
    warehouse,
    floor,
    ledger,
    exchange,
    photos,
    intake,
    counts,
    motion,
    webhooks,
  })
  const collector = config.metrics.listen
  return {
    api,
    intake,
    makeId,
    metricsApi: collector
      ? metricsApi({
          metrics,
          token: metricsToken(collector, config.dataDir, random, log),
          networks: collector.networks,
          log,
          makeRequestId: makeId,
        })
      : undefined,
    live,
    jobs,
    cameras,
    motion,
    webhooks,
    audit: (action, changes) =>
      work.write((write) => audit.write(write, undefined, { action, entity: 'config', changes })),
    close: () => {
      refusals.flush()
      work.close()
      reader.close()
      closeWriter()
    },
  }
}
