import { type Fault, fuzz } from '../../test/support/fuzz.ts'
import { fuzzedParsers } from '../../test/support/fuzzed-parsers.ts'
import { type HostileReport, hostileRequests } from '../../test/support/hostile-requests.ts'

type FuzzOptions = {
  /** Changed inputs for each parser, and hostile requests. */
  readonly inputs: number
  readonly seed: number
  readonly say: (line: string) => void
}

export type FuzzReport = {
  readonly seed: number
  readonly inputs: number
  readonly parsers: number
  readonly faults: readonly Fault[]
  readonly requests: HostileReport
}

/** Gives changed inputs to each parser, and hostile requests to a gateway. */
export async function soakFuzz({ inputs, seed, say }: FuzzOptions): Promise<FuzzReport> {
  const faults: Fault[] = []
  for (const parser of fuzzedParsers) {
    faults.push(...(await fuzz(parser, inputs, seed)))
    say(`${parser.name}: ${inputs} inputs, ${faults.length} faults so far`)
  }
  const requests = await hostileRequests(inputs, seed)
  return { seed, inputs, parsers: fuzzedParsers.length, faults, requests }
}
