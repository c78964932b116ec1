import { AppError, type FieldProblem } from '../../errors/index.ts'

type Items = {
  /** Name of the list in the body. */
  readonly list: string
  /** Nothing happened, in words. */
  readonly nothing: string
}

/**
 * The refusal of a whole batch, with every problem of every item under its path; undefined when none is refused.
 * A missing permission outweighs the rest; else the code is theirs when they agree. `refusals`: of each item, in order.
 */
export function batchRefusal(refusals: readonly (AppError | undefined)[], { list, nothing }: Items) {
  const refused = refusals.flatMap((error, index) => (error ? [{ index, error }] : []))
  if (refused.length === 0) return undefined
  const codes = [...new Set(refused.map(({ error }) => error.code))]
  const agreed = codes.length === 1 ? codes[0] : undefined
  const code = codes.includes('PERMISSION_DENIED') ? 'PERMISSION_DENIED' : (agreed ?? 'VALIDATION_ERROR')
  const named = refused.filter(({ error }) => code !== 'PERMISSION_DENIED' || error.code === code)
  return new AppError(code, `${nothing}: ${refused.length} of ${refusals.length} ${list} are refused`, {
    fields: named.flatMap(({ index, error }) => problemsOf(error, `${list}.${index}`)),
  })
}

function problemsOf(error: AppError, at: string): FieldProblem[] {
  if (!error.fields) return [{ path: at, message: error.details || error.message }]
  return error.fields.map(({ path, message }) => ({ path: path === '(body)' ? at : `${at}.${path}`, message }))
}
