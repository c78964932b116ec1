/** The limit of a figure. */
export type Target = { readonly limit: number; readonly sense: 'at most' | 'at least' }

/** '×' is a ratio within the run. */
type Unit = '×' | 'events' | 'pages' | 's' | 'ms' | 'µs' | 'kB' | 'MiB' | '%' | 'a day' | 'a second' | 'bytes'

/** One line of the table: a ratio (or a difference) within this run, with the raw numbers that it was made from. */
export type Figure = {
  /** The same from run to run. */
  readonly id: string
  readonly what: string
  /** Null where there is nothing honest to compare with; `raw` then says why. */
  readonly value: number | null
  readonly unit: Unit
  readonly target?: Target
  readonly raw: string
  /** The raw numbers by name, units in the names, for the saved file. */
  readonly numbers: Readonly<Record<string, number>>
}

/** Three significant digits: no figure here is more exact than that. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

export const millis = (ms: number): string => `${rounded(ms)} ms`

export const thousands = (n: number): string => Math.round(n).toLocaleString('en-US')

export function meets({ value, target }: Figure): boolean | undefined {
  if (value === null || !target) return undefined
  return target.sense === 'at most' ? value <= target.limit : value >= target.limit
}

/** The figures as a Markdown table. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [figure.what, measured(figure), aim(figure), figure.raw])
  return [['What', 'Measured', 'Target', 'Raw numbers'], ['---', '--:', '--:', '---'], ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

function measured(figure: Figure): string {
  if (figure.value === null) return '–'
  const text = `${rounded(figure.value)} ${figure.unit}`
  return meets(figure) === false ? `**${text}**, missed` : text
}

function aim({ target, unit }: Figure): string {
  if (!target) return ''
  return `${target.sense === 'at most' ? '≤' : '≥'} ${target.limit} ${unit}`
}
