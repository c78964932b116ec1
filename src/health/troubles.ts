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

type Facts = {
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
const ranks = Object.keys(kinds)

/** The present state of one subject that can fail. */
export type Observation = {
  readonly component: Component
  /** Which one: the id of a camera, the URL of a storage server; where there is only one, the component. */
  readonly subject: string
  /** Name at the beginning of a sentence: `Camera 1 (Dock door)`. */
  readonly name: string
  /** Null while it is well. */
  readonly wrong: {
    readonly kind: Kind
    /** Milliseconds for which it has not been well. */
    readonly forMs: number
    /** The problem and its remedy, for the admin. */
    readonly message: string
  } | null
}

/** Something that has been wrong for longer than its grace. */
export type Trouble = {
  readonly component: Component
  readonly subject: string
  readonly kind: Kind
  readonly name: string
  readonly message: string
  /** When it was last well, by the wall clock. */
  readonly sinceMs: number
}

/** One step to the worse or to the better. `before`: the trouble that ended, or that a worse one replaces. */
export type Change =
  | { readonly direction: 'worse'; readonly before: Trouble | null; readonly trouble: Trouble }
  /** `now`: the lesser trouble that remains; null: it is well. */
  | { readonly direction: 'better'; readonly before: Trouble; readonly now: Trouble | null }
  /** It is not observed any more, such as a camera that was taken out of the config. */
  | { readonly direction: 'gone'; readonly before: Trouble }

export type Judgement = { readonly troubles: readonly Trouble[]; readonly changes: readonly Change[] }

/** Returns the troubles of now and the changes, from the troubles before and the observations. Pure. */
export function judge(before: readonly Trouble[], seen: readonly Observation[], nowMs: number): Judgement {
  const known = new Map(before.map((trouble) => [keyOf(trouble), trouble]))
  const troubles: Trouble[] = []
  const changes: Change[] = []
  for (const observation of seen) {
    const key = keyOf(observation)
    const old = known.get(key)
    known.delete(key)
    const now = troubleNow(old, observation, nowMs)
    if (now) troubles.push(now)
    if (now?.kind === old?.kind) continue
    if (now && (!old || rankOf(now) > rankOf(old)))
      changes.push({ direction: 'worse', before: old ?? null, trouble: now })
    else if (old) changes.push({ direction: 'better', before: old, now: now ?? null })
  }
  for (const gone of known.values()) changes.push({ direction: 'gone', before: gone })
  return { troubles, changes }
}

/**
 * Returns the trouble of one subject now. While it is bad for less than its grace, the earlier state holds. So after a restart, a
 * camera that was offline is offline until it gives pictures.
 */
function troubleNow(old: Trouble | undefined, observation: Observation, nowMs: number): Trouble | undefined {
  const { component, subject, name, wrong } = observation
  if (!wrong) return undefined
  if (wrong.forMs < kinds[wrong.kind].graceMs) return old
  const sinceMs = Math.min(nowMs - wrong.forMs, old?.sinceMs ?? Number.POSITIVE_INFINITY)
  return { component, subject, kind: wrong.kind, name, message: wrong.message, sinceMs }
}

/** Returns the observations as /api/health shows them: kinds that are shown at once have no grace left. */
export function shownNow(seen: readonly Observation[]): Observation[] {
  return seen.map((one) => {
    if (!one.wrong) return one
    const facts: Facts = kinds[one.wrong.kind]
    return facts.shownAtOnce
      ? { ...one, wrong: { ...one.wrong, forMs: Math.max(one.wrong.forMs, facts.graceMs) } }
      : one
  })
}

export type CheckNow = { readonly status: CheckStatus; readonly reason: string | null }

/** Returns the state of a component: that of its worst trouble. */
export function statusOf(component: Component, troubles: readonly Trouble[]): CheckNow {
  const own = troubles.filter((trouble) => trouble.component === component)
  const worst = own.toSorted((a, b) => rankOf(b) - rankOf(a))[0]
  return worst
    ? { status: kinds[worst.kind].status, reason: kinds[worst.kind].reason }
    : { status: 'healthy', reason: null }
}

const keyOf = ({ component, subject }: Pick<Trouble, 'component' | 'subject'>) => `${component} ${subject}`
const rankOf = ({ kind }: Trouble) => ranks.indexOf(kind)

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Returns a duration as `8 minutes`, in the largest unit of which there are at least two. */
export function durationWords(ms: number): string {
  for (const [unit, length] of units) {
    const count = Math.floor(ms / length)
    if (count >= 2) return `${count} ${unit}s`
  }
  return ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} seconds` : '1 minute'
}

export type AlertWords = { readonly kind: string; readonly subject: string; readonly message: string }

/** Returns kind, subject and message of the alert of a change. */
export function wordsOf(change: Change, nowMs: number): AlertWords {
  switch (change.direction) {
    case 'worse': {
      const { kind, subject, message } = change.trouble
      return { kind, subject, message }
    }
    case 'better': {
      const { subject, kind, name, sinceMs } = change.before
      if (change.now) return { kind: change.now.kind, subject, message: change.now.message }
      const message = `${name} is well again, after ${durationWords(nowMs - sinceMs)}.`
      return { kind: kinds[kind].over, subject, message }
    }
    case 'gone': {
      const { subject, kind, name, sinceMs } = change.before
      const component = kinds[kind].component
      const message = `${name} is not watched any more: it was switched off or taken out of the config. It had not been well for ${durationWords(nowMs - sinceMs)}.`
      return { kind: `${component}.unwatched`, subject, message }
    }
  }
}
