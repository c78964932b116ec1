import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { namedBy, programs } from '../../scripts/machine.ts'

const root = resolve(import.meta.dirname, '../..')
const support = join(root, 'test/support/needs.ts')

// Each run starts tap anew.
t.setTimeout(400_000)

/** Lets scripts/test bundle nothing: these test files start no program and call no source. */
const made = {
  GATEHOUSE_PROGRAM: process.env['GATEHOUSE_PROGRAM'] ?? 'none',
  GATEHOUSE_SOURCES: process.env['GATEHOUSE_SOURCES'] ?? 'none',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, '.cache/tests'),
}

type Machine = {
  /** The number of the user. */
  readonly user: number
  /** Shell line that apt-get runs after it has noted its arguments. */
  readonly apt?: string
  readonly env?: Record<string, string>
  /** Which of the two test files run. */
  readonly files?: readonly ('whole' | 'part')[]
}

/** Runs scripts/test on two test files that need rclone, on a Debian that has no program but these. */
function runOn(t: Test, { user, apt = '', env = {}, files: names = ['part'] }: Machine) {
  const folder = t.testdir({
    'whole.test.ts': `import t from 'tap'\nimport { fileNeeds } from '${support}'\nfileNeeds(t, 'rclone')\nt.pass('whole')\n`,
    'part.test.ts': `import t from 'tap'\nimport { needs } from '${support}'
t.test('any machine', async (t) => t.pass())
t.test('a copy # 1', needs('rclone'), async (t) => t.pass())\n`,
  })
  const bin = join(folder, 'bin')
  const asked = join(folder, 'asked')
  mkdirSync(bin)
  const program = (name: string, text: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  program('id', `echo ${user}`)
  program('grep', 'exit 0')
  program('apt-get', `echo "$@" >> '${asked}'\n${apt.replaceAll('BIN', bin)}`)
  const files = names.map((name) => join(folder, `${name}.test.ts`))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.ts', ...files], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: bin, HOME: folder, ...made, ...env },
  })
  const lines = stdout.trimEnd().split('\n')
  return {
    status,
    stderr,
    last: lines.at(-1),
    lines,
    files,
    asked: existsSync(asked) ? readFileSync(asked, 'utf8') : '',
  }
}

t.test('without root, each skipped test is named with its program, and one line says how to install it', async (t) => {
  const { status, stderr, last, lines, files, asked } = runOn(t, { user: 1000, files: ['whole', 'part'] })
  t.equal(status, 0)
  t.equal(last, '1 passed, 0 failed, 2 skipped')
  t.same(
    lines.filter((line) => line.startsWith('skipped ')),
    [
      `skipped ${files[0]}: needs rclone (Debian: rclone)`,
      `skipped ${files[1]}: a copy # 1: needs rclone (Debian: rclone)`,
    ],
  )
  t.match(stderr, /^not installed; as root on Debian: apt-get install --no-install-recommends rclone$/m)
  t.equal(asked, '')
})

t.test('as root on Debian the program that the tests name is installed, and every test runs', async (t) => {
  const apt = `case "$*" in *install*) printf '#!/bin/sh\\n' > 'BIN/rclone'; /bin/chmod 755 'BIN/rclone';; esac`
  const { status, last, asked } = runOn(t, { user: 0, apt })
  t.match(last, /^[2-9] passed, 0 failed, 0 skipped$/)
  t.equal(status, 0)
  t.match(asked, /update\n.*install .*--no-install-recommends rclone\n$/)
})

t.test('a program that is still missing after that is a failure', async (t) => {
  const { status, last, lines } = runOn(t, { user: 0 })
  t.equal(status, 1)
  t.match(last, /, [1-9]\d* failed, 0 skipped$/)
  t.match(lines.join('\n'), 'needs rclone (Debian: rclone)')
})

t.test('where apt fails the rest runs, but not in CI', async (t) => {
  t.match(runOn(t, { user: 0, apt: 'exit 100' }), { status: 0, last: '1 passed, 0 failed, 1 skipped' })
  const inCi = runOn(t, { user: 1000, env: { CI: 'true' } })
  t.match(inCi, { status: 1, stderr: /apt-get install --no-install-recommends rclone/ })
  t.notMatch(inCi.lines.join('\n'), 'skipped')
})

t.test('what every test file names can be found', async (t) => {
  const files = globSync(join(root, 'test/**/*.test.ts'))
  const needed = namedBy(files)
  for (const program of programs.filter((name) => name !== 'git' && name !== 'sabredav'))
    t.ok(needed.includes(program), program)
})

t.test('a test file needs what it names and what its helpers name, and no more', async (t) => {
  t.same(namedBy([join(root, 'test/console/scan.test.ts')]), ['certutil', 'chromium-headless-shell'])
  t.same(namedBy([join(root, 'test/video/rtsp-server.test.ts')]), ["GStreamer's RTSP server"])
  t.same(namedBy([join(root, 'test/ledger/record.test.ts')]), [])
})
