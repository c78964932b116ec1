import { z } from '@hono/zod-openapi'
import { AppError } from '../errors/index.ts'
import { batchRefusal, ErrorFacts, errorFacts, optional, readLater, resource, rowId } from '../http/index.ts'
import { batchLimit } from '../ledger/index.ts'
import { SlotChange } from '../warehouse/index.ts'
import { FloorSlot } from './schema.ts'

/** The forms of a batch of changes to slots, and the answer to each. */

const name = 'SlotBatchChange'

const SlotBatchChange = z
  .object({
    id: rowId(),
    version: optional(z.int().min(1)).openapi({
      description: 'The version that was read, as If-Match has it. Default: any.',
    }),
    ...SlotChange.shape,
  })
  .openapi(name)
type SlotBatchChange = z.output<typeof SlotBatchChange>

const later = readLater(SlotBatchChange, name, FloorSlot)

export const SlotBatch = z
  .object({
    mode: optional(z.enum(['proceed', 'rollback'])).openapi({
      description: 'proceed: each by itself. rollback (default): all or none',
    }),
    changes: z.array(later.item).min(1).max(batchLimit),
  })
  .openapi('SlotBatch')
export type SlotBatch = z.output<typeof SlotBatch>

const SlotBatchResult = z
  .object({
    index: z.int(),
    status: z.int().openapi({
      description:
        '200, or as PUT of this slot alone would refuse it: 400, 412; an unknown id is 400 REFERENCE_NOT_FOUND',
    }),
    slot: FloorSlot.optional(),
    error: ErrorFacts.optional(),
  })
  .openapi('SlotBatchResult')
type SlotBatchResult = z.infer<typeof SlotBatchResult>

export const ChangedSlots = resource({ results: z.array(SlotBatchResult) }).openapi('ChangedSlots')
export type ChangedSlots = z.infer<typeof ChangedSlots>

/** Outcome of one change. */
export type SlotOutcome = { readonly slot: FloorSlot } | { readonly refused: AppError }

/** Reads one change as it was sent and makes it; a refusal comes back. `make` refuses before it writes. */
export function attemptChange(item: unknown, make: (change: SlotBatchChange) => FloorSlot): SlotOutcome {
  const read = later.read(item)
  if (read instanceof AppError) return { refused: read }
  try {
    return { slot: make(read) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { refused: error }
  }
}

export function changeResult(outcome: SlotOutcome, index: number): SlotBatchResult {
  if ('slot' in outcome) return { index, status: 200, slot: outcome.slot }
  return { index, status: outcome.refused.status, error: errorFacts(outcome.refused) }
}

/** As `batchRefusal`. */
export const changesRefusal = (outcomes: readonly SlotOutcome[]): AppError | undefined =>
  batchRefusal(
    outcomes.map((outcome) => ('refused' in outcome ? outcome.refused : undefined)),
    { list: 'changes', nothing: 'Nothing was changed' },
  )
