/**
 * Shows that the checks and tests can fail: applies each patch of test/mutants to a copy of the tree and expects the
 * named test to notice, with the named words. test/mutants/results.md keeps what each came to, and
 * test/mutants/noticed.jsonl which test noticed: the next time it runs first.
 *
 *   npm run mutants                those whose patch, test or touched files changed since they were caught
 *   npm run mutants -- --all       all of them
 *   npm run mutants -- NAME…       those whose name contains one of these
 *   npm run mutants -- … --part 2/6      of these the second of six parts
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from './mutants/read.ts'
import { fingerprint, nameOf, type Outcome, readNotes, writeResults } from './mutants/results.ts'
import { Workbench } from './mutants/workbench.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, part: { type: 'string', default: '1/1' }, jobs: { type: 'string' } },
})
const notes = readNotes()
const [part = 1, parts = 1] = values.part.split('/').map(Number)
const chosen = mutants()
  .filter(isWanted)
  .filter((_, index) => index % parts === part - 1)
// Many tests wait for a process or for time that passes: one more than there are cores keeps these busy.
const jobs = Number(values.jobs ?? availableParallelism() + 1)
const outcomes: Outcome[] = []
const queue = [...chosen]
const startedMs = performance.now()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => queue.splice(0))
await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, work))
const minutes = (performance.now() - startedMs) / 60_000
const survived = outcomes.filter(({ isCaught }) => !isCaught).length
process.stdout.write(`${chosen.length - survived} caught, ${survived} survived in ${minutes.toFixed(1)} minutes\n`)
if (chosen.length > 0) writeResults(outcomes, minutes)
process.exitCode = survived === 0 ? 0 : 1

function isWanted(mutant: Mutant): boolean {
  if (values.all) return true
  if (positionals.length > 0) return positionals.some((name) => mutant.file.includes(name))
  return notes.get(nameOf(mutant))?.of !== fingerprint(mutant)
}

async function work(): Promise<void> {
  const bench = new Workbench()
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const sinceMs = performance.now()
      const { output, ...observed } = await bench.run(mutant, notes.get(nameOf(mutant))?.by)
      const seconds = ((performance.now() - sinceMs) / 1000).toFixed(1)
      process.stdout.write(
        `${observed.isCaught ? 'caught  ' : 'SURVIVED'} ${seconds.padStart(5)} s ${mutant.file}: ${mutant.breaks}\n`,
      )
      outcomes.push({ mutant, ...observed })
      if (observed.isCaught) continue
      process.stdout.write(`  ${mutant.caughtBy} said nothing of "${mutant.says}"\n${output.slice(-3000)}\n`)
    }
  } finally {
    bench.clear()
  }
}
