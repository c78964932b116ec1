/**
 * Runs test files side by side, each in a separate process, and prints their output as one TAP stream:
 *
 *   node scripts/run-tests.ts JOBS FILE…
 *
 * `tap run` would do the same, but every process of a test (each daemon, each command) would note which sources it loads. The
 * note serves coverage. It costs a tenth of the whole run, and changes how the program under test starts.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'

/** The longest that a file may take, in seconds; a busy machine takes three times as long as a quiet one. */
const FILE_SECONDS = 480

const [jobs, ...files] = process.argv.slice(2)
tap.jobs = Number(jobs)
tap.setTimeout(0)
const linkedSources = pathToFileURL(resolve('scripts', 'build', 'linked-sources.ts')).href
const env = { ...process.env, TAP_TIMEOUT: String(FILE_SECONDS) }
for (const file of files) {
  // tap hands its watcher down in NODE_OPTIONS, whatever `env` says.
  const args = ['--unset=NODE_OPTIONS', process.execPath, '--import', linkedSources, file]
  tap.spawn('/usr/bin/env', args, { env, timeout: FILE_SECONDS * 1000 }, file)
}
