/**
 * Shows that the checks and tests can fail: applies each patch of test/mutants to a copy of the tree and expects the
 * named test to notice, with the named words.
 *
 *   npm run mutants [-- NAME…]
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Mutant, mutants } from './mutants/read.ts'

const wanted = process.argv.slice(2)
const chosen = mutants().filter((m) => wanted.length === 0 || wanted.some((name) => m.file.includes(name)))
const survivors = chosen.filter((mutant) => !isCaught(mutant))
process.stdout.write(`${chosen.length - survivors.length} caught, ${survivors.length} survived\n`)
process.exitCode = chosen.length > 0 && survivors.length === 0 ? 0 : 1

function isCaught(mutant: Mutant): boolean {
  const copy = copyTree()
  try {
    execFileSync('git', ['apply', resolve(mutant.file)], { cwd: copy, stdio: 'pipe' })
    const { status, output } = observe(mutant, copy)
    const caught = status !== 0 && output.includes(mutant.says)
    process.stdout.write(`${caught ? 'caught  ' : 'SURVIVED'} ${mutant.file}: ${mutant.breaks}\n`)
    if (!caught)
      process.stdout.write(
        `  ${mutant.caughtBy} ended with ${status}, without "${mutant.says}"\n${output.slice(-3000)}\n`,
      )
    return caught
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function observe(mutant: Mutant, cwd: string): { status: number | null; output: string } {
  const check = mutant.caughtBy.match(/^check (.+)$/)?.[1]
  const args = check ? ['scripts/check.ts', check] : ['node_modules/.bin/tap', 'run', '--reporter=tap', mutant.caughtBy]
  const done = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 64 << 20, timeout: 300_000 })
  return { status: done.status, output: `${done.stdout}${done.stderr}` }
}

/** The tracked tree in a folder of its own, with the packages linked in. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-mutant-'))
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
  // With their times: a lockfile that looks newer than the packages would have them installed anew, through the link.
  for (const file of files) cpSync(file, join(copy, file), { preserveTimestamps: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  execFileSync('git', ['init', '-q'], { cwd: copy })
  return copy
}
