/** The value below which a share of them lies (nearest rank); NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Milliseconds that `work` takes; of a promise until it is kept. */
export async function timedUntilDone(work: () => unknown): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Milliseconds that `work` takes. */
export function timed(work: () => unknown): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}

/**
 * Runs all of them in turn, `rounds` times, so that what else the machine does meets each alike.
 * @returns the median milliseconds of each
 */
export async function inTurn<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => unknown>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(works) as Name[]
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) taken.get(name)?.push(await timedUntilDone(works[name]))
  }
  return Object.fromEntries([...taken].map(([name, values]) => [name, median(values)])) as Record<Name, number>
}
