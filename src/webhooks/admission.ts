/** Most attempts under way at one endpoint. */
export const lanesPerEndpoint = 4

/** Retries leave two of these lanes to first attempts, and first attempts leave one to retries. */
const lanesForRetries = 2
const lanesForFirstsBesideRetries = 3

/** Most attempts under way in all. */
export const lanesInAll = 128

/** From this many on an endpoint gets one lane, so that sixteen hanging endpoints cannot take all lanes. */
export const crowdedFrom = 64

/** Attempts under way at one endpoint, and its due deliveries that are not under way, in order. */
export type Queue = {
  readonly firstsUnderWay: number
  readonly retriesUnderWay: number
  readonly firsts: readonly string[]
  readonly retries: readonly string[]
}

/**
 * Returns the deliveries that may start now. First attempts start in their order. Neither retries nor first attempts can block
 * the other. Every endpoint gets one before another gets a second.
 */
export function admit(queues: readonly Queue[]): string[] {
  const lines = queues.map((queue) => ({ ...queue, firsts: [...queue.firsts], retries: [...queue.retries] }))
  let inAll = lines.reduce((sum, line) => sum + underWay(line), 0)
  const admitted: string[] = []
  for (let lanes = 1; lanes <= lanesPerEndpoint; lanes += 1) {
    for (const line of lines) {
      if (inAll >= lanesInAll || (inAll >= crowdedFrom && lanes > 1)) return admitted
      if (underWay(line) >= lanes) continue
      const next = take(line)
      if (next === undefined) continue
      admitted.push(next)
      inAll += 1
    }
  }
  return admitted
}

type Line = { firstsUnderWay: number; retriesUnderWay: number; firsts: string[]; retries: string[] }

function underWay(queue: { firstsUnderWay: number; retriesUnderWay: number }): number {
  return queue.firstsUnderWay + queue.retriesUnderWay
}

function take(line: Line): string | undefined {
  const firstsMay = line.retries.length === 0 || line.firstsUnderWay < lanesForFirstsBesideRetries
  const first = firstsMay ? line.firsts.shift() : undefined
  if (first !== undefined) {
    line.firstsUnderWay += 1
    return first
  }
  const retry = line.retriesUnderWay < lanesForRetries ? line.retries.shift() : undefined
  if (retry !== undefined) line.retriesUnderWay += 1
  return retry
}
