/** What is wrong with a list, or worth knowing of it: `column` as the header names it; null for the whole line. */
export type ListProblem = { readonly line: number; readonly column: string | null; readonly message: string }

const listed = 1000

/** Problems as they are found, in the order of the lines; beyond a thousand they are only counted. */
export class Problems {
  readonly #found: ListProblem[] = []
  #count = 0

  add(line: number, column: string | null, message: string): void {
    this.#count += 1
    if (this.#found.length < listed) this.#found.push({ line, column, message })
  }

  get count(): number {
    return this.#count
  }

  /** At most a thousand of them. */
  get list(): readonly ListProblem[] {
    return this.#found.toSorted((a, b) => a.line - b.line)
  }
}
