import { tileWidth } from '../../log/index.ts'

/** A requested tile or entry bundle; `width` is 256 for a full one. */
export type TilePlace = { readonly n: number; readonly width: number }

/**
 * Reads the end of a tile's path, such as `x001/x234/067` or `067.p/112` (c2sp.org/tlog-tiles); undefined for any other
 * spelling, so that one tile has one address.
 */
export function readTilePath(path: string): TilePlace | undefined {
  const [, number, partial] = /^((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? []
  if (!number) return undefined
  const n = Number(number.replace(/[x/]/g, ''))
  const width = partial === undefined ? tileWidth : Number(partial)
  if (numberPath(n) !== number || (partial !== undefined && width >= tileWidth)) return undefined
  return { n, width }
}

/** Formats the number of a tile: `x001/x234/067`. */
export function numberPath(n: number): string {
  const digits = String(n)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/')
}
