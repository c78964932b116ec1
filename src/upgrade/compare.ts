import { renamedParts, type StateLine } from './states.ts'

/** One answer that two versions give differently. */
export type Difference = {
  readonly question: string
  /** The part of the answer, such as `isVerified`; null: only one of them answered. */
  readonly part: string | null
  readonly previous: unknown
  readonly next: unknown
}

type Found = {
  readonly compared: number
  readonly different: number
  readonly shown: readonly Difference[]
  readonly kinds: readonly string[]
  readonly passedOver: readonly string[]
}

const mostShown = 20

/** Compares the answers of the previous version with those of the next one, and stores the first differences. */
export class Comparison {
  readonly #previous: Map<string, StateLine['answer']>
  readonly #shown: Difference[] = []
  readonly #kinds = new Set<string>()
  readonly #passedOver = new Set<string>()
  #different = 0
  #compared = 0

  constructor(previous: ReadonlyMap<string, StateLine['answer']>) {
    this.#previous = new Map(previous)
  }

  /**
   * Compares one answer of the next version. A part that only the next version has is no difference. Neither is a part that the
   * next version answers by another rule and name. Every other part that the next version lacks is one.
   */
  next({ question, answer }: StateLine): void {
    const before = this.#previous.get(question)
    if (!before) {
      this.#add({ question, part: null, previous: null, next: answer })
      return
    }
    this.#previous.delete(question)
    this.#compared += 1
    for (const [part, previous] of Object.entries(before)) {
      if (renamedParts.has(part) && !Object.hasOwn(answer, part)) {
        this.#passedOver.add(part)
        continue
      }
      const next = answer[part]
      if (JSON.stringify(previous) !== JSON.stringify(next)) {
        this.#add({ question, part, previous, next: next ?? null })
      }
    }
  }

  /** Ends it: missing answers of the next version are differences too. `passedOver`: parts that were not compared. */
  end(): Found {
    for (const [question, previous] of this.#previous) this.#add({ question, part: null, previous, next: null })
    this.#previous.clear()
    return {
      compared: this.#compared,
      different: this.#different,
      shown: this.#shown,
      kinds: [...this.#kinds].sort(),
      passedOver: [...this.#passedOver].sort(),
    }
  }

  #add(difference: Difference): void {
    this.#different += 1
    this.#kinds.add(`${difference.question.split(' ', 1)[0]}.${difference.part ?? 'missing'}`)
    if (this.#shown.length < mostShown) this.#shown.push(difference)
  }
}
