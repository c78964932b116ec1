import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Mutant, mutants, touchedBy } from './read.ts'

const table = 'test/mutants/results.md'
const notes = 'test/mutants/noticed.jsonl'

export type Outcome = {
  readonly mutant: Mutant
  readonly isCaught: boolean
  readonly seconds: number
  /** The test of the file that noticed; absent for a check, and for a file that ended before it had a title. */
  readonly noticedBy?: string
}

/** What is remembered of a mutant that was caught. */
export type Note = {
  /** Of the patch, of the test and of what the patch touches: another one means that it has to be tried again. */
  readonly of: string
  readonly by?: string
  /** How long that took among all of them, where it was long. */
  readonly seconds?: number
}

const longSeconds = 10

/** Writes what the tried mutants came to; of the others the table and the notes keep what they say. */
export function writeResults(outcomes: readonly Outcome[], minutes: number): void {
  const known = readResults()
  const noted = readNotes()
  const all = mutants()
  const wasAll = outcomes.length === all.length
  for (const { mutant, isCaught, noticedBy: by, seconds } of outcomes) {
    known.caught.set(nameOf(mutant), isCaught)
    // One that is tried alone may have a busy machine.
    const took = wasAll ? Math.round(seconds) : (noted.get(nameOf(mutant))?.seconds ?? 0)
    const long = took >= longSeconds && { seconds: took }
    if (isCaught) noted.set(nameOf(mutant), { of: fingerprint(mutant), ...(by && { by }), ...long })
    else noted.delete(nameOf(mutant))
  }
  const duration = wasAll ? `A run of all of them took ${minutes.toFixed(1)} minutes.` : known.duration
  const tried = all.filter((mutant) => known.caught.has(nameOf(mutant)))
  writeFileSync(table, tableOf(tried, known.caught, duration))
  const lines = tried.flatMap((mutant) => {
    const note = noted.get(nameOf(mutant))
    return note ? [`${JSON.stringify({ mutant: nameOf(mutant), ...note })}\n`] : []
  })
  writeFileSync(notes, lines.join(''))
}

const tableOf = (tried: readonly Mutant[], caught: ReadonlyMap<string, boolean>, duration: string): string => {
  const rows = tried.map((mutant) => {
    const isCaught = caught.get(nameOf(mutant))
    return `| ${nameOf(mutant)} | ${mutant.breaks} | ${mutant.caughtBy} | ${isCaught ? 'yes' : '**no**'} |`
  })
  return `# What each mutant breaks, and which test notices

Written by \`npm run mutants\`. ${duration}

| mutant | what it breaks | caught by | caught |
|---|---|---|---|
${rows.join('\n')}
`
}

export const nameOf = (mutant: Mutant): string => basename(mutant.file, '.patch')

/** What the table says: whether each mutant was caught when it was tried last. */
export function readResults(): { caught: Map<string, boolean>; duration: string } {
  const text = existsSync(table) ? readFileSync(table, 'utf8') : ''
  const rows = text.matchAll(/^\| ([\w-]+) \|.*\| (yes|\*\*no\*\*) \|$/gm)
  return {
    caught: new Map([...rows].map(([, name = '', caught]) => [name, caught === 'yes'])),
    duration: text.match(/A run of all .*$/m)?.[0] ?? '',
  }
}

/** What is remembered of the mutants that were caught, by their names. */
export function readNotes(): Map<string, Note> {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : []
  return new Map(
    lines.map((line) => {
      const { mutant, ...note } = JSON.parse(line) as Note & { mutant: string }
      return [mutant, note]
    }),
  )
}

/** Of the patch, the test file and the files that the patch touches, as they are. */
export function fingerprint(mutant: Mutant): string {
  const hash = createHash('sha256')
  for (const path of new Set([mutant.file, mutant.caughtBy, ...touchedBy(mutant)]))
    hash.update(`${path}\0`).update(existsSync(path) ? readFileSync(path) : '')
  return hash.digest('hex').slice(0, 12)
}
