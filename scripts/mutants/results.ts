import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Mutant, mutants } from './read.ts'

const file = 'test/mutants/results.md'

export type Outcome = { readonly mutant: Mutant; readonly isCaught: boolean }

/** Writes what the tried mutants came to into the table; of the others it keeps what it says. */
export function writeResults(outcomes: readonly Outcome[], minutes: number): void {
  const known = readResults()
  for (const { mutant, isCaught } of outcomes) known.caught.set(nameOf(mutant), isCaught)
  const all = mutants().filter((mutant) => known.caught.has(nameOf(mutant)))
  const wasAll = outcomes.length === mutants().length
  const lines = all.map((mutant) => {
    const isCaught = known.caught.get(nameOf(mutant))
    return `| ${nameOf(mutant)} | ${mutant.breaks} | ${mutant.caughtBy} | ${isCaught ? 'yes' : '**no**'} |`
  })
  const duration = wasAll ? `A run of all of them took ${minutes.toFixed(1)} minutes.` : known.duration
  writeFileSync(
    file,
    `# What each mutant breaks, and which test notices

Written by \`npm run mutants\`. ${duration}

| mutant | what it breaks | caught by | caught |
|---|---|---|---|
${lines.join('\n')}
`,
  )
}

export const nameOf = (mutant: Mutant): string => basename(mutant.file, '.patch')

/** What the table says: whether each mutant was caught when it was tried last. */
export function readResults(): { caught: Map<string, boolean>; duration: string } {
  const table = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const rows = table.matchAll(/^\| ([\w-]+) \|.*\| (yes|\*\*no\*\*) \|$/gm)
  return {
    caught: new Map([...rows].map(([, name = '', caught]) => [name, caught === 'yes'])),
    duration: table.match(/A run of all .*$/m)?.[0] ?? '',
  }
}
