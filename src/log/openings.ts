import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import type { RandomBytes } from '../platform/index.ts'
import { sha256 } from './merkle.ts'
import { sql, tables } from './tables.ts'

const saltBytes = 32

/** Table of openings, for a join in SQL: commitment, kind, value. */
export const openings = 'opening'

const newText = built(tables.opening, (row) => sql.insertInto('opening').values(row))
const openedValue = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql.selectFrom('opening').select('value').where('commitment', '=', commitment),
)
const isKept = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql
    .selectFrom('opening')
    .select(raw.lit(1).as('found'))
    .where('commitment', '=', commitment)
    .where('kind', '=', raw.lit('text' as const)),
)
const withoutText = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql
    .deleteFrom('opening')
    .where('kind', '=', raw.lit('text' as const))
    .where('commitment', '=', commitment),
)
const withoutName = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql.deleteFrom('opening').where('commitment', '=', commitment),
)
const nextOpenings = built({ commitment: text, limit: integer }, ({ commitment, limit }) =>
  sql
    .selectFrom('opening')
    .select(['commitment', 'kind', 'salt', 'value'])
    .where('commitment', '>', commitment)
    .orderBy('commitment')
    .limit(limit),
)
const lastText = statement({ columns: { n: integer }, sql: 'SELECT coalesce(max(rowid), 0) AS n FROM opening' })
const textsInSpan = statement({
  columns: pick(tables.opening, 'commitment', 'value'),
  sql: `SELECT commitment, value FROM opening WHERE rowid > +? AND rowid <= +? AND kind = 'text'`,
})

/** Returns the commitment that a leaf holds instead of a name or a free text. */
export function commitmentOf(salt: Uint8Array, value: string): string {
  return sha256(Buffer.concat([salt, Buffer.from(value, 'utf8')])).toString('hex')
}

/**
 * The erasable part of the log: free texts, each with its salt, and the names of leaves of version 1. There a person has one salt
 * and one commitment in all leaves. The people of later rows are in `People`.
 */
export class Openings {
  readonly #random: RandomBytes

  constructor(options: { random: RandomBytes }) {
    this.#random = options.random
  }

  /** Stores a text with a new salt and returns its commitment. */
  text(tx: Tx, value: string): string {
    const salt = this.#random(saltBytes)
    const commitment = commitmentOf(salt, value)
    tx.run(newText, { commitment, kind: 'text', salt, value })
    return commitment
  }

  /** Returns the name or text of a commitment; undefined when it is erased. */
  reveal(tx: ReadTx, commitment: string): string | undefined {
    return tx.get(openedValue, { commitment })?.value
  }

  /** Deletes a text and returns whether there was one; a commitment without an opening is valid. */
  forgetText(tx: Tx, commitment: string): boolean {
    return tx.run(withoutText, { commitment }).changes > 0
  }
}

/** Returns whether the commitment opens to a text. */
export function isText(tx: ReadTx, commitment: string): boolean {
  return tx.get(isKept, { commitment }) !== undefined
}

/** Forgets the name that all rows of version 1 open to. */
export function forgetName(tx: Tx, commitment: string): void {
  tx.run(withoutName, { commitment })
}

/** Returns the next openings behind a commitment, in the order of commitments. */
export function openingsBehind(tx: ReadTx, after: string, limit: number) {
  return tx.all(nextOpenings, { commitment: after, limit })
}

/** Returns the end of the texts: later texts come behind it. */
export function endOfTexts(tx: ReadTx): number {
  return tx.get(lastText)?.n ?? 0
}

/** Texts behind a place, up to and with another; see `endOfTexts`. */
export function textsBetween(tx: ReadTx, after: number, last: number): { commitment: string; value: string }[] {
  return tx.all(textsInSpan, [after, last])
}

/** Returns the text or name behind a commitment; undefined once it was erased. */
export function valueBehind(tx: ReadTx, commitment: string): string | undefined {
  return tx.get(openedValue, { commitment })?.value
}
