/** A place in a file; lines and columns count from 1. */
export type Place = { readonly file: string; readonly line: number; readonly column: number }

/** Something wrong, or worth a warning, in a config. */
export type Problem = {
  readonly place: Place
  /** The key it is about (`cameras[0].url`); empty when it is about a whole file. */
  readonly path: string
  readonly message: string
}

/** `/etc/gatehouse/gatehouse.yaml:12:3: webhooks.timeuot: unknown key; did you mean timeout?` */
export function formatProblem({ place, path, message }: Problem): string {
  const { file, line, column } = place
  return `${file}:${line}:${column}: ${path ? `${path}: ` : ''}${message}`
}

/** Sorts problems by file, and inside a file from the top. */
export function inReadingOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const rank = ({ place }: Problem) => [files.indexOf(place.file), place.line, place.column] as const
  return problems.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)]
    return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
  })
}

export const isSamePlace = (a: Place, b: Place): boolean =>
  a.file === b.file && a.line === b.line && a.column === b.column
