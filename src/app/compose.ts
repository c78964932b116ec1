import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import {
  Admission,
  Authenticator,
  BasicTries,
  ByteRate,
  ConfigNames,
  FirstUses,
  firstAdminFile,
  KnownCallers,
  LocalAccounts,
  newFirstAdmin,
  normaliseInstance,
  Refusals,
  Sessions,
  SlidingWindow,
  Slowing,
  StorageClient,
  StorageUsers,
  storedAccounts,
  storeFirstAdmin,
  Tally,
} from '../auth/index.ts'
import { CamerasService } from '../cameras/index.ts'
import type { Config } from '../config/index.ts'
import { CountsService } from '../counts/index.ts'
import {
  compact,
  DiskRoom,
  databaseFile,
  executor,
  openReader,
  openWriter,
  type Tx,
  UnitOfWork,
} from '../database/index.ts'
import { DeviceNames, DeviceService, DeviceVerifier, SignedUrls } from '../devices/index.ts'
import { ExchangeService } from '../exchange/index.ts'
import { AssetList, Discrepancies, FloorService, Scanner, Traces } from '../floor/index.ts'
import { createGovernance, type ErasureRequest, type ErasureResult } from '../governance/index.ts'
import { boxSampler, type HealthWatch, Metrics } from '../health/index.ts'
import { type Api, numericPath } from '../http/index.ts'
import { ImportService } from '../imports/index.ts'
import { AuditTrail, type EventType, Idempotency, inspector, Outbox } from '../journal/index.ts'
import { LabelService, PrintWorker } from '../labels/index.ts'
import { Acts, assetIsSeen, Corrections, headOf, LedgerHead, LedgerService, Recorder } from '../ledger/index.ts'
import { identifyLog, Log, Openings, People } from '../log/index.ts'
import { Photos } from '../photos/index.ts'
import {
  type Clock,
  ClockSync,
  type LogFormat,
  type Logger,
  loadBoxKey,
  type RandomBytes,
  secretBox,
  uuidv7Maker,
} from '../platform/index.ts'
import { ScaleService } from '../scales/index.ts'
import { UnitService } from '../units/index.ts'
import { WarehouseService } from '../warehouse/index.ts'
import { createWebhooks } from '../webhooks/index.ts'
import { addressResolver, tlsResolver } from './addresses.ts'
import { buildApi } from './api.ts'
import { CamerasThread } from './cameras-thread.ts'
import { composeHealth } from './health.ts'
import { ownHosts } from './host-names.ts'
import { Jobs } from './jobs.ts'
import { metricsApi, metricsToken } from './metrics-listener.ts'
import { notifications } from './notifications.ts'

/** No gatehouse existed before: a clock that stands earlier has lost its battery. */
const noClockBeforeMs = Date.UTC(2026, 0, 1)

/** Some tenths of a second, in which nobody is answered. */
const compactBesideWorkBytes = 64 * 1024 * 1024

export type Outside = {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  /** Of the threads' logs. Default: json. */
  readonly logFormat?: LogFormat
  readonly version: string
  /** Called when a notification is not as documented; it goes out all the same. Default: says so in the log. */
  readonly onMismatch?: (type: EventType, problem: string) => void
  /** Whether anybody is to be notified. Default: from the first endpoint on. */
  readonly isOwed?: () => boolean
}

