/**
 * Stands for the binary of the previous version: the code of this tree, with the schema steps that it knew. The first word
 * changes its behavior.
 *
 * - `same`: as it is
 * - `unlike`: a disputed placement was verified too
 * - `early`: a version without the command
 * - `recorded:FILE`: it prints the content of the file
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newestSchema } from '../../src/database/index.ts'
import { ExitError } from '../../src/errors/index.ts'
import { derivedStates, lineOf, statesForm } from '../../src/upgrade/index.ts'

const [kind, ...words] = process.argv.slice(2)
const [folder = '', since = '', most = ''] = [words[2], words[4], words[6]]

function answer(): void {
  if (kind === 'early') throw new ExitError(2, 'there is no command "gatehouse upgrade"')
  if (!existsSync(join(folder, 'gatehouse.db'))) throw new ExitError(1, `${folder} has no ledger`)
  if (kind?.startsWith('recorded:')) {
    process.stdout.write(readFileSync(kind.slice('recorded:'.length)))
    return
  }
  process.stdout.write(`${lineOf({ question: statesForm, answer: { version: '0.9.0', schema: newestSchema } })}\n`)
  for (const line of derivedStates({ folder, sinceMs: Date.parse(since), most: Number(most) })) {
    const { isDisputed } = line.answer
    const said = kind === 'unlike' && isDisputed === true ? { ...line.answer, isVerified: true } : line.answer
    process.stdout.write(`${lineOf({ ...line, answer: said })}\n`)
  }
}

try {
  answer()
} catch (error) {
  process.stderr.write(`gatehouse: ${(error as Error).message}\n`)
  process.exitCode = error instanceof ExitError ? error.exitCode : 1
}
