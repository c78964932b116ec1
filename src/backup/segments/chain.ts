import { errorMessage } from '../../platform/faults.ts'
import { SealedFileFault } from '../sealing/pieces.ts'
import { BackupFault } from '../unpack.ts'
import {
  isLogFolder,
  isSeries,
  type SegmentFile,
  type SeriesName,
  segmentsAmong,
  seriesFolder,
  siteFolder,
} from './names.ts'
import { type SegmentHeader, unpackSegment } from './payload.ts'
import type { Seal } from './seal.ts'
import type { SegmentSource } from './source.ts'

/** The segments that give one moment, from the first of their series on. */
export type Chain = SeriesName & {
  readonly files: readonly SegmentFile[]
  /** Header of the last segment. */
  readonly header: SegmentHeader
  /** Erased people, from the newest segment of any series. */
  readonly erased: SegmentHeader['erased']
  /** Segments behind the last one that do not count: they are not whole, or a segment before them is missing. */
  readonly beyond: number
}

export type ChainAsked = {
  readonly source: SegmentSource
  readonly siteId: string
  readonly seal: Seal
  /** Whether to take the newest moment that is whole, when a newer one is damaged or lacks a segment. */
  readonly asFarAsWhole: boolean
  /** By series: the number of a segment that turned out to be damaged. */
  readonly before?: ReadonlyMap<string, number>
}

export type OpenedSegment = { readonly header: SegmentHeader; readonly members: ReadonlyMap<string, Buffer> }

/** Reads and opens a segment. Throws BackupFault that names the file. */
export async function openSegment(
  { source, siteId, seal }: Pick<ChainAsked, 'source' | 'siteId' | 'seal'>,
  name: SeriesName,
  file: SegmentFile,
): Promise<OpenedSegment> {
  const path = `${seriesFolder(siteId, name)}/${file.name}`
  const opened = opening(
    path,
    () => source.read(path),
    (bytes) => unpackSegment(seal.open(bytes, path)),
  )
  const { header, members } = await opened
  const isOwn =
    header.siteId === siteId &&
    header.logId === name.logId &&
    header.series === name.series &&
    header.number === file.number
  if (!isOwn) throw new BackupFault(`${path} says that it is number ${header.number} of series ${header.series}`)
  return { header, members }
}

/** A file of a source that could not be read, such as from a server that is away: nothing is known of it. */
export class SourceFault extends BackupFault {}

/** Reads a sealed file and opens it. Throws BackupFault that names it. */
export async function opening<T>(path: string, read: () => Promise<Buffer>, open: (bytes: Buffer) => T): Promise<T> {
  let bytes: Buffer
  try {
    bytes = await read()
  } catch (error) {
    if (error instanceof BackupFault) throw error
    throw new SourceFault(`${path} cannot be read: ${errorMessage(error)}`)
  }
  try {
    return open(bytes)
  } catch (error) {
    if (error instanceof SealedFileFault) throw new BackupFault(`${path} ${error.message}`)
    throw error
  }
}

/**
 * Finds the newest moment that a source has of a site. Throws BackupFault when there is none, when a segment is damaged or missing,
 * or when the recovery key does not open the segments.
 */
export async function findChain(asked: ChainAsked): Promise<Chain> {
  let newest: OpenedSegment | undefined
  for (const name of await seriesOf(asked)) {
    const all = segmentsAmong(await asked.source.list(seriesFolder(asked.siteId, name)))
    let limit = asked.before?.get(name.series) ?? Number.POSITIVE_INFINITY
    for (;;) {
      const files = all.filter(({ number }) => number < limit)
      const found = await lastWhole(asked, name, files)
      newest ??= found.top
      if (!found.end) break
      const chosen = await chosenFiles(asked, name, files, found.end)
      if ('files' in chosen) {
        const { header } = found.end.segment
        const beyond = all.filter(({ number }) => number > header.number).length
        return { ...name, ...{ files: chosen.files, header, beyond }, erased: newest?.header.erased ?? [] }
      }
      if (!asked.asFarAsWhole) throw missing(asked.siteId, name, chosen.missing, chosen.behind)
      limit = chosen.missing
    }
  }
  throw new BackupFault(
    `${asked.source.name} has no whole state of site ${asked.siteId}: segments of its first moment are missing`,
  )
}

