import { AppError } from '../errors/index.ts'

/** Throws VERSION_MISMATCH. `version` comes from If-Match. */
export function demandVersion(what: string, row: { version: number }, version: number | undefined): void {
  if (version === undefined || version === row.version) return
  throw new AppError('VERSION_MISMATCH', `The ${what} has version ${row.version} by now`)
}

/** Returns these fields of a change, for the audit trail. */
export const namedFields = (change: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(change).filter(([name]) => names.includes(name)))
