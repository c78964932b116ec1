import { judgements, moves } from './state.ts'

/** A condition on the ledger's rows, called `e`, with what it binds. */
export type Condition = { readonly part: string; readonly values: readonly (string | number)[] }

type Wanted = {
  /** What the rows must satisfy; the first finds its index. */
  readonly conditions: readonly Condition[]
  /** Set when the first condition is about a slot or an asset: then the rows stand in two indexes. */
  readonly inHalves: boolean
  readonly order?: string
  readonly limit: string
}

/**
 * SQL for the ids of the wanted rows, and what it binds but for the limit. Slots and assets have an index over moves
 * and one over judgements, both in the order of time; SQLite merges the two and stops at the limit.
 */
export function idsOf({ conditions, inHalves, order, limit }: Wanted): { sql: string; values: (string | number)[] } {
  const where = conditions.map(({ part }) => part)
  const values = conditions.flatMap((one) => one.values)
  const half = (more: readonly string[]) => {
    const parts = [...where.slice(0, 1), ...more, ...where.slice(1)]
    return `SELECT e.id, e.timestamp_ms FROM main.placement_event e${parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : ''}`
  }
  const end = `${order === undefined ? '' : ` ORDER BY ${order}`} ${limit}`
  if (!inHalves) return { sql: `${half([])}${end}`, values }
  return {
    sql: `${half([`e.${moves}`])} UNION ALL ${half([`e.${judgements}`])}${end}`,
    values: [...values, ...values],
  }
}