/** Returns the series of a site, the newest first. */
async function seriesOf({ source, siteId }: ChainAsked): Promise<SeriesName[]> {
  const logs = (await source.list(siteFolder(siteId))).map(withoutSlash).filter(isLogFolder)
  const found: SeriesName[] = []
  for (const logId of logs) {
    for (const series of (await source.list(`${siteFolder(siteId)}/${logId}`)).map(withoutSlash)) {
      if (isSeries(series)) found.push({ logId, series })
    }
  }
  if (found.length > 0) return found.toSorted((a, b) => (a.series < b.series ? 1 : -1))
  const sites = (await source.list('')).filter((name) => name.endsWith('/')).map(withoutSlash)
  const there = sites.length === 0 ? 'it has no folder of a site' : `it has ${sites.slice(0, 5).join(', ')}`
  throw new BackupFault(
    `${source.name} has no segments of site ${siteId} (${siteFolder(siteId)}): ${there}. Name the folder or address that holds them, and check site.id of the config`,
  )
}

const withoutSlash = (name: string) => name.replace(/\/$/, '')

type End = { readonly file: SegmentFile; readonly segment: OpenedSegment }
type Found = {
  /** The newest segment that opens, whole or not. */
  readonly top: OpenedSegment | undefined
  /** The newest with which a restore may end. */
  readonly end: End | undefined
}

/**
 * Looks from the largest number down. A crash may have left a whole moment whose numbers were given again, even more of them than
 * the next moment took. Where numbers are there twice, the newest moment counts. It ends above a segment that is whole and the only
 * one of its number, because every later moment continues from it.
 */
async function lastWhole(asked: ChainAsked, name: SeriesName, files: readonly SegmentFile[]): Promise<Found> {
  let top: OpenedSegment | undefined
  let end: End | undefined
  const isTwice = ({ number }: SegmentFile, i: number) =>
    files[i - 1]?.number === number || files[i + 1]?.number === number
  const lowestTwice = files.find(isTwice)?.number ?? Number.POSITIVE_INFINITY
  for (const [i, file] of [...files.entries()].toReversed()) {
    if (end && file.number < lowestTwice) break
    let segment: OpenedSegment
    try {
      segment = await openSegment(asked, name, file)
    } catch (error) {
      if (asked.asFarAsWhole && error instanceof BackupFault) continue
      throw error
    }
    top ??= segment
    if (!segment.header.isWhole) continue
    if (end && !isTwice(file, i)) break
    if (!end || isNewer(segment.header, end.segment.header)) end = { file, segment }
  }
  return { top, end }
}

/** Compares two moments of a series. A log only grows, whatever the clock did; without new leaves the time decides. */
const isNewer = (a: SegmentHeader, b: SegmentHeader) => a.to > b.to || (a.to === b.to && a.madeAt > b.madeAt)

type Chosen = { readonly files: SegmentFile[] } | { readonly missing: number; readonly behind: SegmentFile }

/**
 * Returns the segments from the first one to the end, or which is missing. Two of the same number are what a crash left: the
 * one behind them names the right one.
 */
async function chosenFiles(
  asked: ChainAsked,
  name: SeriesName,
  files: readonly SegmentFile[],
  end: End,
): Promise<Chosen> {
  const chosen = [end.file]
  let opened: OpenedSegment | undefined = end.segment
  for (let number = end.file.number - 1; number >= 1; number -= 1) {
    const candidates = files.filter((file) => file.number === number)
    const behind = chosen[0] as SegmentFile
    if (candidates.length > 1) opened ??= await openSegment(asked, name, behind)
    const [right] =
      candidates.length > 1 ? candidates.filter((file) => file.name === opened?.header.previous) : candidates
    if (!right) return { missing: number, behind }
    chosen.unshift(right)
    opened = undefined
  }
  return { files: chosen }
}

const missing = (siteId: string, name: SeriesName, number: number, behind: SegmentFile) =>
  new BackupFault(
    `segment ${number} of ${seriesFolder(siteId, name)} is missing: it comes before ${behind.name}. Find it, or add --as-far-as-whole to restore the newest state that is whole without it`,
  )
