/**
 * Shows that the checks and tests can fail: applies each patch of test/mutants to a copy of the tree and expects the
 * named test to notice, with the named words. test/mutants/results.md keeps what each came to, and
 * test/mutants/noticed.jsonl which test noticed: the next time it runs first.
 *
 *   npm run mutants                those whose patch, test or touched files changed since they were caught
 *   npm run mutants -- --all       all of them
 *   npm run mutants -- NAME…       those whose name contains one of these
 *   npm run mutants -- … --part 2/6      of these the second of six parts
 *
 * Its last lines name the dearest ones. Exits with 1 when one survived or was not tried, and when a name or a part chose none.
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
const [, part = 0, parts = 0] = (/^(\d+)\/(\d+)$/.exec(values.part) ?? []).map(Number)
if (part < 1 || part > parts) fail(`--part ${values.part} is no part: of six parts the first is 1/6`)
const all = mutants()
for (const name of positionals) {
  if (!all.some(({ file }) => file.includes(name))) fail(`no mutant has ${name} in its name`)
}
const wanted = all.filter(isWanted)
if (wanted.length === 0 && values.all) fail('there is no mutant in test/mutants')
const chosen = wanted.filter((_, index) => index % parts === part - 1)
if (wanted.length > 0 && chosen.length === 0) fail(`--part ${values.part} of ${wanted.length} mutants has none`)
// Many tests wait for a process or for time that passes: one more than there are cores keeps these busy.
const jobs = Number(values.jobs ?? availableParallelism() + 1)
const outcomes: Outcome[] = []
// What a slow one breaks never happens, and its test waits for it: these are tried beside the others, the slowest first.
const slow = chosen.filter((mutant) => secondsOf(mutant) > 0).toSorted((a, b) => secondsOf(b) - secondsOf(a))
const quick = chosen.filter((mutant) => secondsOf(mutant) === 0)
const startedMs = performance.now()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const queue of [slow, quick]) queue.splice(0)
  })
const beside = quick.length === 0 ? 0 : Math.min(jobs, slow.length)
await Promise.all([
  ...Array.from({ length: Math.min(jobs, chosen.length - beside) }, () => work(() => quick.shift() ?? slow.shift())),
  ...Array.from({ length: beside }, () => work(() => slow.shift())),
])
const minutes = (performance.now() - startedMs) / 60_000
const caught = outcomes.filter(({ isCaught }) => isCaught).length
const survived = outcomes.length - caught
const untried = chosen.length - outcomes.length
process.stdout.write(
  `${caught} caught, ${survived} survived, ${untried} not tried in ${minutes.toFixed(1)} minutes\n` +
    (chosen.length === 0 ? 'Nothing changed since it was caught.\n' : ''),
)
const dearest = outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
for (const { mutant, seconds } of dearest) process.stdout.write(`${seconds.toFixed(1).padStart(6)} s ${mutant.file}\n`)
if (outcomes.length > 0) writeResults(outcomes, minutes)
process.exitCode = survived === 0 && untried === 0 ? 0 : 1

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

function isWanted(mutant: Mutant): boolean {
  if (values.all) return true
  if (positionals.length > 0) return positionals.some((name) => mutant.file.includes(name))
  return notes.get(nameOf(mutant))?.of !== fingerprint(mutant)
}

/** How long it took the last time; 0 when that was not long. */
function secondsOf(mutant: Mutant): number {
  return notes.get(nameOf(mutant))?.seconds ?? 0
}

async function work(next: () => Mutant | undefined): Promise<void> {
  const bench = new Workbench()
  try {
    for (let mutant = next(); mutant; mutant = next()) {
      const sinceMs = performance.now()
      const { output, ...observed } = await bench.run(mutant, notes.get(nameOf(mutant))?.by)
      const seconds = (performance.now() - sinceMs) / 1000
      const verdict = observed.isCaught ? 'caught  ' : 'SURVIVED'
      process.stdout.write(`${verdict} ${seconds.toFixed(1).padStart(5)} s ${mutant.file}: ${mutant.breaks}\n`)
      outcomes.push({ mutant, seconds, ...observed })
      if (observed.isCaught) continue
      process.stdout.write(`  ${mutant.caughtBy} said nothing of "${mutant.says}"\n${output.slice(-3000)}\n`)
    }
  } finally {
    bench.clear()
  }
}
