import { setTimeout as pause } from 'node:timers/promises'

/** Milliseconds after which something that has not happened is said not to happen; shorter where most of it never does. */
export const patienceMs = Number(process.env['TEST_PATIENCE_MS'] ?? 60_000)

type Patience = { readonly withinMs?: number; readonly everyMs?: number }

/** Asks again until the answer fits, and gives it; fails with the last one once the patience is over. */
export async function eventually<T>(
  get: () => T | Promise<T>,
  fits: (answer: T) => boolean,
  { withinMs = patienceMs, everyMs = 100 }: Patience = {},
): Promise<T> {
  for (const end = performance.now() + withinMs; ; ) {
    const answer = await get()
    if (fits(answer)) return answer
    if (performance.now() > end) {
      throw new Error(`not within ${withinMs} ms; at last: ${JSON.stringify(answer)?.slice(0, 2000)}`)
    }
    await pause(everyMs)
  }
}

/** Looks until something is so; fails with what was waited for once the patience is over. */
export async function waitUntil(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { withinMs = patienceMs, everyMs = 10 }: Patience = {},
): Promise<void> {
  for (const end = performance.now() + withinMs; !(await isSo()); ) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(everyMs)
  }
}
