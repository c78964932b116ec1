/**
 * Everything that must be true before a change may land: the checks, then the tests.
 *
 *   scripts/test                 all
 *   scripts/test test/ledger     checks left out, only the tests of these files or folders
 */
import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { runChecks } from './check.ts'

let insideFailure = false

const only = process.argv
  .slice(2)
  .flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
const checks = only.length === 0 ? await runChecks() : { passed: 0, failed: 0 }
const tests = await runTests(only)
const failed = checks.failed + tests.failed
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''
process.stdout.write(`${checks.passed + tests.passed} passed, ${failed} failed${skipped}\n`)
process.exitCode = failed === 0 ? 0 : 1

type Count = { passed: number; failed: number; skipped: number }

/** Runs tap and counts its assertions. A run that counts nothing, or ends badly without a failure, is a failure. */
async function runTests(paths: readonly string[]): Promise<Count> {
  const tap = spawn('node_modules/.bin/tap', ['run', '--reporter=tap', ...paths], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number>((resolve) => tap.once('close', (code) => resolve(code ?? 1)))
  const count: Count = { passed: 0, failed: 0, skipped: 0 }
  for await (const line of createInterface({ input: tap.stdout })) show(line, count)
  const code = await ended
  if (code !== 0 && count.failed === 0) count.failed = 1
  if (count.passed + count.failed === 0) count.failed = 1
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
  if (file) process.stdout.write(`${file[1] ? 'FAILED' : 'ok    '} ${file[2]}${file[3]?.replace(/ \{$/, '')}\n`)
  if (/^\s+not ok /.test(line)) insideFailure = true
  else if (/^\s+(ok |# )/.test(line)) insideFailure = false
  if (insideFailure || /^Bail out!/.test(line)) process.stdout.write(`${line}\n`)
}

function addUp(summary: string, count: Count): void {
  const of = (name: string) => Number(summary.match(new RegExp(`\\b${name}: (\\d+)`))?.[1] ?? 0)
  count.passed = of('pass')
  count.failed = of('fail')
  count.skipped = of('skip') + of('todo')
}
