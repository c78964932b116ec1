import type { StorageUsers } from '../auth/index.ts'
import type { BackupsSeen, SegmentsSeen } from '../backup/index.ts'
import type { CamerasService, ConfiguredCameras } from '../cameras/index.ts'
import type { ClockBook } from '../clock/index.ts'
import type { Config } from '../config/index.ts'
import type { DiskRoom, UnitOfWork } from '../database/index.ts'
import type { AuthoritySeen, SigningStop, WitnessSeen } from '../evidence/index.ts'
import type { FeedSeen } from '../feed/index.ts'
import {
  type Box,
  backupObservations,
  boxObservations,
  type Component,
  cameraObservations,
  clipsObservation,
  clockObservation,
  commitsObservation,
  configObservation,
  conflictObservations,
  databaseObservation,
  diskObservation,
  ffmpegObservation,
  HealthWatch,
  hubObservations,
  imageObservations,
  type Metrics,
  notificationOf,
  type Observation,
  photosObservation,
  preRollObservations,
  refusedObservation,
  segmentObservations,
  signingObservation,
  stampObservations,
  storageObservations,
  uploadObservations,
  witnessObservations,
} from '../health/index.ts'
import type { Outbox } from '../journal/index.ts'
import { lookAtLog } from '../log/index.ts'
import type { ProviderPeople } from '../oidc/index.ts'
import type { Photos } from '../photos/index.ts'
import { errorMessage } from '../platform/faults.ts'
import type { FfmpegOrigin } from '../platform/ffmpeg.ts'
import type { ApplianceImage, Clock, FreeSpace, Logger } from '../platform/index.ts'
import type { Retention } from '../retention/index.ts'
import type { Wellness } from '../upload/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import type { ReloadBook } from './reload-book.ts'

type HealthNeeds = {
  work: UnitOfWork
  clock: Clock
  log: Logger
  config: () => Config
  room: DiskRoom
  photos: Pick<Photos, 'diskFault'>
  storageUsers: StorageUsers
  providerPeople: Pick<ProviderPeople, 'wellness'>
  cameras: CamerasService
  retention: Pick<Retention, 'shortfall'>
  configured: ConfiguredCameras
  webhooks: Webhooks
  outbox: Outbox
  metrics: Pick<Metrics, 'healthChanged'>
  clockBook: Pick<ClockBook, 'report' | 'steps'>
  uploads: () => Wellness
  backups: () => BackupsSeen & { readonly segments: SegmentsSeen }
  witnesses: () => readonly WitnessSeen[]
  hub: () => FeedSeen | undefined
  authorities: () => readonly AuthoritySeen[]
  witnessConflicts: () => readonly { readonly origin: string; readonly size: number }[]
  ffmpegOrigin: () => FfmpegOrigin | undefined
  signingStopped: () => SigningStop | 'not-written' | undefined
  reloads: Pick<ReloadBook, 'now'>
  box: Pick<Box, 'troubles'>
  image: () => ApplianceImage | undefined
  alertChannels: () => readonly Observation[]
}

/** Builds the health watch with its sources and receivers. */
export function composeHealth(needs: HealthNeeds): HealthWatch {
  const { work, clock, log, room, cameras, configured, webhooks, outbox, metrics, clockBook } = needs
  const camera = (id: number) => {
    const seen = cameras.cameraHealth().find((one) => one.id === id)
    return {
      name: seen?.name ?? `Camera ${id}`,
      problem: seen?.problem ?? null,
      warehouseId: configured.warehouseOf(id),
    }
  }
  return new HealthWatch({
    work,
    clock,
    log,
    sources: sourcesOf(needs),
    backupFacts: needs.backups,
    clockFacts: () => ({ ...clockBook.report, steps: clockBook.steps }),
    isConfigured: (component) => isConfigured(component, needs),
    webhooks: () => (webhooks.areWell() ? 'healthy' : 'degraded'),
    raise: (tx, alert, change) => {
      webhooks.raise(tx, alert)
      if (change.before) {
        const { kind, subject } = change.before
        webhooks.resolve(tx, { kind, subject, nowMs: alert.nowMs })
      }
      const notification = notificationOf(change, alert.nowMs, camera)
      if (notification) outbox.created(tx, notification)
    },
    onChange: (kind) => {
      metrics.healthChanged(kind)
      if (kind === 'disk.recovered') room.keepStartRoom()
    },
  })
}

