import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Stryker } from '@stryker-mutator/core'
import type { Room } from './guards.ts'

const table = 'test/mutants/scores.md'

const head = `# Mutation scores of pure files

Written by \`npm run mutants -- ROOM\`. Score: mutants that a test noticed, of all mutants.

| room | files | tests | mutants | noticed | score |
|---|---|---|--:|--:|--:|
`

/** Runs StrykerJS over the pure files of the room, prints each mutant that no test noticed, and writes the room's row. */
export async function scoreOf({ name, pure }: Room): Promise<void> {
  if (!pure) throw new Error(`Room ${name} lists no pure files.`)
  const results = await new Stryker({
    mutate: pure.files,
    testRunner: 'tap',
    tap: { testFiles: pure.tests },
    plugins: ['@stryker-mutator/tap-runner'],
    coverageAnalysis: 'perTest',
    reporters: ['clear-text'],
    allowConsoleColors: false,
    tempDirName: '.cache/stryker',
    ignorePatterns: ['.cache', '.tap', 'dist', 'var'],
  }).runMutationTest()
  const counted = results.filter(({ status }) => status !== 'CompileError' && status !== 'Ignored')
  const noticed = counted.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const score = `${((noticed / counted.length) * 100).toFixed(0)} %`
  const row = `| ${name} | ${pure.files.length} | ${pure.tests.length} | ${counted.length} | ${noticed} | ${score} |`
  writeFileSync(table, `${head}${[...otherRows(name), row].toSorted().join('\n')}\n`)
}

function otherRows(name: string): string[] {
  if (!existsSync(table)) return []
  const rows = readFileSync(table, 'utf8').match(/^\| (?!room )\w.*$/gm) ?? []
  return rows.filter((row) => !row.startsWith(`| ${name} |`))
}
