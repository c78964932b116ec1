/**
 * Runs test files side by side, each in a separate process, and prints what they say as one TAP stream:
 *
 *   node scripts/run-tests.ts JOBS FILE…
 *
 * `tap run` would do the same, and have every process of a test (each daemon, each command) note which sources it loads. That
 * is for coverage, costs a tenth of the whole run, and changes how the program under test starts; so it is left out here.
 */
import tap from 'tap'

/** The longest that a file may take, in seconds; a busy machine takes three times as long as a quiet one. */
const FILE_SECONDS = 480

const [jobs, ...files] = process.argv.slice(2)
tap.jobs = Number(jobs)
tap.setTimeout(0)
const env = { ...process.env, TAP_TIMEOUT: String(FILE_SECONDS) }
for (const file of files) {
  // tap hands its watcher down in NODE_OPTIONS, whatever `env` says.
  const args = ['--unset=NODE_OPTIONS', process.execPath, file]
  tap.spawn('/usr/bin/env', args, { env, timeout: FILE_SECONDS * 1000 }, file)
}
