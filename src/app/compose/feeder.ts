import type { BackupSchedule, SegmentKeeper } from '../../backup/index.ts'
import { type Config, readSecretFile } from '../../config/index.ts'
import { EvidenceClient } from '../../evidence/index.ts'
import { Feeder, type Fleet, mostAlerts } from '../../feed/index.ts'
import { type HealthWatch, type Metrics, overall } from '../../health/index.ts'
import { readCertificate } from '../../http/index.ts'
import { canonicalJson, parsedJson, sha256 } from '../../log/index.ts'
import { answerBounds, isoTime } from '../../platform/index.ts'
import type { RowChanges } from '../../warehouse/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedEvidence } from './evidence.ts'
import type { ComposedStorage } from './storage.ts'

/** Less than the 65 s after which the head office closes an idle connection. */
const idleMs = 30_000

type FleetParts = ComposedStorage & {
  readonly cameras: { cameraHealth(): readonly { readonly badSinceMs: number | null }[] }
  readonly backupSchedule: Pick<BackupSchedule, 'seen'>
  readonly segments: Pick<SegmentKeeper, 'seen'>
  readonly webhooks: Webhooks
  readonly assets: { readonly changes: RowChanges }
  readonly warehouse: { readonly changes: RowChanges }
}

/** Builds the feeder, which sends the log to the head office. */
export function composeFeeder(
  live: { config: Config },
  { clock, random, log, version }: Outside,
  parts: FleetParts &
    ComposedEvidence & {
      readonly metrics: Pick<Metrics, 'hubFed'>
      readonly health: () => HealthWatch
    },
): Feeder {
  const { work, logRoom, checkpoints, metrics, webhooks, health } = parts
  return new Feeder({
    work,
    clock,
    random,
    log,
    logRoom,
    checkpoints,
    client: new EvidenceClient({ clock, version, limits: answerBounds.feed, idleMs }),
    settings: () => {
      const { url, tokenFile, caFile, vkey, maxBytesPerSecond, openings } = live.config.hub
      if (url === null || tokenFile === null) return undefined
      return { url, caFile, vkey, maxBytesPerSecond, openings, token: () => readSecretFile(tokenFile) }
    },
    isBusy: () => webhooks.worker.isSending,
    changes: { assets: parts.assets.changes, slots: parts.warehouse.changes },
    status: async () => ({ ...statusOf(version, health(), clock.now()), fleet: await fleetOf(live.config, parts) }),
    onFed: (outcome, leaves, bytes) => metrics.hubFed(outcome, leaves, bytes),
  })
}

/** Returns the status of this gateway that the head office shows. */
function statusOf(version: string, health: HealthWatch, nowMs: number) {
  const checks = health.checks()
  const troubles = health.troubles.map(({ component, kind, message, sinceMs }) => ({
    component,
    kind,
    message,
    since: isoTime(Math.round(sinceMs)),
  }))
  return { version, at: isoTime(nowMs), health: overall(checks), checks, troubles }
}

/** Returns the figures by which people find the box that needs them, among a thousand. */
async function fleetOf(config: Config, parts: FleetParts): Promise<Fleet> {
  const { webhooks, cameras, backupSchedule, segments } = parts
  const { open, newest } = await webhooks.openAlerts()
  const [file, pieces] = [backupSchedule.seen(), segments.seen()]
  return {
    openAlerts: open,
    alerts: newest.slice(0, mostAlerts).map(({ kind, at }) => ({ kind, at })),
    cameras: {
      configured: config.cameras.length,
      withoutPictures: cameras.cameraHealth().filter(({ badSinceMs }) => badSinceMs !== null).length,
    },
    freeBytes: freeBytesOf(parts),
    certificateUntil: certificateUntil(config),
    backupAt: newestOf(file.newestMs, pieces.currentMs),
    rehearsedAt: newestOf(file.rehearsedMs, pieces.rehearsedMs),
    configHash: configHashOf(config),
    configSections: Object.fromEntries(
      Object.entries(config).map(([section, value]) => [section, configHashOf(value).slice(0, 16)]),
    ),
  }
}

function newestOf(...times: readonly (number | null)[]): string | null {
  const newest = Math.max(...times.map((ms) => ms ?? 0))
  return newest === 0 ? null : isoTime(Math.round(newest))
}

function freeBytesOf({ room }: FleetParts): number | null {
  try {
    return Math.floor(room.free().bytes)
  } catch {
    // A disk that does not answer: health has it.
    return null
  }
}

/**
 * Returns the time when the first of its certificates ends. One that cannot be read is not reported: health and the listener have
 * it.
 */
function certificateUntil({ listen }: Config): string | null {
  const ends = listen.flatMap(({ tls }) => {
    try {
      return tls ? [readCertificate(tls).notAfterMs] : []
    } catch {
      return []
    }
  })
  return ends.length === 0 ? null : isoTime(Math.min(...ends))
}

/** Hashes the config or a section of it. It has no passwords, only the names of their files; secret hashes are left out. */
function configHashOf(config: unknown): string {
  const plain = JSON.stringify(config ?? null, (key, value: unknown) => (key === 'secretHash' ? undefined : value))
  return sha256(canonicalJson(parsedJson(plain))).toString('hex')
}
