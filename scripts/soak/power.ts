import { execFileSync } from 'node:child_process'
import { type Break, breaks, type CutReport, cutPower, recordLife } from '../../test/support/power/cuts.ts'

/** Points of one recorded life. The next life differs in the order of its writes. */
const pointsOfLife = 1000

type PowerOptions = {
  readonly points: number
  readonly seed: number
  readonly broken: Break | undefined
  readonly say: (line: string) => void
}

export type PowerReport = Omit<CutReport, 'changes' | 'syncs'> & {
  readonly lives: number
  readonly broken: Break | null
}

/** Cuts the power of many recorded lives. Ends at the first loss of a break, and after ten losses else. */
export async function soakPower({ points, seed, broken, say }: PowerOptions): Promise<PowerReport> {
  const losses: string[] = []
  const maxLosses = broken ? 1 : 10
  let [tried, lives, firstLossAt] = [0, 0, null as number | null]
  while (tried < points && losses.length < maxLosses) {
    const life = recordLife(broken)
    const cuts = { points: Math.min(pointsOfLife, points - tried), seed: seed + lives, broken }
    const report = await cutPower(life, { ...cuts, maxLosses: maxLosses - losses.length }).finally(life.end)
    if (report.firstLossAt !== null) firstLossAt ??= tried + report.firstLossAt
    losses.push(...report.losses)
    tried += report.tried
    lives += 1
    say(`${tried} of ${points} power cuts in ${lives} lives, ${losses.length} losses`)
  }
  return { seed, lives, broken: broken ?? null, tried, firstLossAt, losses }
}

/** Returns the break of this name; undefined for none. Throws for another name. */
export function breakOf(name: string | undefined): Break | undefined {
  const found = breaks.find((one) => one === name)
  if (name !== undefined && !found) throw new Error(`--break takes ${breaks.join(', ')}, not ${name}`)
  return found
}

/** Returns a seed that each commit changes; 1 outside of a repository. */
export function seedOfCommit(): number {
  try {
    const hash = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return Number.parseInt(hash.toString().slice(0, 7), 16)
  } catch {
    return 1
  }
}
