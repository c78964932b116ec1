import { errorMessage } from '../platform/faults.ts'
import { isoTime } from '../platform/index.ts'
import type { ScheduleSettings } from './schedule.ts'
import { seriesBegunMs, seriesFolder } from './segments/names.ts'
import { readState } from './segments/state.ts'

/** A copy of the ledger from before an erasure. */
export type CopyWithNames = {
  /** A backup file, or a series of segments. */
  readonly kind: 'backup' | 'segments'
  /** Its path, or the path below the root of the storage server or the target of the segments. */
  readonly name: string
  /** When it goes by itself, as long as the config stays as it is and the gateway runs. */
  readonly until: string
}

export type CopiesAsked = {
  readonly dataDir: string
  readonly siteId: string
  /** `backup.file`; null: no backups are scheduled. */
  readonly file: ScheduleSettings | null
  /** `backup.segments`; null: no segments are written. */
  readonly segments: { readonly keepMs: number } | null
  /** Time of the erasure: later copies do not have the name. */
  readonly erasedMs: number
}

/** Copies that still hold a name. */
export type CopiesWithNames = {
  readonly copies: readonly CopyWithNames[]
  /** Reason why the place of the backups could not be read; null when it could. */
  readonly problem: string | null
}

/**
 * Returns the scheduled backups and the series of segments that were made before an erasure, each with the time at which it goes.
 * Backups that were made by hand are not known here. Never rejects.
 */
export async function copiesWithNames(asked: CopiesAsked): Promise<CopiesWithNames> {
  const segments = seriesBefore(asked)
  if (!asked.file) return { copies: segments, problem: null }
  try {
    return { copies: [...(await backupsBefore(asked.erasedMs, asked.file)), ...segments], problem: null }
  } catch (error) {
    return { copies: segments, problem: errorMessage(error) }
  }
}

/** The oldest goes when `keep` newer ones are there. */
async function backupsBefore(erasedMs: number, { place, everyMs, keep }: ScheduleSettings): Promise<CopyWithNames[]> {
  const kept = await place.standing()
  const newestMs = kept[0]?.madeMs ?? erasedMs
  return kept.flatMap(({ name, madeMs }, newer) => {
    const until = isoTime(newestMs + Math.max(1, keep - newer) * everyMs)
    return madeMs <= erasedMs ? [{ kind: 'backup' as const, name: place.pathOf(name), until }] : []
  })
}

/** The present series is followed by one without the name; its retention runs from then on. */
function seriesBefore({ dataDir, siteId, segments, erasedMs }: CopiesAsked): CopyWithNames[] {
  const state = segments && readState(dataDir)
  if (!state) return []
  const standing = [...state.earlier, { logId: state.logId, series: state.series, endedAt: isoTime(erasedMs) }]
  return standing.flatMap(({ logId, series, endedAt }) => {
    const untilMs = Date.parse(endedAt) + segments.keepMs
    const name = seriesFolder(siteId, { logId, series })
    const isOlder = seriesBegunMs(series) < erasedMs
    return isOlder && untilMs > erasedMs ? [{ kind: 'segments' as const, name, until: isoTime(untilMs) }] : []
  })
}
