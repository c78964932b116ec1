import type { z } from '@hono/zod-openapi'
import type { Tx } from '../database/index.ts'
import { AppError, type FieldProblem } from '../errors/index.ts'
import { type RequestOrigin, validationError } from '../http/index.ts'
import { cut, type Numbers, type Read } from './cells.ts'
import type { Row } from './sheet.ts'

/** Outcome of a line. */
export type RowOutcome = {
  readonly what: 'created' | 'updated' | 'unchanged'
  /** Codes of the warnings that the ledger gave. */
  readonly warnings?: readonly string[]
  /** Information that is no reason to refuse the list. */
  readonly notice?: { readonly column: string; readonly message: string } | undefined
}

/** A kind of list: its columns, and how a line is stored. */
export type Form = {
  /** Names of the columns, as in the API. */
  readonly columns: readonly string[]
  /** Other headers for them. */
  readonly aliases: Readonly<Record<string, string>>
  readonly required: readonly string[]
  /** The value that two lines may not share, and its column. */
  readonly key: { readonly column: string; readonly of: (row: Row) => string | undefined }
  /** Lines with the same value here can depend on each other and are tried together. */
  readonly together?: (row: Row) => string | undefined
  /** Stores a line in the transaction. Throws AppError with its problems. */
  readonly store: (tx: Tx, row: Row, by: RequestOrigin) => RowOutcome
}

/** Reads the cells of a line as values and collects their problems. */
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

  /** Returns a code as text. A code such as `3,40E+17` is a problem: the spreadsheet has lost its digits. */
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

  /** Returns the line as the API would take it. Throws VALIDATION_ERROR with all problems. */
  as<T>(schema: z.ZodType<T>, input: Record<string, unknown>): T {
    const parsed = schema.safeParse(input)
    if (parsed.success && this.faults.length === 0) return parsed.data
    const fields = parsed.success ? [] : (validationError(parsed.error.issues, input).fields ?? [])
    // A cell that could not be read is absent for the schema, which then misses it.
    const others = fields.filter(({ path }) => !this.faults.some((fault) => fault.path === path.split('.').at(-1)))
    throw new AppError('VALIDATION_ERROR', 'The line is not valid', { fields: [...this.faults, ...others] })
  }
}

/** Returns the parts; undefined when all of them are undefined. */
export function partsOf<T extends object>(parts: T): T | undefined {
  return Object.values(parts).some((part) => part !== undefined) ? parts : undefined
}
