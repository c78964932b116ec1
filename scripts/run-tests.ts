/**
 * Runs test files side by side, each in a separate process, and prints their output as one TAP stream:
 *
 *   node scripts/run-tests.ts FILE…
 *
 * `tap run` would do the same, but every process of a test (each daemon, each command) would note which sources it loads. The
 * note serves coverage. It costs a tenth of the whole run, and changes how the program under test starts.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'

/** The longest that a file may take, in seconds; a busy machine takes three times as long as a quiet one. */
const FILE_SECONDS = 480
/** How often, in milliseconds, a further file may start beside those that run. */
const LOOK_MS = 300
/** It does while the processors had nothing to do for this share of the time. */
const IDLE_SHARE = 0.15

/** Files of one kind: those that wait, and how many of them run, and may run, at once. */
type Lane = { readonly files: string[]; readonly most: number; running: number }

/**
 * Most of a test is waiting: for the disk, a browser, the next round of a camera. So the number of files at once follows the
 * processors. Files with pictures go first, and before the others that run beside them, because a stream of a real camera needs
 * its share of the machine in time.
 */
const processors = availableParallelism()
const files = process.argv.slice(2)
const withPictures = (file: string) => /^test\/(video|cameras)\/|\.e2e\.test\.ts$/.test(file)
const pictures = lane(files.filter(withPictures), processors + 1)
const others = lane(
  files.filter((file) => !withPictures(file)),
  processors * 4,
)

tap.setTimeout(0)
// A file that tap knows of starts at once. With one job it would not print it as one test.
tap.jobs = Math.max(2, files.length)
tap.plan(files.length)
const linkedSources = pathToFileURL(resolve('scripts', 'build', 'linked-sources.ts')).href
const env = { ...process.env, TAP_TIMEOUT: String(FILE_SECONDS) }

const idleShare = idleShareSinceLast()
const looks = setInterval(look, LOOK_MS)
refill()

/** Those that may take longest first, lest one of them runs alone at the end. */
function lane(unordered: string[], most: number): Lane {
  const files = unordered.toSorted((one, other) => patienceOf(other) - patienceOf(one))
  return { files, most, running: 0 }
}

/** The time that a file gives its tests. */
function patienceOf(file: string): number {
  const [, ms = '30_000'] = /\bt\.setTimeout\(([\d_]+)\)/.exec(readFileSync(file, 'utf8')) ?? []
  return Number(ms.replaceAll('_', ''))
}

/** Keeps as many at work as there are processors. */
function refill(): void {
  while (pictures.running + others.running < processors && start(pictures.files.length > 0 ? pictures : others));
  if (pictures.files.length + others.files.length === 0) clearInterval(looks)
}

/** Starts one more file where there is time for it. */
function look(): void {
  if (idleShare() < IDLE_SHARE) return
  const next = [pictures, others].find(({ files, running, most }) => files.length > 0 && running < most)
  if (next) start(next)
}

function start(lane: Lane): boolean {
  const file = lane.files.shift()
  if (file === undefined) return false
  lane.running += 1
  const isBesidePictures = lane === others && pictures.running + pictures.files.length > 0
  // tap hands its watcher down in NODE_OPTIONS, whatever `env` says.
  const args = [
    ...['--unset=NODE_OPTIONS', '/usr/bin/nice', '-n', isBesidePictures ? '10' : '0'],
    ...[process.execPath, '--import', linkedSources, file],
  ]
  const ended = tap.spawn('/usr/bin/env', args, { env, timeout: FILE_SECONDS * 1000 }, file)
  const next = () => {
    lane.running -= 1
    refill()
  }
  void ended.then(next, next)
  return true
}

/** Asked again, tells which share of the time the processors have had nothing to do since. */
function idleShareSinceLast(): () => number {
  const sums = () => {
    const times = cpus().map(({ times }) => times)
    const idle = times.reduce((sum, one) => sum + one.idle, 0)
    return { idle, all: times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0) }
  }
  let last = sums()
  return () => {
    const now = sums()
    const share = (now.idle - last.idle) / Math.max(1, now.all - last.all)
    last = now
    return share
  }
}
