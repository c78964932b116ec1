/** A problem or a notice: `column` as the header names it; null for the whole line. */
export type ListProblem = { readonly line: number; readonly column: string | null; readonly message: string }

/** Problems with one cause: their number, and the first three of them. */
export type Cause = {
  readonly column: string | null
  readonly count: number
  readonly examples: readonly ListProblem[]
}

const listed = 1000
const mostCauses = 100
const mostExamples = 3

/** Collects problems. The first thousand are kept, all are counted, and all are grouped by cause. */
export class Problems {
  readonly #found: ListProblem[] = []
  readonly #causes = new Map<string, { column: string | null; count: number; examples: ListProblem[] }>()
  #count = 0

  /** @param value the value of the line, if the message repeats it: lines that differ in it alone have the same cause */
  add(line: number, column: string | null, message: string, value?: string): void {
    const problem = { line, column, message }
    this.#count += 1
    if (this.#found.length < listed) this.#found.push(problem)
    const key = this.#keyOf(problem, value)
    const cause = this.#causes.get(key) ?? { column, count: 0, examples: [] }
    cause.count += 1
    cause.examples = [...cause.examples, problem].toSorted((a, b) => a.line - b.line).slice(0, mostExamples)
    this.#causes.set(key, cause)
  }

  get count(): number {
    return this.#count
  }

  /** Returns at most a thousand problems, in the order of the lines. */
  get list(): readonly ListProblem[] {
    return this.#found.toSorted((a, b) => a.line - b.line)
  }

  /** Returns the causes, the most frequent first. */
  get causes(): readonly Cause[] {
    return [...this.#causes.values()].toSorted((a, b) => b.count - a.count)
  }

  #keyOf({ column, message }: ListProblem, value: string | undefined): string {
    const bare = value === undefined ? message : message.replaceAll(value, '…')
    const key = `${column}: ${bare.replaceAll(/\d+/g, '0')}`
    return this.#causes.has(key) || this.#causes.size < mostCauses ? key : 'others'
  }
}
