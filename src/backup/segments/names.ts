/** A file of a series. `number` counts the segments of a series from 1. */
export type SegmentFile = {
  readonly number: number
  /** Leaves of the growing log in front of the segment, and with it. */
  readonly from: number
  readonly to: number
  readonly name: string
}

/** A series: every segment from the first one, which begins with all there was. Names sort by the time of their begin. */
export type SeriesName = { readonly logId: string; readonly series: string }

const seriesForm = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/
const logForm = /^[0-9a-f-]{36}$/

/** Returns the name of a series that begins now: `20260302T080000Z-1a2b3c4d`. */
export function newSeries(nowMs: number, chance: Uint8Array): string {
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${time.replaceAll(/[-:]/g, '')}-${Buffer.from(chance).toString('hex').slice(0, 8)}`
}

/** Returns when a series began, by its name. */
export function seriesBegunMs(series: string): number {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(series) ?? []
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
}

/** Returns the folder of a site's segments, of a log or of a series, below the source. */
export const siteFolder = (siteId: string): string => `${siteId}/segments`
export const seriesFolder = (siteId: string, { logId, series }: SeriesName): string =>
  `${siteFolder(siteId)}/${logId}/${series}`

export const isLogFolder = (name: string): boolean => logForm.test(name)
export const isSeries = (name: string): boolean => seriesForm.test(name)

const numbered = (number: number) => String(number).padStart(8, '0')
const markOf = (chance: Uint8Array) => Buffer.from(chance).toString('hex').slice(0, 8)

/** Returns a name for a segment. `chance` makes it unique, so that it overwrites no file that a crash left. */
export function segmentName({ number, from, to }: Omit<SegmentFile, 'name'>, chance: Uint8Array): string {
  return `${numbered(number)}-${from}-${to}-${markOf(chance)}.seg`
}

/** Returns a name for the keys and settings that a series has from a segment on. */
export const keysName = (number: number, chance: Uint8Array): string =>
  `${numbered(number)}-keys-${markOf(chance)}.sealed`

/** Returns the segments among the names of a series folder, in the order of their numbers. Other names are not ours. */
export function segmentsAmong(names: readonly string[]): SegmentFile[] {
  const found = names.flatMap((name): SegmentFile[] => {
    const parts = /^(\d{8})-(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})-[0-9a-f]{8}\.seg$/.exec(name)
    if (!parts) return []
    const [number = 0, from = 0, to = 0] = parts.slice(1).map(Number)
    return [{ number, from, to, name }]
  })
  return found.toSorted((a, b) => a.number - b.number)
}
