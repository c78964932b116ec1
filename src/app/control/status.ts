import { statSync } from 'node:fs'
import type { BackupSchedule, SegmentKeeper } from '../../backup/index.ts'
import type { Config } from '../../config/index.ts'
import { type DiskRoom, databaseFile, type ReadTx, type UnitOfWork } from '../../database/index.ts'
import type { Checkpoints, TimeStamps, Witnesses } from '../../evidence/index.ts'
import { type FeedSeen, isNewerRelease } from '../../feed/index.ts'
import { type HealthWatch, overall } from '../../health/index.ts'
import { headOf } from '../../ledger/index.ts'
import { type Checkpoint, type Log, lastCosignature, lastTimestampBy } from '../../log/index.ts'
import {
  type ApplianceImage,
  type ClockReport,
  isoTime,
  isWithinHours,
  type LastUpdate,
  parseWeeklyHours,
} from '../../platform/index.ts'
import type { Wellness } from '../../upload/index.ts'
import type { WarehouseService } from '../../warehouse/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import type { ConfigNow } from '../reload-book.ts'
import { lastVerification } from './verification-note.ts'

/** State of the gateway: JSON of `gatehouse status --json`. Times are ISO 8601 in UTC, null: never or not known. */
export type GatewayStatus = Awaited<ReturnType<ReturnType<typeof statusReader>>>

type StatusNeeds = {
  readonly live: { readonly config: Config }
  readonly version: string
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly work: UnitOfWork
  readonly warehouse: Pick<WarehouseService, 'timezoneOf' | 'slotLabelled'>
  readonly logRoom: Log
  readonly checkpoints: Pick<Checkpoints, 'newest' | 'stopped'>
  readonly witnesses: Pick<Witnesses, 'seen'>
  readonly timeStamps: Pick<TimeStamps, 'seen'>
  /** Undefined without a head office. */
  readonly feed: () => FeedSeen | undefined
  readonly cameras: {
    cameraHealth(): readonly { id: number; badSinceMs: number | null; problem: string | null }[]
  }
  readonly webhooks: Pick<Webhooks, 'status' | 'isOnline' | 'openAlerts'>
  readonly uploads: () => Wellness
  /** Says whether the clips of a camera are to be uploaded. */
  readonly uploadsClips: (cctvId: number) => boolean
  readonly backups: BackupSchedule['seen']
  readonly segments: SegmentKeeper['seen']
  readonly clock: () => ClockReport & { readonly steps: number }
  readonly room: Pick<DiskRoom, 'free'>
  readonly image: () => ApplianceImage | undefined
  readonly health: Pick<HealthWatch, 'checks' | 'troubles'>
}

/**
 * Returns a function that reports the present state of the gateway. It asks the probes of the uplink, which takes up to 10 s when
 * they fail.
 */
export function statusReader(needs: StatusNeeds) {
  const { live, version, nowMs, monotonicMs, health, webhooks } = needs
  const startedMs = monotonicMs()
  return async (configNow: ConfigNow, isServing: boolean) => {
    const { config } = live
    const [isOnline, alerts] = await Promise.all([webhooks.isOnline(), webhooks.openAlerts()])
    const uptimeMs = monotonicMs() - startedMs
    return {
      running: isServing,
      version,
      pid: process.pid,
      startedAt: isoTime(Math.round(nowMs() - uptimeMs)),
      uptimeSeconds: Math.round(uptimeMs / 1000),
      site: { id: config.site.id, url: config.site.url },
      health: overall(health.checks()),
      troubles: health.troubles.map(({ component, kind, message, sinceMs }) => ({
        component,
        kind,
        message,
        since: isoTime(Math.round(sinceMs)),
      })),
      ledger: ledgerOf(needs),
      ...evidenceOf(needs),
      hub: hubOf(needs),
      cameras: camerasOf(needs),
      webhooks: webhooks.status(),
      uploads: uploadsOf(needs),
      backup: { ...backupOf(needs.backups()), segments: segmentsOf(needs.segments()) },
      clock: clockOf(needs.clock()),
      uplink: { probes: config.uplink.probes.length, online: isOnline },
      disk: diskOf(needs),
      config: configOf(configNow),
      updates: updatesOf(needs),
      image: imageOf(needs.image()),
      alerts,
      memoryBytes: process.memoryUsage.rss(),
    }
  }
}

const timeOf = (ms: number | null | undefined) =>
  ms === null || ms === undefined || ms === 0 ? null : isoTime(Math.round(ms))

