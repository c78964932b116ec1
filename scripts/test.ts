/**
 * Runs everything that must hold before a change may land: the checks, then the tests.
 *
 *   scripts/test                 all but test/long, whose stories take minutes each
 *   scripts/test test/ledger     checks left out, only the tests of these files or folders
 *
 * Names each skipped test with its missing program. The last line is `N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleProgramUnderTest, linkSources } from './build/program-under-test.ts'
import { runChecks } from './check.ts'
import { install, missingPackages, namedBy, programs } from './machine.ts'

/** So many files that failed beside others get a second run by themselves; more than that is no accident of a busy machine. */
const SECOND_RUNS = 3

let insideFailure = false
/** The file whose lines tap prints. */
let currentFile = ''

const paths = process.argv.slice(2)
const missing = paths.filter((path) => !existsSync(path))
if (missing.length > 0) {
  process.stderr.write(`there is no ${missing.join(' and no ')}\n`)
  process.exit(1)
}
const only = paths.flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
const packages = missingPackages(only.length === 0 ? programs : namedBy(only))
const isPrepared = packages.length === 0 || install(packages)
if (!isPrepared && process.env['CI'] === 'true') process.exit(1)
const checks = only.length === 0 ? await runChecks() : { passed: 0, failed: 0 }
const program = process.env['GATEHOUSE_PROGRAM'] ?? (await bundleProgramUnderTest())
const sources = process.env['GATEHOUSE_SOURCES'] ?? (await linkSources())
const all = () => globSync('test/**/*.test.ts', { exclude: ['test/fixtures/**', 'test/long/**'] }).toSorted()
const tests = await runTests(only.length === 0 ? all() : only)
if (tests.files.length > 0 && tests.files.length <= SECOND_RUNS) await runAgain(tests)
const failed = checks.failed + tests.failed
for (const skipped of tests.skipped) process.stdout.write(`skipped ${skipped}\n`)
process.stdout.write(`${checks.passed + tests.passed} passed, ${failed} failed, ${tests.skipped.length} skipped\n`)
process.exitCode = failed === 0 ? 0 : 1

/** `skipped`: each with its file and why. `files`: those that failed. */
type Count = { passed: number; failed: number; skipped: string[]; files: string[] }

/**
 * Runs each failed file a second time, one by one, and reports the second result. The output of the first failure stays on the
 * screen.
 */
async function runAgain(first: Count): Promise<void> {
  const files = first.files
  first.failed = 0
  for (const file of files) {
    const again = await runTests([file])
    process.stdout.write(
      `${again.failed === 0 ? 'UNSURE' : 'FAILED'} ${file} failed beside others, ${again.failed === 0 ? 'passed' : 'failed'} alone\n`,
    )
    first.failed += again.failed
  }
}

/** Runs tap and counts its assertions. A run that counts nothing, or ends badly without a failure, is a failure. */
async function runTests(paths: readonly string[]): Promise<Count> {
  const tap = spawn(process.execPath, ['scripts/run-tests.ts', ...paths], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Each test file, daemon and command is a process that compiles the same sources.
    env: {
      NODE_COMPILE_CACHE: resolve('.cache', 'tests'),
      GATEHOUSE_PROGRAM: program,
      GATEHOUSE_SOURCES: sources,
      GATEHOUSE_PREPARED: String(isPrepared),
      ...process.env,
    },
  })
  const ended = new Promise<number>((resolve) => tap.once('close', (code) => resolve(code ?? 1)))
  const count: Count = { passed: 0, failed: 0, skipped: [], files: [] }
  for await (const line of createInterface({ input: tap.stdout })) show(line, count)
  const code = await ended
  if (code !== 0 && count.failed === 0) count.failed = 1
  if (count.passed + count.failed + count.skipped.length === 0) count.failed = 1
  if (count.failed > 0 && count.files.length === 0) count.files = [...paths]
  return count
}

/** Files as they end, failures with all that tap says of them; the rest is noise. */
function show(line: string, count: Count): void {
  const summary = line.match(/^# \{\s*(.*?)\s*\}$/)?.[1]
  if (summary !== undefined) {
    addUp(summary, count)
    return
  }
  const file = line.match(/^(not )?ok \d+ - (\S+)(.*)$/)
  currentFile = file?.[2] ?? line.match(/^# Subtest: (\S+)$/)?.[1] ?? currentFile
  const skipped = line.match(/^(\s*)ok \d+ - (.*?) # (?:SKIP|TODO) ?(.*)$/)
  if (skipped) {
    const title = skipped[1] === '' ? '' : `: ${skipped[2]?.replaceAll('\\#', '#')}`
    count.skipped.push(`${currentFile}${title}: ${skipped[3]}`)
  } else if (file) {
    process.stdout.write(`${file[1] ? 'FAILED' : 'ok    '} ${file[2]}${file[3]?.replace(/ \{$/, '')}\n`)
  }
  // The list also names output that a file prints after its end, which is no file.
  if (file?.[1] && file[2] !== undefined && existsSync(file[2])) count.files.push(file[2])
  if (/^\s+not ok /.test(line)) insideFailure = true
  else if (/^\s+(ok |# )/.test(line)) insideFailure = false
  if (insideFailure || /^Bail out!/.test(line)) process.stdout.write(`${line}\n`)
}

function addUp(summary: string, count: Count): void {
  const of = (name: string) => Number(summary.match(new RegExp(`\\b${name}: (\\d+)`))?.[1] ?? 0)
  count.passed = of('pass')
  count.failed = of('fail')
}
