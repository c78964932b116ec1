import { nearestNames } from '../errors/index.ts'
import { assetColumns } from './assets.ts'
import type { Form } from './form.ts'
import { openingColumns } from './opening-stock.ts'
import type { Problems } from './problems.ts'
import type { Sheet } from './sheet.ts'
import { slotColumns } from './slots.ts'

export const columnsOf = { slots: slotColumns, assets: assetColumns, 'opening-stock': openingColumns } as const

type Columns = (typeof columnsOf)[keyof typeof columnsOf]

/** Returns the column that a header cell names, in any case, also by an alias. */
export function nameOf(written: string, { columns, aliases }: Columns): string | undefined {
  const same = (name: string) => name.toLowerCase() === written.toLowerCase()
  return columns.find(same) ?? Object.entries(aliases).find(([alias]) => same(alias))?.[1]
}

export function explainColumns(sheet: Sheet, form: Form, problems: Problems): void {
  for (const { line, written } of sheet.unknown) {
    const [nearest] = nearestNames(written, [...form.columns, ...Object.keys(form.aliases)])
    const hint = nearest ? `; did you mean ${nearest}?` : `; known are ${form.columns.join(', ')}`
    problems.add(line, written, `unknown column${hint}`)
  }
  for (const name of form.required) {
    if (!sheet.columns.includes(name)) problems.add(sheet.headerLine, name, 'this column is needed')
  }
}

/** Returns whether a required column is missing: then every line would have the same problem. */
export function lacksColumns(sheet: Sheet, form: Form): boolean {
  return form.required.some((name) => !sheet.columns.includes(name))
}

export function findRepeats(sheet: Sheet, form: Form, problems: Problems): void {
  const first = new Map<string, number>()
  for (const row of sheet.rows) {
    const key = form.key.of(row)
    if (key === undefined) continue
    const before = first.get(key)
    if (before === undefined) first.set(key, row.line)
    else problems.add(row.line, form.key.column, `is on line ${before} already`)
  }
}

/** Returns the column that a field of the API came from: `constraints.max_weight` is max_weight. */
export function columnOf(path: string, form: Form): string | null {
  const parts = path.split('.')
  const direct = parts.find((part) => form.columns.includes(part))
  return direct ?? form.aliases[parts[0] ?? ''] ?? null
}