/** Everything that runs, wired. `live` holds the config that a reload may exchange. */
export type Gateway = {
  readonly api: Api
  /** What GET /metrics answers on the listener for collectors; undefined without one. */
  readonly metricsApi: Api | undefined
  readonly live: { config: Config }
  readonly jobs: Jobs
  readonly camerasThread: CamerasThread
  readonly cameras: CamerasService
  readonly webhooks: ReturnType<typeof createWebhooks>
  readonly storageUsers: StorageUsers
  /** Tells the trail what was done to the config at the box. */
  readonly printWorker: PrintWorker
  /** What is wrong with the gateway, and who is told. */
  readonly health: HealthWatch
  readonly clockSync: ClockSync
  /** Reads the token of the collector again. Throws ExitError; the old one then stays valid. */
  readonly renewMetricsToken: () => void
  readonly imports: ImportService
  readonly warehouse: WarehouseService
  readonly makeId: () => string
  readonly audit: (action: string, changes: Record<string, unknown>) => Promise<void>
  /** Tells the trail how the accounts of the config differ from those of last time. */
  readonly noteAccounts: (mode: 'start' | 'signal') => Promise<void>
  /** Forgets a person on the word of somebody at this box. */
  readonly erasePerson: (
    request: ErasureRequest,
    osUser: string,
    compactUpToBytes?: number,
  ) => Promise<ErasureResult & { readonly compacted: boolean }>
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
  const logRoom = Log.open(tx, identity)
  const people = new People({ random, log: identity })
  const head = new LedgerHead({ ...headOf(tx), builtAtMs: noClockBeforeMs })
  const room = new DiskRoom({
    folder: config.dataDir,
    reserveBytes: () => live.config.retention.ledgerReserveBytes,
  })
  const clockSync = new ClockSync({ clock, builtAtMs: noClockBeforeMs })
  work.follow(logRoom)
  work.follow(people)
  work.follow(head)

  const openings = new Openings({ random })
  const audit = new AuditTrail({ people, clock })
  const idempotency = new Idempotency({ clock, visibleTo: (caller) => warehouse.visibleTo(caller) })
  const onMismatch =
    outside.onMismatch ?? ((type, problem) => log.error({ type, problem }, 'a notification is not as documented'))
  const outbox = new Outbox({
    siteId: config.site.id,
    warehouseId: config.site.warehouseId,
    makeId,
    inspect: inspector(notifications, onMismatch),
    ...(outside.isOwed && { isOwed: outside.isOwed }),
  })
  const boxKey = loadBoxKey(join(config.dataDir, 'keys', 'box.key'), random)
  const derivedKey = (use: string) => new Uint8Array(hkdfSync('sha256', boxKey, '', use, 32))
  const slowing = new Slowing({ clock })
  const localAccounts = new LocalAccounts({
    accounts: (username) => live.config.auth.users.find((u) => u.username === username) ?? stored.get(username),
    settings: () => ({ siteUrl: live.config.site.url, freshForMs: live.config.auth.freshFor }),
    clock,
    slowing,
    random,
  })
  const siteUrl = () => normaliseInstance(live.config.site.url) ?? live.config.site.url
  const isAccount = (username: string) => localAccounts.knows(username)
  const nameSettings = () => ({
    siteUrl: siteUrl(),
    instances: live.config.storage.instances.map(({ url }) => url),
    groupRoles: live.config.auth.groupRoles,
  })
  const deviceNames = new DeviceNames({ tx })
  const names = new ConfigNames({
    settings: nameSettings,
    isLocal: (name) => isAccount(name) || deviceNames.has(name),
  })
  const storageUsers = new StorageUsers({
    settings: () => ({
      ...nameSettings(),
      freshForMs: live.config.auth.freshFor,
      staleForMs: live.config.auth.staleFor,
      defaultRole: live.config.auth.defaultRole,
    }),
    client: new StorageClient({ clock, instances: () => live.config.storage.instances, version }),
    callers: new KnownCallers({ work, clock, audit }),
    tries: new BasicTries({ work, clock, key: derivedKey('gatehouse storage tries') }),
    slowing,
    clock,
    log,
    key: derivedKey('gatehouse known credentials'),
    onOutcome: (outcome) => metrics.verified(outcome),
  })
  const site = () => ({ siteUrl: siteUrl(), siteId: live.config.site.id, shiftMs: live.config.auth.shift })
  const deviceVerifier = new DeviceVerifier({
    work,
    clock,
    settings: site,
    isAccount,
    refuse: (presented, instance, address) => localAccounts.verify(presented, instance, address),
  })
  const authenticator = new Authenticator({
    verifiers: [deviceVerifier, localAccounts, storageUsers],
    instances: () => [siteUrl(), ...nameSettings().instances],
  })
  const signedUrls = new SignedUrls({
    box: secretBox(derivedKey('gatehouse signed urls'), random),
    clock,
    siteUrl,
    recall: (username, instance) => authenticator.recall(username, instance),
    onShift: (username, deviceName) => deviceVerifier.onShift(username, deviceName),
  })
  const firstUses = new FirstUses({ work, audit, clock })
  const admission = new Admission({ window: new SlidingWindow({ clock }), rates: () => live.config.rateLimit, names })
  const tally = new Tally({ work, audit, clock })
  const refusals = new Refusals({ tally })
  const sessions = new Sessions({
    work,
    clock,
    random,
    tally,
    authenticator,
    admission,
    refusals,
    firstUses,
    siteUrl: () => live.config.site.url,
  })
  const warehouse = new WarehouseService({
    work,
    clock,
    audit,
    idempotency,
    settings: () => ({ warehouseId: live.config.site.warehouseId, narrowed: live.config.warehouses }),
    isAssetSeen: assetIsSeen,
    names,
  })
  atOnce((write) => warehouse.readAnew(write))
  const devices = new DeviceService({
    work,
    clock,
    random,
    audit,
    idempotency,
    warehouse,
    badgeKey: derivedKey('gatehouse badges'),
    site,
    isAccount,
    names: deviceNames,
  })
  const photos = new Photos({
    work,
    clock,
    people,
    audit,
    room,
    rate: new ByteRate({ clock, bytesPerMinute: () => live.config.rateLimit.photoBytesPerMinute }),
    dataDir: config.dataDir,
    sightOf: (caller) => warehouse.sightOf(caller),
    siteUrl: () => live.config.site.url,
  })
  const recorder = new Recorder({
    clock,
    log: logRoom,
    openings,
    people,
    head,
    warehouse,
    photos,
    outbox,
    audit,
    makeId,
    clockIsTrusted: (nowMs) => clockSync.isTrusted(nowMs),
    settings: () => ({ enforce: live.config.ledger.enforce, maxAgeMs: live.config.ledger.maxAge }),
    names,
  })
  const ledger = new LedgerService({ work, recorder, warehouse, photos, idempotency })
  const units = new UnitService({
    work,
    log: logRoom,
    openings,
    people,
    recorder,
    warehouse,
    photos,
    outbox,
    audit,
    idempotency,
    makeId,
    stages: () => live.config.units.stages,
  })
  const scales = new ScaleService({ work, people, recorder, warehouse, units, outbox, audit, idempotency, makeId })
  const acts = new Acts({ work, recorder, warehouse, idempotency })
  const corrections = new Corrections({ work, recorder, warehouse, idempotency, audit })
  const imports = new ImportService({
    work,
    warehouse,
    ledger,
    audit,
    people,
    clock,
    room,
    dataDir: config.dataDir,
    warehouseId: () => live.config.site.warehouseId,
  })
  const counts = new CountsService({
    work,
    warehouse,
    recorder,
    openings,
    people,
    audit,
    idempotency,
    random,
    warehouseId: () => live.config.site.warehouseId,
  })
  const floor = new FloorService({ work, warehouse, idempotency })
  const scanner = new Scanner({
    work,
    warehouse,
    resolvers: [(tx, { code }, caller) => units.matches(tx, code, caller)],
  })
  const discrepancies = new Discrepancies({ work, warehouse })
  const exchange = new ExchangeService({ work, warehouse, clock, siteUrl: () => live.config.site.url })
  const assetList = new AssetList({ work, warehouse })
  const labelSettings = () => ({ ...live.config.labels, printers: live.config.printers })
  const printWorker = new PrintWorker({ work, clock, log, settings: labelSettings })
  const labels = new LabelService({
    work,
    clock,
    warehouse,
    people,
    audit,
    idempotency,
    settings: labelSettings,
    onQueued: () => printWorker.wake(),
  })
  const webhooks = createWebhooks({
    work,
    clock,
    random,
    makeId,
    box: secretBox(boxKey, random),
    outbox,
    notifications,
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
      uplinkProbes: live.config.uplink.probes,
    }),
    site: { siteId: config.site.id, warehouseId: config.site.warehouseId },
    version,
    log,
    onAttempt: ({ outcome }) => metrics.attempted(outcome),
    unwrittenAlerts: () => health.unwritten,
  })
  const camerasThread = new CamerasThread({
    ...{ clipsFolder: join(config.dataDir, 'clips'), ffmpeg: config.ffmpeg.path, log, clock },
    logFormat: outside.logFormat ?? 'json',
  })
  const cameras = new CamerasService({
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
      reserveBytes: live.config.retention.ledgerReserveBytes,
    }),
    link: camerasThread,
    names,
  })
  camerasThread.listen(cameras)
  const traces = new Traces({ work, warehouse, cameras })
  const metrics: Metrics = new Metrics({
    logSize: () => logRoom.size,
    webhooks: () => webhooks.status(),
    storageServers: () => storageUsers.status(),
    freeBytes: () => room.free().bytes,
    health: () => health.figures(),
    box: boxSampler(clock),
    version,
  })
  const health: HealthWatch = composeHealth({
    ...{ work, clock, log, config: () => live.config, room, storageUsers, cameras, webhooks, outbox, clockSync },
    metrics: () => metrics,
  })
  const jobs = new Jobs({ log })
  const governance = createGovernance({
    work,
    clock,
    nowMs: () => recorder.nowMs(),
    log: logRoom,
    openings,
    people,
    outbox,
    audit,
    idempotency,
    makeId,
    warehouse,
    cameras,
    photos,
    room,
    dataDir: config.dataDir,
    site: () => ({
      siteUrl: live.config.site.url,
      instance: siteUrl(),
      warehouseId: live.config.site.warehouseId,
    }),
    compose: (spec) => jobs.report(config.dataDir, spec),
    transportUnit: (read, id, caller) => {
      const held = units.holdings(read, id)
      return held && warehouse.isVisible(caller, held.warehouseId) ? held : undefined
    },
    elsewhere: {
      transport_unit: (read, id) => units.holdings(read, id)?.warehouseId,
      scale_reading: (read, id) => scales.warehouseOf(read, numericPath(id)),
    },
  })
  /** Nobody signed in for it: whoever could do that has the box. */
  const atTheBox = (mode: string) => ({ requestId: makeId(), address: 'local', mode })
  const startedMs = clock.monotonic()
  const api = buildApi({
    log,
    clock,
    version,
    makeId,
    addressOf: (raw) => addressResolver(live.config.http.trustedProxies)(raw),
    isOverTls: (raw) => tlsResolver(live.config.http.trustedProxies)(raw),
    corsOrigins: () => live.config.http.corsOrigins,
    isOurHost: ownHosts(() => live.config),
    servesPlainHttp: () => live.config.listen.some(({ tls, allowPlainHttp }) => tls === null && allowPlainHttp),
    authenticator,
    sessions,
    admission,
    firstUses,
    refusals,
    site: () => ({
      siteId: live.config.site.id,
      instance: live.config.site.url,
      storageInstances: live.config.storage.instances.map(({ url }) => url),
    }),
    metrics,
    health,
    uptimeSeconds: () => (clock.monotonic() - startedMs) / 1000,
    devices,
    signedUrls,
    warehouse,
    floor,
    scanner,
    discrepancies,
    traces,
    assetList,
    labels,
    ledger,
    acts,
    corrections,
    exchange,
    photos,
    units,
    scales,
    imports,
    counts,
    cameras,
    webhooks,
    governance,
  })
  const collector = config.metrics.listen
  const readToken = () => (collector ? metricsToken(collector, config.dataDir, random, log) : '')
  let collectorToken = readToken()
  return {
    api,
    imports,
    warehouse,
    makeId,
    metricsApi: collector
      ? metricsApi({
          metrics,
          token: () => collectorToken,
          networks: collector.networks,
          log,
          makeRequestId: makeId,
        })
      : undefined,
    live,
    jobs,
    camerasThread,
    cameras,
    webhooks,
    storageUsers,
    printWorker,
    health,
    clockSync,
    renewMetricsToken: () => {
      collectorToken = readToken()
    },
    audit: (action, changes) =>
      work.write((write) => audit.write(write, atTheBox('signal'), { action, entity: 'config', changes })),
    noteAccounts: (mode) => governance.noteAccounts(live.config.auth.users, atTheBox(mode)),
    erasePerson: async (request, osUser, compactUpToBytes = compactBesideWorkBytes) => {
      const caller = { username: osUser, instance: siteUrl(), authMode: 'command' }
      // What is still counted of the person is written first: written later, it would bring the name back.
      tally.flush()
      db.pragma('secure_delete = ON')
      const result = await governance
        .erase(request, { ...atTheBox('command'), caller })
        .finally(() => db.pragma('secure_delete = OFF'))
      const isGone = result.outcome === 'erased' || result.outcome === 'erased-before'
      return { ...result, compacted: isGone && compact(db, compactUpToBytes) }
    },
    close: () => {
      tally.flush()
      work.close()
      reader.close()
      closeWriter()
    },
  }
}
