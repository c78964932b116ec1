import exifr from 'exifr'
import { zoneOffset } from '../platform/index.ts'

/** Time of a photo by its own EXIF: on the camera's clock, and with its offset where the camera states it. */
export type PhotoTime = {
  /** YYYY-MM-DDTHH:MM:SS. */
  readonly local: string
  /** East of UTC; null: unknown. */
  readonly offsetMinutes: number | null
}

const dayMs = 24 * 60 * 60 * 1000
const wanted = ['DateTimeOriginal', 'CreateDate', 'OffsetTimeOriginal', 'OffsetTimeDigitized', 'OffsetTime']

/** @param exif the EXIF block of a photo. Undefined where it has no time, or cannot be read. Never throws. */
export async function readPhotoTime(exif: Buffer | undefined): Promise<PhotoTime | undefined> {
  if (!exif) return undefined
  try {
    const tags = await exifr.parse(exif, { pick: wanted, reviveValues: false, translateValues: false })
    return photoTimeOf(tags ?? {})
  } catch {
    return undefined // a photo is evidence whatever its EXIF is
  }
}

function photoTimeOf(tags: Record<string, unknown>): PhotoTime | undefined {
  const local = localTime(tags['DateTimeOriginal']) ?? localTime(tags['CreateDate'])
  if (local === undefined) return undefined
  const offset = tags['OffsetTimeOriginal'] ?? tags['OffsetTimeDigitized'] ?? tags['OffsetTime']
  return { local, offsetMinutes: minutesEast(offset) ?? null }
}

/** `2026:03:02 08:59:30`; cameras without a clock write zeros or blanks. */
function localTime(tag: unknown): string | undefined {
  const parts = typeof tag === 'string' ? tag.match(/^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)/) : null
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second] = parts
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const ms = Date.parse(`${local}Z`)
  // A day that is none (31 February) is read as another one.
  return Number.isFinite(ms) && ms >= 0 && new Date(ms).toISOString().startsWith(local) ? local : undefined
}

function minutesEast(text: unknown): number | undefined {
  const [, sign, hours, minutes] = (typeof text === 'string' && text.match(/^([+-])([01]\d):([0-5]\d)/)) || []
  if (hours === undefined) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/**
 * Returns the time of a photo. Without an offset, a camera shows the time of its hall. In autumn a clock shows one hour twice; of
 * the two times, the one nearer to `nearMs` counts. Pure.
 */
export function takenAtMs({ local, offsetMinutes }: PhotoTime, timezone: string, nearMs: number): number {
  const shown = Date.parse(`${local}Z`)
  const minute = 60_000
  if (offsetMinutes !== null) return shown - offsetMinutes * minute
  const candidates = [shown - dayMs, shown + dayMs].map(
    (around) => shown - (minutesEast(zoneOffset(timezone, around)) ?? 0) * minute,
  )
  const [first = shown, second = first] = candidates
  const holds = (ms: number) => ms + (minutesEast(zoneOffset(timezone, ms)) ?? 0) * minute === shown
  if (!holds(first)) return second
  if (!holds(second)) return first
  return Math.abs(first - nearMs) <= Math.abs(second - nearMs) ? first : second
}
