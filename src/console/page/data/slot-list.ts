import { errorMessage } from '../../../platform/faults.ts'
import { ask, Refused } from './ask.ts'

/** Answer of the gateway to a list of slots. */
export type ListAnswer = {
  readonly ok: boolean
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly zonesCreated: readonly string[]
  readonly problems: readonly { readonly line: number; readonly column: string | null; readonly message: string }[]
  readonly problemCount: number
}

const path = '/api/whms/slots/import'

/** Lets the gateway try a list, or store it if every line is right. Throws Refused or Unreachable. */
export const sendList = (list: Blob, warehouseId: number, dryRun: boolean): Promise<ListAnswer> =>
  ask<ListAnswer>(`${path}?createZones=true&warehouseId=${warehouseId}&dryRun=${dryRun}`, {
    method: 'POST',
    bytes: new Blob([list], { type: 'text/csv' }),
  })

/** Returns the gateway's reason for a refusal, with its details. */
export const whyOf = (error: unknown): string =>
  error instanceof Refused && error.details !== '' ? `${error.message}: ${error.details}` : errorMessage(error)
