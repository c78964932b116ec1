import { applyLive, type Config, changedFiles, type FileMarks, fileMarks, loadConfig, plan } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import { HttpListener, readCertificate } from '../http/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { compose, type Gateway } from './compose.ts'
import { controlActions } from './control/actions.ts'
import { ControlSocket } from './control/control.ts'
import type { Outside } from './outside.ts'
import type { ReloadBook } from './reload-book.ts'
import { type StopStep, stopAll } from './stop.ts'

/** Keys that decide who may do or see what, besides the accounts themselves. */
const decidesAccess = /^auth\.(defaultRole|groupRoles)|^warehouses\b|^cameras(\[[^\]]*\])?(\.(viewers|owner).*)?$/

/**
 * Returns the audit entry of a reload: keys, never values, and no names of people in them.
 * @param files key paths of files whose content changed
 */
function reloadFacts({ live, restart }: ReturnType<typeof plan>, files: readonly string[]) {
  return { live: unlike(live), restart: unlike(restart), ...(files.length > 0 && { files: unlike(files) }) }
}

/** Returns what a reload changes about who may see or do something; undefined when nothing. */
function accessFacts(old: Config, next: Config, { live }: ReturnType<typeof plan>) {
  const keys = unlike(live.filter((path) => decidesAccess.test(path)))
  if (keys.length === 0) return undefined
  const values = (name: 'defaultRole' | 'groupRoles') =>
    keys.some((key) => key.startsWith(`auth.${name}`)) && { [name]: { from: old.auth[name], to: next.auth[name] } }
  return { keys, ...values('defaultRole'), ...values('groupRoles') }
}

function unlike(paths: readonly string[]): string[] {
  return [...new Set(paths.map(withoutNames))]
}

function withoutNames(path: string): string {
  return path.replace(/^auth\.users\[[^\]]*\]/, 'auth.users[…]').replace(/^rateLimit\.users\..*$/, 'rateLimit.users.…')
}

export type Running = {
  /** Port of each listener, in the order of the config. */
  readonly ports: readonly number[]
  readonly gateway: Gateway
  /** Applies the live keys of a changed config; a bad one changes nothing. */
  reload(): Promise<void>
  /** No new requests, those under way are answered, deliveries under way are recorded, files are closed. */
  stop(): Promise<void>
}

