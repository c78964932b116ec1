import { isoTime } from '../../platform/index.ts'

/** `2026/03/02`, in UTC. */
const dayOf = (ms: number) => isoTime(ms).slice(0, 10).replaceAll('-', '/')
/** A time that is valid in a file name everywhere: `2026-03-02T08-00-00.000Z`. */
const stampOf = (ms: number) => isoTime(ms).replaceAll(':', '-')

/** Where a clip is stored, below the root. */
export function clipPath(siteId: string, clip: { id: number; cctvId: number; atMs: number; seconds: number }): string {
  const { id, cctvId, atMs, seconds } = clip
  return `${siteId}/clips/${cctvId}/${dayOf(atMs)}/${stampOf(atMs)}_${Math.round(seconds)}s_${id}.mp4`
}

/** The folder for the parts of a clip that is still being recorded, below the root. */
export function partsFolder(siteId: string, clip: { id: number; cctvId: number; atMs: number }): string {
  const { id, cctvId, atMs } = clip
  return `${siteId}/clips/${cctvId}/${dayOf(atMs)}/${stampOf(atMs)}_${id}_parts`
}

/** Where a photo is stored, below the root: named by its hash, in the folder of the day on which it came. */
export function photoPath(siteId: string, photo: { sha256: string; extension: string; atMs: number }): string {
  return `${siteId}/photos/${dayOf(photo.atMs)}/${photo.sha256}.${photo.extension}`
}

/** Where a report is stored, below the root. */
export function reportPath(siteId: string, report: { id: number; atMs: number }): string {
  return `${siteId}/reports/${dayOf(report.atMs)}/${stampOf(report.atMs)}_${report.id}.json`
}

/** Where the JSON beside a file is stored. */
export const asidePath = (path: string): string => path.replace(/\.[^./]+$/, '.json')

/** Returns the next name beside a path: `1.mp4`, `1-copy2.mp4`, `1-copy3.mp4`. */
export function besidePath(path: string): string {
  const [, before = path, number = '1', extension = ''] = /^(.*?)(?:-copy(\d+))?(\.[^./]+)?$/.exec(path) ?? []
  return `${before}-copy${Number(number) + 1}${extension}`
}

/** A path as part of a URL. */
export const inUrl = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
