/** A cell's value, or its fault. */
export type Read<T> = { readonly value: T } | { readonly fault: string }

export type Numbers = {
  /** Commas do not separate cells, so a number may have a decimal comma. */
  readonly commaIsFree: boolean
}

/**
 * Reads a number as a spreadsheet writes it: `412.5`, and `412,5` where commas do not separate cells. There `1,234` and `1.234` are
 * refused: they may mean 1.234 or 1234, depending on the country. A slot that carries 1.2 kg is as wrong as one that carries 1200.
 * Blanks and units are not removed.
 */
export function readNumber(text: string, { commaIsFree }: Numbers): Read<number> {
  const [, sign = '', whole = '', mark = '', part = ''] = text.match(/^(-?)(\d{1,15})(?:([.,])(\d{1,15}))?$/) ?? []
  if (whole === '' || (mark === ',' && !commaIsFree))
    return { fault: `expected a number such as 412.5, not "${cut(text)}"` }
  const isAmbiguous = commaIsFree && part.length === 3 && whole.length <= 3 && !/^0/.test(whole)
  if (isAmbiguous) {
    return {
      fault: `"${text}" may mean ${whole}${part} or ${whole} and a fraction; write ${whole}${part} or ${whole}${mark}${part}0`,
    }
  }
  return { value: Number(`${sign}${whole}${part === '' ? '' : `.${part}`}`) }
}

const yes = ['true', 'yes', '1']
const no = ['false', 'no', '0']

export function readFlag(text: string): Read<boolean> {
  const word = text.toLowerCase()
  if (yes.includes(word)) return { value: true }
  return no.includes(word) ? { value: false } : { fault: `expected true or false, not "${cut(text)}"` }
}

/** `pallet box`, `pallet, box` or `pallet|box`. */
export function readWords(text: string): string[] {
  return text.split(/[\s,;|]+/).filter((word) => word !== '')
}

type Point = { x: number; y: number }

/**
 * Reads corners as JSON (`[{"x":0,"y":0},…]` or `[[0,0],…]`), as WKT (`POLYGON ((0 0, 1 0, 1 1, 0 0))`) or as
 * `0 0, 1 0, 1 1`. A last corner that repeats the first, as in WKT, is left out. The schema checks how many there are.
 */
export function readPolygon(text: string): Read<Point[]> {
  const points = text.startsWith('[') ? jsonPoints(text) : pairs(text)
  if (!points) {
    return { fault: 'expected corners as [{"x":0,"y":0},…], POLYGON ((0 0, 1 0, 1 1)) or 0 0, 1 0, 1 1' }
  }
  const [first] = points
  const last = points.at(-1)
  const isClosed = points.length > 3 && first?.x === last?.x && first?.y === last?.y
  return { value: isClosed ? points.slice(0, -1) : points }
}

function jsonPoints(text: string): Point[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const points = parsed.map((corner: unknown): Partial<Point> => {
    if (Array.isArray(corner)) return corner.length === 2 ? { x: corner[0], y: corner[1] } : {}
    return typeof corner === 'object' && corner !== null ? (corner as Partial<Point>) : {}
  })
  const isPoint = (p: Partial<Point>): p is Point => typeof p.x === 'number' && typeof p.y === 'number'
  return points.every(isPoint) ? points.map(({ x, y }) => ({ x, y })) : undefined
}

function pairs(text: string): Point[] | undefined {
  const [, inner = text] = text.match(/^POLYGON\s*\(\s*\(([^()]*)\)\s*\)$/i) ?? []
  const points = inner.split(/[,;]/).map((pair) => pair.trim().match(/^(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)$/))
  if (points.some((match) => match === null)) return undefined
  return points.map((match) => ({ x: Number(match?.[1]), y: Number(match?.[2]) }))
}

export function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
