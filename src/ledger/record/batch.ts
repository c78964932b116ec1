import { AppError, type FieldProblem } from '../../errors/index.ts'
import { errorFacts, validationError } from '../../http/index.ts'
import { NewPlacementEvent } from '../schema.ts'
import type { BatchItemResult } from './act-schema.ts'
import type { Appended } from './recorder.ts'

/** What became of one event of a batch. */
export type ItemOutcome = { readonly done: Appended } | { readonly refused: AppError }

/** An event of a batch as it was sent, read by itself. */
export function readItem(item: unknown): NewPlacementEvent | AppError {
  const read = NewPlacementEvent.safeParse(item)
  return read.success ? read.data : validationError(read.error.issues, item)
}

export function resultOf(outcome: ItemOutcome, index: number): BatchItemResult {
  if ('refused' in outcome) return { index, status: outcome.refused.status, error: errorFacts(outcome.refused) }
  const { success: _, ...event } = outcome.done.event
  return { index, status: outcome.done.isNew ? 201 : 200, event }
}

/**
 * The refusal of a whole batch, with every problem of every event under its path; undefined when none is refused.
 * A missing permission outweighs the rest; else the code is theirs when they agree.
 */
export function refusalOf(outcomes: readonly ItemOutcome[]): AppError | undefined {
  const refused = outcomes.flatMap((outcome, index) =>
    'refused' in outcome ? [{ index, error: outcome.refused }] : [],
  )
  if (refused.length === 0) return undefined
  const codes = [...new Set(refused.map(({ error }) => error.code))]
  const agreed = codes.length === 1 ? codes[0] : undefined
  const code = codes.includes('PERMISSION_DENIED') ? 'PERMISSION_DENIED' : (agreed ?? 'VALIDATION_ERROR')
  const told = refused.filter(({ error }) => code !== 'PERMISSION_DENIED' || error.code === code)
  return new AppError(code, `Nothing was recorded: ${refused.length} of ${outcomes.length} events are refused`, {
    fields: told.flatMap(({ index, error }) => problemsOf(error, `events.${index}`)),
  })
}

function problemsOf(error: AppError, at: string): FieldProblem[] {
  if (!error.fields) return [{ path: at, message: error.details || error.message }]
  return error.fields.map(({ path, message }) => ({ path: path === '(body)' ? at : `${at}.${path}`, message }))
}
