import { existsSync } from 'node:fs'
import { changed, type Guard, rooms } from '../mutants/guards.ts'

/**
 * Throws with each mutant that does not apply, because it guards nothing, and with each file that does not exist.
 */
export async function mutantsApply(): Promise<void> {
  const all = rooms()
  const guards = all.flatMap((room) => room.guards)
  if (guards.length === 0) throw new Error('there are no mutants under test/mutants')
  const named = all.flatMap(({ pure }) => [...(pure?.files ?? []), ...(pure?.tests ?? [])])
  const missing = named.filter((file) => !existsSync(file)).map((file) => `${file} does not exist`)
  const problems = [...missing, ...guards.flatMap(problemsOf)]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

function problemsOf(guard: Guard): string[] {
  const { test, title } = guard
  const isCheck = test.startsWith('check ')
  if (!isCheck && !existsSync(test)) return [`${test} does not exist`]
  if (!isCheck && title === undefined) return [`"${guard.breaks}" names no title of ${test}`]
  try {
    changed(guard)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}
