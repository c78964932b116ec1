/**
 * Every kind of alert that reports a trouble, with its severity. `critical`: nothing is recorded, or nothing recorded can be proved,
 * until a person acts. Kinds that report the end of a trouble are not here.
 */
export const alertKinds = {
  'ffmpeg.bundled': 'warning',
  'clips.waiting': 'warning',
  'clips.refused': 'warning',
  'camera.pre-roll': 'warning',
  'camera.too-busy': 'warning',
  'camera.few-pictures': 'warning',
  'camera.still': 'warning',
  'camera.turned': 'warning',
  'camera.covered': 'warning',
  'camera.no-events': 'warning',
  'camera.offline': 'warning',
  'storage.slow': 'warning',
  'storage.unreachable': 'warning',
  'uploads.late': 'warning',
  'uploads.parked': 'warning',
  'uploads.refused': 'warning',
  'upload.no_room': 'warning',
  'upload.mismatch': 'critical',
  'upload.file': 'warning',
  'upload.refused': 'warning',
  'upload.lost': 'critical',
  'upload.copy_missing': 'warning',
  'upload.copy_changed': 'warning',
  'backup.late': 'warning',
  'backup.failed': 'warning',
  'backup.unrestorable': 'critical',
  'disk.low': 'warning',
  'disk.held': 'warning',
  'disk.slow': 'warning',
  'photos.failing': 'warning',
  'disk.reserve': 'critical',
  'disk.full': 'critical',
  'disk.failing': 'critical',
  'disk.gone': 'critical',
  'log.unsigned': 'critical',
  'database.failing': 'critical',
  'witness.unreachable': 'warning',
  'timestamps.failing': 'warning',
  'witness.refuses': 'warning',
  'witness.conflict': 'critical',
  'witness.ahead': 'critical',
  'hub.unreachable': 'warning',
  'hub.refuses': 'warning',
  'hub.other-keys': 'warning',
  'hub.ahead': 'critical',
  'box.hot': 'warning',
  'box.throttled': 'warning',
  'box.voltage': 'warning',
  'update.unreachable': 'warning',
  'update.failed': 'warning',
  'update.refused': 'warning',
  'update.fell_back': 'warning',
  'config.refused': 'warning',
  'clock.unsynced': 'warning',
  'alerts.unsent': 'warning',
  'webhook.failing': 'warning',
  'webhook.disabled': 'warning',
  'webhook.offline': 'warning',
} as const

export type AlertKind = keyof typeof alertKinds

export const severities = ['critical', 'warning'] as const
/** `info`: the end of a trouble. */
export type Severity = (typeof severities)[number] | 'info'

const known: Readonly<Record<string, Severity>> = alertKinds

export const severityOf = (kind: string): Severity => (Object.hasOwn(known, kind) ? known[kind] : undefined) ?? 'info'

/** Lists the words that a channel or a silence may name: each kind, and each group of kinds as `camera.*`. */
export const alertKindChoices: string[] = [
  ...new Set(Object.keys(alertKinds).map((kind) => `${kind.slice(0, kind.indexOf('.'))}.*`)),
  ...Object.keys(alertKinds),
]

/** Says whether one of the choices means this kind; an empty list means every kind. */
export const meansKind = (choices: readonly string[], kind: string): boolean =>
  choices.length === 0 || choices.some((one) => (one.endsWith('*') ? kind.startsWith(one.slice(0, -1)) : kind === one))