function ledgerOf({ live, work, logRoom }: StatusNeeds) {
  const { dataDir } = live.config
  const head = work.read(headOf)
  const checked = lastVerification(dataDir)
  return {
    logId: logRoom.identity.logId,
    leaves: logRoom.size,
    events: head.id,
    lastEventAt: timeOf(head.receivedAtMs),
    fileBytes: statSync(databaseFile(dataDir), { throwIfNoEntry: false })?.size ?? 0,
    lastCheck: checked ?? null,
  }
}

function evidenceOf({ live, work, logRoom, checkpoints, witnesses, timeStamps }: StatusNeeds) {
  const newest = checkpoints.newest()
  const troubles = new Map([
    ...witnesses.seen().map(({ name, trouble }) => [name, trouble?.words ?? null] as const),
    ...timeStamps.seen().map(({ url, trouble }) => [url, trouble ?? null] as const),
  ])
  const log = logRoom.identity.number
  const { evidence } = live.config
  return {
    checkpoint: checkpointOf(newest, logRoom.size, checkpoints.stopped),
    witnesses: work.read((tx: ReadTx) =>
      evidence.witnesses.map(({ name }) => {
        const last = lastCosignature(tx, log, name)
        return {
          name,
          size: last?.size ?? null,
          cosignedAt: timeOf(last?.cosigned_at_ms),
          trouble: troubles.get(name) ?? null,
        }
      }),
    ),
    timestamps: work.read((tx: ReadTx) =>
      evidence.timestamps.map(({ url }) => {
        const last = lastTimestampBy(tx, log, url)
        return {
          url,
          size: last?.size ?? null,
          stampedAt: timeOf(last?.stamped_at_ms),
          trouble: troubles.get(url) ?? null,
        }
      }),
    ),
  }
}

/**
 * Returns the state of the feed to the head office; null without one.
 * - `acknowledged`: leaves of the log that it has; null before its first answer.
 * - `lag`: leaves that it lacks.
 * - `names`: whether names of people are sent there.
 * - `offer`: a newer version offered by it.
 */
function hubOf({ feed, logRoom, live, version, nowMs, work, warehouse }: StatusNeeds) {
  const seen = feed()
  if (!seen) return null
  const { url, size, fedAtMs, names, offer, trouble, forMs } = seen
  const timezone = work.read((tx) => warehouse.timezoneOf(tx, live.config.site.warehouseId))
  return {
    url,
    acknowledged: size,
    acknowledgedAt: timeOf(fedAtMs),
    names,
    offer: offerNow(offer, live.config.updates, { running: version, atMs: nowMs(), timezone }),
    lag: size === null ? null : Math.max(0, logRoom.size - size),
    trouble: trouble ? { ...trouble, forSeconds: Math.round(forMs / 1000) } : null,
  }
}

function checkpointOf(newest: Checkpoint | undefined, leaves: number, stopped: string | undefined) {
  return {
    size: newest?.size ?? null,
    signedAt: timeOf(newest?.signed_at_ms),
    unsigned: leaves - (newest?.size ?? 0),
    stopped: stopped ?? null,
  }
}

type CameraNow = {
  readonly id: number
  readonly name: string
  /** off: no stream of it is wanted now. */
  readonly state: 'live' | 'away' | 'off'
  readonly since: string | null
  readonly problem: string | null
  /** Labels in its config that no slot has. */
  readonly unknownSlots: readonly string[]
}

function camerasOf({ live, cameras, work, warehouse }: StatusNeeds): CameraNow[] {
  const wanted = new Map(cameras.cameraHealth().map((one) => [one.id, one]))
  return live.config.cameras.map(({ id, name, slots }) => {
    const unknownSlots = work.read((tx) => slots.filter((label) => !warehouse.slotLabelled(tx, label)))
    const camera = { id, name, unknownSlots }
    const seen = wanted.get(id)
    if (!seen) return { ...camera, state: 'off', since: null, problem: null }
    if (seen.badSinceMs === null) return { ...camera, state: 'live', since: null, problem: null }
    return { ...camera, state: 'away', since: timeOf(seen.badSinceMs), problem: seen.problem }
  })
}