function isConfigured(component: Component, needs: HealthNeeds): boolean {
  const { storage, auth, cameras, alerts } = needs.config()
  switch (component) {
    case 'storage':
      return storage.instances.length + auth.oidc.length > 0
    case 'webhooks':
      return needs.webhooks.hasEndpoints()
    case 'cameras':
      return cameras.length > 0
    case 'evidence':
      return needs.witnesses().length + needs.authorities().length > 0
    case 'backup':
      return needs.backups().everyMs !== null || needs.backups().segments.everyMs !== null
    case 'hub':
      return needs.hub() !== undefined
    case 'alerts':
      return alerts.channels.length > 0
    default:
      return true
  }
}

/** Returns the sources of observations, by component. */
function sourcesOf(needs: HealthNeeds): ConstructorParameters<typeof HealthWatch>[0]['sources'] {
  const { work, clock, config, room, storageUsers, providerPeople, cameras, retention, clockBook, ffmpegOrigin } = needs
  return {
    database: () => [
      signingObservation(needs.signingStopped()),
      databaseObservation(failureOf(() => work.read(lookAtLog))),
    ],
    disk: (before) => {
      const disk = diskObservation(
        {
          free: spaceIn(room),
          fault: faultOf(work),
          misplaced: misplacedIn(work, config().dataDir),
          limits: config().retention,
          shortfall: retention.shortfall,
        },
        before,
      )
      // A disk that takes nothing takes no photos either: one alert is enough.
      const photos = disk.wrong ? undefined : needs.photos.diskFault
      return [disk, commitsObservation(work.slowCommitMs), photosObservation(photos)]
    },
    clock: () => [clockObservation(clockBook.report)],
    storage: () => [
      ...storageObservations(storageUsers.wellness()),
      ...storageObservations(providerPeople.wellness(), 'OpenID provider'),
      ...uploadObservations(needs.uploads(), clock.now()),
    ],
    backup: () => [
      ...backupObservations(needs.backups(), clock.now()),
      ...segmentObservations(needs.backups().segments, clock.now()),
    ],
    evidence: () => [
      ...witnessObservations(needs.witnesses()),
      ...stampObservations(needs.authorities()),
      ...conflictObservations(needs.witnessConflicts()),
    ],
    hub: () => hubObservations(needs.hub()),
    box: () => [...boxObservations(needs.box.troubles), ...imageObservations(needs.image(), clock.now())],
    alerts: () => needs.alertChannels(),
    config: () => [configObservation(needs.reloads.now.refused, clock.now())],
    cameras: (before) => {
      const seen = cameraObservations(cameras.cameraHealth(), clock.now())
      // Also without a camera: those of one that was taken out of the config wait as well.
      const clips = clipsObservation(cameras.clipsWaiting())
      const all = [...seen, clips, refusedObservation(cameras.clipsRefused(), before)]
      if (seen.length === 0) return all
      return [...all, ...preRollObservations(cameras.preRolls()), ffmpegObservation(ffmpegOrigin(), before)]
    },
  }
}

function spaceIn(room: DiskRoom): FreeSpace | undefined {
  try {
    return room.free()
  } catch {
    return undefined
  }
}

function faultOf(work: UnitOfWork): { isFull: boolean; details: string } | undefined {
  const fault = work.diskFault
  return fault && { isFull: fault.details === 'SQLITE_FULL', details: fault.details }
}

function misplacedIn(work: UnitOfWork, dataDir: string): { path: string; isFolder: boolean } | undefined {
  const path = work.misplaced
  return path === undefined ? undefined : { path, isFolder: path === dataDir }
}

function failureOf(look: () => unknown): string | null {
  try {
    look()
    return null
  } catch (error) {
    return errorMessage(error)
  }
}
