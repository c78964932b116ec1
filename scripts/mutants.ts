/**
 * Shows that the checks and tests can fail: applies each patch of test/mutants to a copy of the tree and expects the
 * named test to notice, with the named words. As many run at once as there are cores. test/mutants/results.md keeps
 * what each came to.
 *
 *   npm run mutants [-- NAME…]
 */
import { availableParallelism } from 'node:os'
import { mutants } from './mutants/read.ts'
import { type Outcome, writeResults } from './mutants/results.ts'
import { Workbench } from './mutants/workbench.ts'

const wanted = process.argv.slice(2)
const chosen = mutants().filter((m) => wanted.length === 0 || wanted.some((name) => m.file.includes(name)))
const outcomes: Outcome[] = []
const queue = [...chosen]
const startedMs = performance.now()
await Promise.all(Array.from({ length: Math.min(availableParallelism(), queue.length) }, work))
const minutes = (performance.now() - startedMs) / 60_000
const survived = outcomes.filter(({ isCaught }) => !isCaught).length
process.stdout.write(`${chosen.length - survived} caught, ${survived} survived\n`)
writeResults(outcomes, minutes)
process.exitCode = chosen.length > 0 && survived === 0 ? 0 : 1

async function work(): Promise<void> {
  const bench = new Workbench()
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { isCaught, output } = await bench.run(mutant)
      process.stdout.write(`${isCaught ? 'caught  ' : 'SURVIVED'} ${mutant.file}: ${mutant.breaks}\n`)
      outcomes.push({ mutant, isCaught })
      if (isCaught) continue
      process.stdout.write(`  ${mutant.caughtBy} said nothing of "${mutant.says}"\n${output.slice(-3000)}\n`)
    }
  } finally {
    bench.clear()
  }
}
