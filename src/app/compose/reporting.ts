import { statSync } from 'node:fs'
import type { BackupSchedule, SegmentKeeper } from '../../backup/index.ts'
import type { Config } from '../../config/index.ts'
import { IncidentPackages, Receipts } from '../../evidence/index.ts'
import { createGovernance, type Governance } from '../../governance/index.ts'
import { Box, type HealthWatch, LastDay, type Metrics } from '../../health/index.ts'
import { numericPath } from '../../http/index.ts'
import { applianceImage, type Logger } from '../../platform/index.ts'
import type { Retention } from '../../retention/index.ts'
import type { UploadQueue } from '../../upload/index.ts'
import { createWebhooks } from '../../webhooks/index.ts'
import { composeHealth } from '../health.ts'
import { notifications } from '../notifications.ts'
import type { Outside } from '../outside.ts'
import type { ReloadBook } from '../reload-book.ts'
import { composeAlerting } from './alerting.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedEvidence } from './evidence.ts'
import { composeFeeder } from './feeder.ts'
import type { ComposedLedger } from './ledger.ts'
import type { ComposedStorage } from './storage.ts'
import { composeUploads, reportToUpload } from './upload.ts'
import type { ComposedVideo } from './video.ts'

type Lower = ComposedStorage &
  ComposedCallers &
  ComposedLedger &
  ComposedVideo &
  ComposedEvidence & { readonly uploadQueue: UploadQueue }

export type ComposedReporting = ReturnType<typeof composeReporting>

/** Builds the parts that report on the gateway: webhooks, health, metrics, and the rooms that answer an auditor. */
export function composeReporting(
  live: { config: Config },
  outside: Outside,
  parts: Lower & {
    readonly retention: Retention
    readonly metrics: Metrics
    readonly backupSchedule: Pick<BackupSchedule, 'seen'>
    readonly segments: Pick<SegmentKeeper, 'seen'>
    readonly reloads: Pick<ReloadBook, 'now'>
  },
) {
  const { clock, log, version, heat, image = applianceImage } = outside
  const { work, outbox, metrics, storageUsers, providerPeople, cameras, configured, room, clockBook } = parts
  const webhooks = webhooksOf(live, outside, parts)
  const alerting = composeAlerting(live, outside, { ...parts, webhooks })
  const machine = new Box({ clock, heat, device: statSync(live.config.dataDir).dev })
  const copying = composeUploads(live, outside, { ...parts, webhooks })
  const feeder = composeFeeder(live, outside, { ...parts, webhooks, health: () => health })
  const health: HealthWatch = composeHealth({
    ...{ work, clock, log, config: () => live.config, room, storageUsers, providerPeople, cameras, configured },
    ...{ webhooks, outbox, clockBook },
    photos: parts.photos,
    retention: parts.retention,
    metrics,
    uploads: copying.uploadWellness,
    witnesses: () => parts.witnesses.seen(),
    hub: () => feeder.seen(),
    authorities: () => parts.timeStamps.seen(),
    witnessConflicts: () => parts.witness.conflicts(),
    ffmpegOrigin: () => parts.camerasThread.ffmpegOrigin,
    signingStopped: () => parts.checkpoints.stopped ?? (parts.checkpoints.isFailing ? 'not-written' : undefined),
    backups: () => ({ ...parts.backupSchedule.seen(), segments: parts.segments.seen() }),
    reloads: parts.reloads,
    box: machine,
    image: () => image(),
    alertChannels: () => alerting.observations(),
  })
  webhooks.alsoList(() => health.unwritten)
  metrics.observe({
    logSize: () => parts.logRoom.size,
    hub: () => feeder.seen()?.size ?? null,
    secured: () => work.read((tx) => parts.evidenceStates.sizes(tx, parts.logRoom.identity.number)),
    checkpoint: () => parts.checkpoints.newest(),
    backups: () => ({ ...parts.backupSchedule.seen(), segments: parts.segments.seen() }),
    webhooks: () => webhooks.status(),
    storageServers: () => storageUsers.status(),
    freeBytes: () => room.free().bytes,
    uploads: copying.uploadWellness,
    clock: () => ({ ...clockBook.report, steps: clockBook.steps.count }),
    nowMs: () => clock.now(),
    health: () => health.figures(),
    configNow: () => parts.reloads.now,
    image: () => image(),
    box: () => machine.sample(),
    version,
  })
  const lastDay = new LastDay({
    clock,
    box: () => machine.sample(),
    freeBytes: () => room.free().bytes,
    recorded: () => parts.logRoom.size,
    camerasOnline: () => cameras.states().filter(({ online }) => online).length,
    deliveriesWaiting: () => webhooks.status().pending,
    uploadsWaiting: () => {
      const { pending, parked } = copying.uploadWellness()
      return pending + parked
    },
  })
  const governance = governanceOf(live, outside, parts)
  const incidentPackages = packagesOf(log, parts, governance)
  return {
    ...copying,
    ...{ machine, feeder, webhooks, alerting, health, lastDay, governance, incidentPackages },
    receipts: receiptsOf(live, log, parts),
  }
}

