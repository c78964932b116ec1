import type { z } from '@hono/zod-openapi'
import type { Tx } from '../database/index.ts'
import { AppError, type FieldProblem } from '../errors/index.ts'
import { type RequestOrigin, validationError } from '../http/index.ts'
import { cut, type Numbers, type Read } from './cells.ts'
import type { Row } from './sheet.ts'

/** What a line has come to. */
export type RowOutcome = {
  readonly what: 'created' | 'updated' | 'unchanged'
  /** Codes of the warnings that the ledger gave. */
  readonly warnings?: readonly string[]
  /** Worth knowing, and no reason to refuse the list. */
  readonly notice?: { readonly column: string; readonly message: string } | undefined
}

/** A kind of list: which columns it may have, and what becomes of a line. */
export type Form = {
  /** Names of the columns, as in the API. */
  readonly columns: readonly string[]
  /** Other headers for them. */
  readonly aliases: Readonly<Record<string, string>>
  readonly required: readonly string[]
  /** What two lines may not have both, and the column that says it. */
  readonly key: { readonly column: string; readonly of: (row: Row) => string | undefined }
  /** Lines with the same word here can depend on each other: they are tried together. */
  readonly together?: (row: Row) => string | undefined
  /** Stores a line in the transaction. What is wrong with it is thrown as an AppError. */
  readonly store: (tx: Tx, row: Row, by: RequestOrigin) => RowOutcome
}

/** The cells of a line as values, with all that is wrong with them. */
export class Cells {
  readonly faults: FieldProblem[] = []
  readonly #row: Row
  readonly #numbers: Numbers

  constructor(row: Row, numbers: Numbers) {
    this.#row = row
    this.#numbers = numbers
  }

  text(column: string): string | undefined {
    return this.#row.cells.get(column)
  }

  /** A code that only looks like a number: a spreadsheet that took it for one has lost its digits. */
  code(column: string): string | undefined {
    const text = this.text(column)
    if (text === undefined || !/^\d(?:[.,]\d+)?E\+?\d+$/i.test(text)) return text
    this.faults.push({
      path: column,
      message: `"${cut(text)}" is a code that the spreadsheet took for a number; format the column as text`,
    })
    return undefined
  }

  read<T>(column: string, reader: (text: string, numbers: Numbers) => Read<T>): T | undefined {
    const text = this.text(column)
    if (text === undefined) return undefined
    const read = reader(text, this.#numbers)
    if ('value' in read) return read.value
    this.faults.push({ path: column, message: read.fault })
    return undefined
  }

  /** The line as the API would take it. Throws VALIDATION_ERROR with everything that is wrong. */
  as<T>(schema: z.ZodType<T>, input: Record<string, unknown>): T {
    const parsed = schema.safeParse(input)
    if (parsed.success && this.faults.length === 0) return parsed.data
    const fields = parsed.success ? [] : (validationError(parsed.error.issues, input).fields ?? [])
    // A cell that could not be read is absent for the schema, which then misses it.
    const others = fields.filter(({ path }) => !this.faults.some((fault) => fault.path === path.split('.').at(-1)))
    throw new AppError('VALIDATION_ERROR', 'The line is not valid', { fields: [...this.faults, ...others] })
  }
}

/** An object of those parts that are there; undefined without any. */
export function partsOf<T extends object>(parts: T): T | undefined {
  return Object.values(parts).some((part) => part !== undefined) ? parts : undefined
}
