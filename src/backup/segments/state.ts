import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { readFileIfThere, writeFileDurably } from '../../platform/index.ts'
import type { LogReach } from './leaves.ts'
import type { SeriesName } from './names.ts'

/** A series that another one has followed. It stays for a while, for a person who needs an older state. */
export type EarlierSeries = SeriesName & { readonly endedAt: string }

/** Reach of the series that this gateway writes. It is in the data folder: without it a new series begins. */
export type SeriesState = SeriesName & {
  readonly siteId: string
  /** Where the series goes: a folder, or the storage server with its root. */
  readonly target: string
  readonly keyMark: string
  readonly schema: number
  /** Number and name of the newest segment. */
  readonly number: number
  readonly newest: string
  readonly madeAt: string
  /** Bytes of the first moment, and of all that came behind it. */
  readonly baseBytes: number
  readonly laterBytes: number
  readonly reach: LogReach
  /** Last row of each table that grows. */
  readonly last: Readonly<Record<string, number>>
  /** Rows up to there, of tables whose rows have no number. */
  readonly counted: Readonly<Record<string, number>>
  /** Hash of each chunk, by table that changes. */
  readonly chunks: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Reports and lists that are in the series, below the data folder. */
  readonly documents: readonly string[]
  readonly keysFile: string
  readonly keysHash: string
  readonly earlier: readonly EarlierSeries[]
}

/** Returns the folder below the data folder in which segments are noted, and wait until they are uploaded. */
export const segmentsFolder = (dataDir: string): string => join(dataDir, 'segments')
const stateFile = (dataDir: string) => join(segmentsFolder(dataDir), 'state.json')
const nextFile = (dataDir: string) => join(segmentsFolder(dataDir), 'state.next.json')

/** Reads the state of the series; undefined when there is none, or half a note. */
export function readState(dataDir: string): SeriesState | undefined {
  const bytes = readFileIfThere(stateFile(dataDir))
  try {
    return bytes && (JSON.parse(bytes.toString('utf8')) as SeriesState)
  } catch {
    return undefined
  }
}

/** Notes the state that will be true once the files of this moment are where they belong. */
export function proposeState(dataDir: string, state: SeriesState): void {
  writeFileDurably(nextFile(dataDir), JSON.stringify(state))
}

/** Makes the proposed state the true one. After a crash before it, the same rows are written again, under other names. */
export function acceptState(dataDir: string): void {
  renameSync(nextFile(dataDir), stateFile(dataDir))
}

/** Notes the series that a ledger was restored from, so that the next series knows the files at the target. */
export function noteSeries(
  dataDir: string,
  { series, earlier }: { readonly series: SeriesName; readonly earlier: readonly EarlierSeries[] },
): void {
  writeFileDurably(stateFile(dataDir), JSON.stringify({ ...series, earlier }))
}