function webhooksOf(
  live: { config: Config },
  { clock, random, log, version }: Outside,
  parts: ComposedStorage & ComposedLedger & { readonly metrics: Metrics },
) {
  const { work, makeId, box, outbox, audit, idempotency, metrics, newestCheckpoint } = parts
  return createWebhooks({
    ...{ work, clock, random, makeId, box, outbox, notifications, audit, idempotency, version, log, newestCheckpoint },
    settings: () => webhookSettings(live.config),
    site: { siteId: live.config.site.id, warehouseId: live.config.site.warehouseId },
    onAttempt: ({ outcome }) => metrics.attempted(outcome),
  })
}

function webhookSettings({ webhooks, uplink }: Config) {
  const { allowNetworks, caFile, timeout, retrySchedule, probe, autoResume, drainPerSecond } = webhooks
  return {
    allowNetworks,
    ...(caFile && { caFile }),
    timeoutMs: timeout,
    retryScheduleMs: retrySchedule,
    probe: { initialMs: probe.initial, maxMs: probe.max },
    autoResume: { enabled: autoResume.enabled, everyMs: autoResume.every },
    drainPerSecond,
    uplinkProbes: uplink.probes,
  }
}

function packagesOf(log: Logger, parts: Lower, governance: Governance): IncidentPackages {
  const { work, ledger, traces, units, photos, warehouse, gaps, proofs, checkpoints, audit, recorder } = parts
  return new IncidentPackages({
    ...{ work, log, governance, ledger, traces, units, photos, warehouse, gaps, proofs, checkpoints, audit },
    cameras: parts.configured,
    nowMs: () => recorder.nowMs(),
  })
}

function receiptsOf(live: { config: Config }, log: Logger, parts: Lower): Receipts {
  const { work, logRoom, ledger, units, photos, warehouse, proofs, checkpoints, audit, signedUrls } = parts
  return new Receipts({
    ...{ work, log, logRoom, ledger, units, photos, warehouse, proofs, checkpoints, audit, signedUrls },
    evidenceStates: parts.evidenceStates,
    signer: parts.signer,
    siteUrl: () => live.config.site.url,
  })
}

function governanceOf(live: { config: Config }, { clock }: Outside, parts: Lower) {
  const { work, openings, people, outbox, audit, idempotency, makeId, warehouse, assets, photos, room } = parts
  const { jobs, configured: cameras, detections, units, scales, recorder, siteUrl, uploadQueue } = parts
  const { dataDir } = live.config
  return createGovernance({
    ...{ work, clock, openings, people, outbox, audit, idempotency, makeId, warehouse, assets, photos, room, dataDir },
    ...{ cameras, detections, evidenceStates: parts.evidenceStates },
    signHead: () => parts.checkpoints.make(),
    nowMs: () => recorder.nowMs(),
    log: parts.logRoom,
    clockBook: parts.clockBook,
    site: () => ({
      siteUrl: live.config.site.url,
      instance: siteUrl(),
      warehouseId: live.config.site.warehouseId,
    }),
    compose: (spec) => jobs.report(dataDir, spec),
    onHeld: (tx, name) => parts.copies.hurry(tx, name),
    onReport: (tx, report) => uploadQueue.enqueue(tx, reportToUpload(live.config.site.id, report)),
    transportUnit: (read, id, caller) => {
      const held = units.holdings(read, id)
      return held && warehouse.isVisible(caller, held.warehouseId) ? held : undefined
    },
    elsewhere: {
      transport_unit: (read, id) => units.holdings(read, id)?.warehouseId,
      scale_reading: (read, id) => scales.warehouseOf(read, numericPath(id)),
    },
  })
}