/** `camerasLeftOut`: cameras whose clips are not uploaded. */
function uploadsOf({ live, uploads, uploadsClips }: StatusNeeds) {
  const { isConfigured, pending, parked, oldestMs, parkedError, refusal } = uploads()
  const camerasLeftOut = live.config.cameras.map(({ id }) => id).filter((id) => !uploadsClips(id))
  const of = { configured: isConfigured, pending, parked, oldestAt: timeOf(oldestMs), lastError: parkedError }
  return { ...of, camerasLeftOut, refusal: refusal?.error ?? null }
}

function backupOf(seen: ReturnType<BackupSchedule['seen']>) {
  const { everyMs, media, newestMs, rehearsedMs, makeFault, rehearsalFault } = seen
  return {
    everySeconds: everyMs === null ? null : everyMs / 1000,
    media,
    newestAt: timeOf(newestMs),
    rehearsedAt: timeOf(rehearsedMs),
    makeFault,
    rehearsalFault,
  }
}

function segmentsOf(seen: ReturnType<SegmentKeeper['seen']>) {
  const { everyMs, currentMs, rehearsedMs, fault, rehearsalFault } = seen
  return {
    everySeconds: everyMs === null ? null : everyMs / 1000,
    currentAt: timeOf(currentMs),
    rehearsedAt: timeOf(rehearsedMs),
    fault,
    rehearsalFault,
  }
}

function clockOf({ state, source, offsetMs, steps }: ReturnType<StatusNeeds['clock']>) {
  return { state, source, offsetMs, steps }
}

/** `freeBytes`: null when the disk does not answer. */
function diskOf({ live, room, work }: StatusNeeds) {
  const { minFreeBytes, ledgerReserveBytes } = live.config.retention
  const limits = { minFreeBytes, ledgerReserveBytes, fault: work.diskFault?.details ?? null }
  try {
    return { freeBytes: room.free().bytes, ...limits }
  } catch {
    return { freeBytes: null, ...limits }
  }
}

function configOf({ file, loadedMs, refused, waiting }: ConfigNow) {
  return {
    file: file ?? null,
    loadedAt: isoTime(Math.round(loadedMs)),
    refused: refused && { at: isoTime(Math.round(refused.atMs)), problems: refused.problems },
    waiting,
  }
}

/**
 * Returns the times in which updates may be installed, and whether that is now; `timezone`: of the warehouse. `timezone`: of the
 * warehouse.
 */
function updatesOf({ live, work, warehouse, nowMs }: StatusNeeds) {
  const { window } = live.config.updates
  const timezone = work.read((tx) => warehouse.timezoneOf(tx, live.config.site.warehouseId))
  const hours = window.map(parseWeeklyHours).filter((one) => one !== undefined)
  return { window, timezone, isWindowNow: isWithinHours(hours, timezone, nowMs()) }
}

/** Returns the system image of an appliance and the result of the last attempt to update it; null where there is none. */
function imageOf(image: ApplianceImage | undefined) {
  if (!image) return null
  const { version, isUpdated, askedAtMs, lastUpdate, openUpdate } = image
  const shown = (update: LastUpdate | null) =>
    update && (({ atMs, ...rest }) => ({ at: isoTime(atMs), ...rest }))(update)
  return {
    version,
    isUpdated,
    askedAt: timeOf(askedAtMs),
    openUpdate: shown(openUpdate),
    lastUpdate: shown(lastUpdate),
  }
}

/**
 * A version that the head office offers. `isTakenNow`: the config of this box lets it be installed now; `why` gives the reason in
 * words.
 */
type OfferNow = { readonly version: string; readonly isTakenNow: boolean; readonly why: string }

/** `timezone`: of the warehouse. */
type Now = { readonly running: string; readonly atMs: number; readonly timezone: string }

/**
 * Decides what this box does with an offered version. Its own config alone decides; a version that is not newer than the running one is
 * no offer. Pure.
 */
export function offerNow(
  offered: string | null,
  { offers, window }: Config['updates'],
  { running, atMs, timezone }: Now,
): OfferNow | null {
  if (offered === null || offers === 'ignore' || !isNewerRelease(offered, running)) return null
  if (offers === 'show')
    return { version: offered, isTakenNow: false, why: 'updates.offers is show: a person installs it' }
  const hours = window.map(parseWeeklyHours).filter((one) => one !== undefined)
  const isTakenNow = isWithinHours(hours, timezone, atMs)
  const times = `updates.window (${window.join(', ')} in ${timezone})`
  return { version: offered, isTakenNow, why: isTakenNow ? `it is within ${times}` : `it is outside ${times}` }
}
