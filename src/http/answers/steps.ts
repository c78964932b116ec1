import type { Context, Next } from 'hono'

type Answered = Response | undefined
type Step = (c: Context, next: Next) => Answered | Promise<Answered>

/** Handlers for a request that no step answers, and for a step that throws. */
export type Ends = {
  readonly notFound: (c: Context) => Response | Promise<Response>
  readonly onError: (error: Error, c: Context) => Response | Promise<Response>
}

/**
 * Makes one handler of the steps of an address. It runs them as hono does, but makes no promise where a step waits for nothing.
 * Most reads are answered without waiting, and a dozen promises for each cost a tenth of it.
 */
export function joined(steps: readonly Step[], ends: Ends): (c: Context) => Response | Promise<Response> {
  return (c) => {
    const waits = run(steps, ends, c)
    return waits ? waits.then(() => c.res) : c.res
  }
}

/** Does something once the steps behind `next()` have answered, at once where they have already. */
export function afterwards(waits: Promise<void>, work: () => void): Promise<void> {
  if (waits instanceof Promise) return waits.then(work)
  work()
  return waits
}

/** Runs the steps, each from inside the one before it. Returns a promise only where one of them does. */
function run(steps: readonly Step[], { notFound, onError }: Ends, c: Context): Promise<void> | undefined {
  let reached = -1
  const settle = (answer: Answered): undefined => {
    if (answer && !c.finalized) c.res = answer
  }
  const replace = (answer: Response): undefined => {
    c.res = answer
  }
  // The steps around the one that failed go on with the answer to the failure.
  const fail = (error: unknown): Promise<void> | undefined => {
    if (!(error instanceof Error)) throw error
    c.error = error
    const answer = onError(error, c)
    return answer instanceof Promise ? answer.then(replace) : replace(answer)
  }
  const go = (i: number): Promise<void> | undefined => {
    if (i <= reached) throw new Error('next() called multiple times')
    reached = i
    const step = steps[i]
    try {
      // Every step that looks at what next() gives only awaits it.
      const next = (() => go(i + 1)) as Next
      const answer = step ? step(c, next) : c.finalized ? undefined : notFound(c)
      return answer instanceof Promise ? answer.then(settle).catch(fail) : settle(answer)
    } catch (error) {
      return fail(error)
    }
  }
  return go(0)
}
