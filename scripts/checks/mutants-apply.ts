import { execFileSync } from 'node:child_process'
import { mutants } from '../mutants/read.ts'
import { nameOf, readResults } from '../mutants/results.ts'

/**
 * A mutant that no longer applies guards nothing, and one that the table of results does not know as caught was not tried; throws
 * with their names.
 */
export async function mutantsApply(): Promise<void> {
  const all = mutants()
  if (all.length === 0) throw new Error('there are no mutants under test/mutants')
  const stale = all.filter((mutant) => !applies(mutant.file))
  if (stale.length > 0) throw new Error(`these do not apply any more: ${stale.map((m) => m.file).join(', ')}`)
  const { caught } = readResults()
  const open = all.map(nameOf).filter((name) => !caught.get(name))
  if (open.length > 0) throw new Error(`not known to be caught; run npm run mutants -- ${open.join(' ')}`)
}

function applies(file: string): boolean {
  try {
    execFileSync('git', ['apply', '--check', file], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}
