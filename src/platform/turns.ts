import { AsyncLocalStorage } from 'node:async_hooks'

const askers = new AsyncLocalStorage<string>()
/** Work that waits for its turn, by asker, in the order of their turns. */
const waiting = new Map<string, (() => void)[]>()
let isTaken = false

/** Runs the work of a request in the name of its caller, for `ownTurn`. */
export function asAsker<T>(asker: string, work: () => T): T {
  return askers.run(asker, work)
}

/**
 * Resolves when the next slice of a long read may run. In the whole process one slice runs in one turn of the event loop, whatever
 * number of requests asks, and askers take turns. Between two slices the event loop serves what has arrived, so a booking waits for
 * one slice at most. Returns undefined when nothing else runs in this turn: waiting then costs nothing.
 */
export function ownTurn(): Promise<void> | undefined {
  if (!isTaken) {
    isTaken = true
    // The slice may run in the turn whose immediates come now; the next one waits for the turn behind it.
    setImmediate(() => setImmediate(passOn))
    return undefined
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  const asker = askers.getStore() ?? ''
  const own = waiting.get(asker)
  if (own) own.push(resolve)
  else waiting.set(asker, [resolve])
  return promise
}

function passOn(): void {
  const [first] = waiting
  if (!first) {
    isTaken = false
    return
  }
  const [asker, own] = first
  waiting.delete(asker)
  const next = own.shift()
  if (own.length > 0) waiting.set(asker, own)
  next?.()
  // Behind the slice, so that its turn ends before the next one begins.
  queueMicrotask(() => setImmediate(passOn))
}
