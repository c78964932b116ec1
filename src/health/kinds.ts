import type { AlertKind } from '../config/index.ts'

export const components = [
  'database',
  'disk',
  'clock',
  'storage',
  'webhooks',
  'cameras',
  'evidence',
  'backup',
  'hub',
  'config',
  'box',
  'alerts',
] as const

export type Component = (typeof components)[number]

export type CheckStatus = 'healthy' | 'degraded' | 'unhealthy'

export type Facts = {
  readonly component: Component
  readonly status: Exclude<CheckStatus, 'healthy'>
  /** Time that it must last before it counts, so that a camera that restarts raises no alert. */
  readonly graceMs: number
  /** GET /api/health shows it at once, also while its alert waits for the grace to end. */
  readonly shownAtOnce?: true
  /** Kind of the alert that reports its end. */
  readonly over: string
  /** Sentence in /api/health, which everyone may read: no name, no address. */
  readonly reason: string
}

const minuteMs = 60_000

/** Everything that can be wrong. When a subject has two troubles, the later one in this table is the worse. */
export const kinds = {
  'ffmpeg.bundled': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 0,
    over: 'ffmpeg.replaced',
    reason: 'The cameras are read by the ffmpeg that came with gatehouse, which is only a fallback.',
  },
  'clips.waiting': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 5 * minuteMs,
    over: 'clips.recovered',
    reason: 'Clips could not be made yet. Their video is kept.',
  },
  'clips.refused': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 0,
    over: 'clips.recovered',
    reason: 'The database refuses to record clips. Their files are kept.',
  },
  'camera.pre-roll': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 5 * minuteMs,
    over: 'camera.pre-roll.recovered',
    reason: 'The clips of a camera begin later than they should.',
  },
  'camera.too-busy': {
    component: 'cameras',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'camera.seeing',
    reason: 'gatehouse is too busy to look at the pictures of a camera.',
  },
  'camera.no-events': {
    component: 'cameras',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'camera.seeing',
    reason: 'The analytics of a camera are to find motion, and their events do not come.',
  },
  'camera.few-pictures': {
    component: 'cameras',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'camera.seeing',
    reason: 'A camera sends too few pictures for its motion to be found.',
  },
  'camera.still': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 0,
    over: 'camera.seeing',
    reason: 'A camera sends the same picture all the time.',
  },
  'camera.turned': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 30_000,
    over: 'camera.seeing',
    reason: 'A camera shows another place than before.',
  },
  'camera.covered': {
    component: 'cameras',
    status: 'degraded',
    graceMs: 30_000,
    over: 'camera.seeing',
    reason: 'A camera is covered, out of focus or in the dark.',
  },
  'camera.offline': {
    component: 'cameras',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'camera.online',
    reason: 'A camera has given no pictures for over a minute.',
  },
  'storage.slow': {
    component: 'storage',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'storage.recovered',
    reason: 'A storage server has taken over 2 s for its answers for over a minute.',
  },
  'storage.unreachable': {
    component: 'storage',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'storage.recovered',
    reason: 'A storage server or OpenID provider has not answered for over a minute.',
  },
  'uploads.late': {
    component: 'storage',
    status: 'degraded',
    graceMs: 10 * minuteMs,
    over: 'uploads.recovered',
    reason: 'Evidence has waited for its upload for over ten minutes.',
  },
  'uploads.parked': {
    component: 'storage',
    status: 'degraded',
    graceMs: 0,
    over: 'uploads.recovered',
    reason: 'Evidence could not be uploaded. It waits until a person retries it.',
  },
  'uploads.refused': {
    component: 'storage',
    status: 'degraded',
    graceMs: 0,
    over: 'uploads.recovered',
    reason: 'The storage server refuses the account that uploads evidence.',
  },
  'backup.late': {
    component: 'backup',
    status: 'degraded',
    graceMs: 0,
    over: 'backup.recovered',
    reason: 'The newest backup is too old.',
  },
  'backup.failed': {
    component: 'backup',
    status: 'degraded',
    graceMs: 0,
    over: 'backup.recovered',
    reason: 'The last backup failed.',
  },
  'backup.unrestorable': {
    component: 'backup',
    status: 'degraded',
    graceMs: 0,
    over: 'backup.recovered',
    reason: 'The newest backup could not be restored in a rehearsal.',
  },
  'disk.low': {
    component: 'disk',
    status: 'degraded',
    graceMs: 0,
    over: 'disk.recovered',
    reason: 'The disk is nearly full.',
  },
  'disk.held': {
    component: 'disk',
    status: 'degraded',
    graceMs: 0,
    over: 'disk.recovered',
    reason: 'The disk is nearly full, and no clip that is left may be removed.',
  },
  'disk.slow': {
    component: 'disk',
    status: 'degraded',
    graceMs: 0,
    over: 'disk.recovered',
    reason: 'The disk is slow. Each commit of the database takes over a second.',
  },
  'photos.failing': {
    component: 'disk',
    status: 'degraded',
    graceMs: 0,
    over: 'photos.recovered',
    reason: 'Photos cannot be stored. Events are recorded.',
  },
  'disk.reserve': {
    component: 'disk',
    status: 'unhealthy',
    graceMs: 0,
    over: 'disk.recovered',
    reason:
      'The disk is full but for the reserve of the ledger. Events are recorded; photos, clips, lists and reports are refused.',
  },
  'disk.full': {
    component: 'disk',
    status: 'unhealthy',
    graceMs: 0,
    over: 'disk.recovered',
    reason: 'The disk is full. Nothing can be recorded. Reading works.',
  },
  'disk.failing': {
    component: 'disk',
    status: 'unhealthy',
    graceMs: 0,
    over: 'disk.recovered',
    reason: 'The disk takes no writes. Nothing can be recorded. Reading works.',
  },
  'disk.gone': {
    component: 'disk',
    status: 'unhealthy',
    graceMs: 0,
    over: 'disk.recovered',
    reason:
      'The data folder or its database is not in its place. Nothing can be recorded; what is recorded can be read.',
  },
  'log.unsigned': {
    component: 'database',
    status: 'degraded',
    graceMs: 0,
    over: 'log.signed',
    reason:
      'The log cannot be signed: the ledger or its keys do not match the last signature, or checkpoints cannot be stored.',
  },
  'database.failing': {
    component: 'database',
    status: 'unhealthy',
    graceMs: 0,
    over: 'database.recovered',
    reason: 'The database cannot be read.',
  },
  'witness.unreachable': {
    component: 'evidence',
    status: 'degraded',
    graceMs: 60 * minuteMs,
    over: 'witness.recovered',
    reason: 'A witness of the log has not answered for over an hour.',
  },
  'timestamps.failing': {
    component: 'evidence',
    status: 'degraded',
    graceMs: 6 * 60 * minuteMs,
    over: 'timestamps.recovered',
    reason: 'The log has had no time stamp for over six hours.',
  },
  'witness.refuses': {
    component: 'evidence',
    status: 'degraded',
    graceMs: 0,
    over: 'witness.recovered',
    reason: 'A witness of the log does not cosign it.',
  },
  'witness.conflict': {
    component: 'evidence',
    status: 'degraded',
    graceMs: 0,
    over: 'witness.conflict.ended',
    reason: 'A log that this gateway witnesses has shown two histories.',
  },
  'witness.ahead': {
    component: 'evidence',
    status: 'degraded',
    graceMs: 0,
    over: 'witness.recovered',
    reason: 'A witness has seen another history of the log than the one here.',
  },
  'hub.unreachable': {
    component: 'hub',
    status: 'degraded',
    graceMs: 60 * minuteMs,
    over: 'hub.recovered',
    reason: 'The head office has received nothing of the log for over an hour.',
  },
  'hub.refuses': {
    component: 'hub',
    status: 'degraded',
    graceMs: 0,
    over: 'hub.recovered',
    reason: 'The head office does not take the log.',
  },
  'hub.other-keys': {
    component: 'hub',
    status: 'degraded',
    graceMs: 0,
    over: 'hub.recovered',
    reason: 'The head office knows the log under other keys.',
  },
  'hub.ahead': {
    component: 'hub',
    status: 'degraded',
    graceMs: 0,
    over: 'hub.recovered',
    reason: 'The head office has seen another history of the log than the one here.',
  },
  'box.hot': {
    component: 'box',
    status: 'degraded',
    graceMs: 10 * minuteMs,
    over: 'box.cool',
    reason: 'The processor is hot.',
  },
  'box.throttled': {
    component: 'box',
    status: 'degraded',
    graceMs: 5 * minuteMs,
    over: 'box.cool',
    reason: 'The processor is slowed down, by heat or by its power supply.',
  },
  'box.voltage': {
    component: 'box',
    status: 'degraded',
    graceMs: minuteMs,
    over: 'box.powered',
    reason: 'The power supply of the box is too weak.',
  },
  'update.unreachable': {
    component: 'box',
    status: 'degraded',
    graceMs: 7 * 24 * 60 * minuteMs,
    over: 'update.recovered',
    reason: 'The box has not reached its update server for over a week.',
  },
  'update.failed': {
    component: 'box',
    status: 'degraded',
    graceMs: 0,
    over: 'update.recovered',
    reason: 'A newer system image could not be installed.',
  },
  'update.refused': {
    component: 'box',
    status: 'degraded',
    graceMs: 0,
    over: 'update.recovered',
    reason: 'A newer system image did not pass its rehearsal on a copy of the ledger.',
  },
  'update.fell_back': {
    component: 'box',
    status: 'degraded',
    // The restart that an update ends with.
    graceMs: 15 * minuteMs,
    over: 'update.recovered',
    reason: 'The box went back from a newer system image to the previous one.',
  },
  'config.refused': {
    component: 'config',
    status: 'degraded',
    graceMs: 0,
    over: 'config.accepted',
    reason: 'The config on disk was refused at a reload. The earlier one is in use.',
  },
  'alerts.unsent': {
    component: 'alerts',
    status: 'degraded',
    graceMs: 0,
    over: 'alerts.recovered',
    reason: 'Messages about alerts do not reach their recipients.',
  },
  'clock.unsynced': {
    component: 'clock',
    status: 'degraded',
    graceMs: 10 * minuteMs,
    shownAtOnce: true,
    over: 'clock.synced',
    reason: 'The clock of the gateway is not synchronized. Events are marked.',
  },
} as const satisfies Partial<Record<AlertKind, Facts>>

export type Kind = keyof typeof kinds

/** Returns what a kind of alert reports, without a name or an address. */
export function reasonOf(kind: string): string {
  const known: Readonly<Record<string, Facts>> = kinds
  return (Object.hasOwn(known, kind) ? known[kind]?.reason : undefined) ?? 'The gateway needs attention.'
}
