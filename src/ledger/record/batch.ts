import type { AppError } from '../../errors/index.ts'
import { batchRefusal, errorFacts } from '../../http/index.ts'
import type { BatchItemResult } from './act-schema.ts'
import type { Appended } from './recorder.ts'

/** Outcome of one event of a batch. */
export type ItemOutcome = { readonly done: Appended } | { readonly refused: AppError }

export function resultOf(outcome: ItemOutcome, index: number): BatchItemResult {
  if ('refused' in outcome) return { index, status: outcome.refused.status, error: errorFacts(outcome.refused) }
  const { success: _, ...event } = outcome.done.event
  return { index, status: outcome.done.isNew ? 201 : 200, event }
}

/** As `batchRefusal`. */
export const refusalOf = (outcomes: readonly ItemOutcome[]): AppError | undefined =>
  batchRefusal(
    outcomes.map((outcome) => ('refused' in outcome ? outcome.refused : undefined)),
    { list: 'events', nothing: 'Nothing was recorded' },
  )