/** Starts a gateway: rooms, workers, control socket, listeners, in this order; stops what it started when one fails. */
export async function startGateway(config: Config, outside: Outside, configFile: string | undefined): Promise<Running> {
  const { log } = outside
  const gateway = await compose(config, outside, configFile === undefined)
  const { reloads } = gateway
  const started: StopStep[] = []
  const stop = () => stopAll(started, gateway, log)
  try {
    for (const worker of gateway.workers) {
      await worker.start?.()
      started.push({
        name: worker.constructor.name,
        isAlone: gateway.stopAlone.has(worker),
        end: () => worker.stop?.(),
      })
    }
    const control = new ControlSocket({
      runtimeDir: config.runtimeDir,
      actions: controlActions(gateway, config.dataDir, outside.clock),
      log,
    })
    await control.start()
    started.push({ name: 'control socket', end: () => control.stop() })
    // A full disk keeps no one from looking, so it keeps no gateway from starting.
    await gateway.noteAccounts('start').catch((err: unknown) => log.error({ err }, 'the accounts could not be noted'))
    const ports: number[] = []
    const listeners = config.listen.map((options) => new HttpListener(options, gateway.api))
    for (const listener of listeners) {
      ports.push(await listener.start())
      started.push({ name: 'listener', end: () => listener.stop() })
    }
    if (config.metrics.listen && gateway.metricsApi) {
      const listener = new HttpListener(config.metrics.listen, gateway.metricsApi)
      log.info({ host: config.metrics.listen.host, port: await listener.start() }, 'metrics for a collector')
      started.push({ name: 'listener of metrics', end: () => listener.stop() })
    }
    await gateway.takeover.settle(() => lookAtWork(gateway), takeoverLimitMs)
    const watch = watchCertificates(config, outside)
    started.push({ name: 'certificates', end: () => watch.stop() })
    const renew = () => {
      for (const listener of listeners) renewCertificate(listener, log)
      watch.look()
    }
    const reloading = {
      gateway,
      configFile,
      log,
      reloads,
      clock: outside.clock,
      renewCertificates: renew,
      files: fileMarks(config),
    }
    // This look reports the result of a reload at once: alert, health and receivers need not wait for the next round.
    const reloadAndLook = () => reload(reloading).finally(() => gateway.health.look())
    return { ports, gateway, reload: reloadAndLook, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Below TimeoutStartSec of the unit. */
const takeoverLimitMs = 180_000

/**
 * Checks that the writer answers, the log may be signed, and the database is well. Cameras and receivers are outside the gateway;
 * they do not count here.
 */
async function lookAtWork({ work, checkpoints, health }: Gateway): Promise<void> {
  await work.write(() => {})
  if (checkpoints.stopped) throw new Error(`the log is not signed: ${checkpoints.stopped}`)
  const { database } = health.checks()
  if (database?.status === 'unhealthy') throw new Error(database.reason ?? 'the database is unhealthy')
}

/** A certificate that cannot be used leaves the old one in place, so that scanning continues. */
function renewCertificate(listener: HttpListener, log: Logger): void {
  try {
    listener.renewCertificate()
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    log.error({ problem: error.message }, 'the new certificate is bad; the old one stays')
  }
}

const dayMs = 86_400_000

/** Says in the log, at once and every day, which certificate runs out within 30 days or has. */
function watchCertificates(config: Config, { clock, log }: { clock: Clock; log: Logger }) {
  const look = () => {
    for (const { tls } of config.listen) if (tls) tellExpiry(tls, clock.now(), log)
  }
  look()
  const timer = setInterval(look, dayMs)
  timer.unref()
  return { look, stop: () => clearInterval(timer) }
}

function tellExpiry(tls: Parameters<typeof readCertificate>[0], nowMs: number, log: Logger): void {
  try {
    const daysLeft = Math.floor((readCertificate(tls).notAfterMs - nowMs) / dayMs)
    if (daysLeft < 0) log.error({ certFile: tls.certFile }, 'the certificate has run out; clients refuse it')
    else if (daysLeft < 30) log.warn({ certFile: tls.certFile, daysLeft }, 'the certificate runs out soon')
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    log.error({ problem: error.message }, 'the certificate on disk is bad; the one in use stays')
  }
}

type Reloading = {
  readonly gateway: Gateway
  readonly configFile: string | undefined
  readonly log: Logger
  readonly reloads: ReloadBook
  readonly clock: Clock
  readonly renewCertificates: () => void
  /** The content of the files that the config names, as of the start or the last reload. */
  files: FileMarks
}

async function reload(reloading: Reloading): Promise<void> {
  const { gateway, configFile, log } = reloading
  reloading.renewCertificates()
  const next = configFile === undefined ? gateway.live.config : tryLoad(configFile, reloading)
  if (!next) return
  const marks = fileMarks(next)
  const files = changedFiles(reloading.files, marks)
  reloading.files = marks
  for (const [path, mark] of marks) if (mark === null) log.warn({ path }, `the file of ${path} cannot be read`)
  const changes = plan(gateway.live.config, next)
  reloading.reloads.applied(changes.restart, reloading.clock.now())
  if (changes.unchanged && files.length === 0) {
    log.info(configFile === undefined ? 'there is no config file to reload' : 'the config has not changed')
    return
  }
  const access = accessFacts(gateway.live.config, next, changes)
  gateway.live.config = applyLive(gateway.live.config, next)
  for (const worker of gateway.workers) worker.onReload?.()
  log.info(
    { live: changes.live, restart: changes.restart, files },
    'config reloaded; keys under "restart" wait for the next start',
  )
  // Everything above works on a full disk too: a corrected password must not wait for room in the audit trail.
  await gateway.audit('config.reloaded', reloadFacts(changes, files))
  if (access) await gateway.audit('permissions.changed', access)
  await gateway.noteAccounts('signal')
}

function tryLoad(configFile: string, { log, reloads, clock }: Reloading): Config | undefined {
  try {
    return loadConfig(configFile).config
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    reloads.refused(error.message, clock.now())
    log.error({ problems: error.message }, 'the new config is bad; the old one stays')
    return undefined
  }
}
