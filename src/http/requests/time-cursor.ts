import { AppError } from '../../errors/index.ts'

/** A place in a list that is ordered by time and then by id. */
export type TimePlace = { readonly timestampMs: number; readonly id: number }

/** Returns `nextCursor` of such a list, opaque to the client. */
export function timeCursor({ timestampMs, id }: TimePlace): string {
  return Buffer.from(`${timestampMs}.${id}`).toString('base64url')
}

/** Returns the place in a cursor made by `timeCursor`. Throws VALIDATION_ERROR. */
export function readTimeCursor(cursor: string): TimePlace {
  const [, timestampMs, id] =
    Buffer.from(cursor, 'base64url')
      .toString('latin1')
      .match(/^(\d{1,15})\.(\d{1,15})$/) ?? []
  if (timestampMs === undefined || id === undefined) throw AppError.field('cursor', 'is not a cursor of this list')
  return { timestampMs: Number(timestampMs), id: Number(id) }
}
