import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../platform/index.ts'

/** One part of a running gateway that a stop ends. */
export type StopStep = {
  readonly name: string
  /** Whether it begins after the end of all that were started behind it. */
  readonly isAlone?: boolean
  end(): void | Promise<void>
}

/** Longest wait for all steps together. The unit has TimeoutStopSec=45s, and people wait at most 20 s. */
const allWithinMs = 18_000
/** The last steps sign the log and close clips: this much is left for each of them. */
const leftForEachMs = 1500

/**
 * Ends the parts of a gateway, the newest first, then closes its files. Neighbors wait side by side, because each gives its requests
 * or receivers 10 s. A step that fails or hangs is logged, and the next one begins. Never rejects.
 */
export async function stopAll(
  started: readonly StopStep[],
  files: { close(): void },
  log: Logger,
  withinMs = allWithinMs,
): Promise<void> {
  const endMs = performance.now() + withinMs
  const groups = groupsOf(started.toReversed())
  for (const [i, group] of groups.entries()) {
    const limitMs = Math.max(leftForEachMs, endMs - performance.now() - (groups.length - 1 - i) * leftForEachMs)
    await Promise.all(group.map((step) => endWithin(step, limitMs, log)))
  }
  try {
    files.close()
  } catch (err) {
    log.error({ err }, 'the files could not be closed')
  }
}

function groupsOf(steps: readonly StopStep[]): StopStep[][] {
  const groups: StopStep[][] = []
  for (const step of steps) {
    const newest = groups.at(-1)
    if (newest && !step.isAlone && !newest.at(-1)?.isAlone) newest.push(step)
    else groups.push([step])
  }
  return groups
}

async function endWithin({ name, end }: StopStep, limitMs: number, log: Logger): Promise<void> {
  const late = new AbortController()
  try {
    const isLate = pause(limitMs, true, { signal: late.signal }).catch(() => false)
    const ended = (async () => end())().then(() => false)
    if (await Promise.race([ended, isLate])) log.error({ part: name, limitMs }, 'a part did not stop in time')
  } catch (err) {
    log.error({ err, part: name }, 'a part could not be stopped')
  } finally {
    late.abort()
  }
}
