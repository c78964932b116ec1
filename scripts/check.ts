/**
 * The checks that need no test: types, format and lint, dead code, direction of imports, house rules, and the names on
 * the room pages. Run alone by `npm run check`.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { makeApiTypes } from './build/api-types.ts'
import { dependenciesAreListed } from './checks/dependencies.ts'
import { committedDescription } from './checks/description.ts'
import { houseRules } from './checks/house-rules.ts'
import { houseSize } from './checks/house-size.ts'
import { importDirection } from './checks/import-direction.ts'
import { manualPagesAreRight } from './checks/manual-pages.ts'
import { mutantsApply } from './checks/mutants-apply.ts'
import { ownTables } from './checks/own-tables.ts'
import { pageTexts } from './checks/page-texts.ts'
import { roomPages } from './checks/room-pages.ts'
import { sentences } from './checks/sentences.ts'

const exec = promisify(execFile)

type Check = { name: string; run: () => Promise<void> }

const tool =
  (path: string, ...args: string[]) =>
  async () => {
    await exec(process.execPath, [path, ...args], { maxBuffer: 64 << 20 })
  }

const types = (project: string) => async () => {
  await makeApiTypes()
  await tool('node_modules/typescript-native/bin/tsc', '-p', project, '--noEmit')()
}

export const checks: readonly Check[] = [
  { name: 'types', run: types('.') },
  { name: 'types of the console', run: types('src/console/page') },
  { name: 'format and lint', run: tool('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.') },
  { name: 'dead code', run: tool('node_modules/knip/bin/knip.js', '--no-progress') },
  { name: 'direction of imports', run: importDirection },
  { name: 'tables and their rooms', run: ownTables },
  { name: 'house rules', run: houseRules },
  { name: 'texts of the console', run: pageTexts },
  { name: 'room pages', run: roomPages },
  { name: 'size', run: houseSize },
  { name: 'pages of the manual', run: manualPagesAreRight },
  { name: 'description', run: committedDescription },
  { name: 'sentences', run: sentences },
  { name: 'dependencies', run: dependenciesAreListed },
  { name: 'third-party notices', run: tool('scripts/notices.ts', '--check') },
  { name: 'mutants still apply', run: mutantsApply },
]

/** Runs all checks, or those of these names, says which failed and why. An unknown name fails with the list of names. */
export async function runChecks(names: readonly string[] = []): Promise<{ passed: number; failed: number }> {
  const count = { passed: 0, failed: 0 }
  const unknown = names.filter((name) => !checks.some((check) => check.name === name))
  if (unknown.length > 0) {
    const known = checks.map(({ name }) => JSON.stringify(name)).join(', ')
    process.stdout.write(
      `No check is called ${unknown.map((name) => JSON.stringify(name)).join(', ')}. There are ${known}.\n`,
    )
    return { passed: 0, failed: unknown.length }
  }
  for (const { name, run } of checks) {
    if (names.length > 0 && !names.includes(name)) continue
    try {
      await run()
      count.passed += 1
      process.stdout.write(`ok     check: ${name}\n`)
    } catch (error) {
      count.failed += 1
      const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string }
      process.stdout.write(`FAILED check: ${name}\n${`${stdout}${stderr}` || message}\n`)
    }
  }
  return count
}

if (import.meta.main) {
  const { failed } = await runChecks(process.argv.slice(2))
  process.exitCode = failed === 0 ? 0 : 1
}
