import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const script = join(import.meta.dirname, '../../scripts/package/way-back')
const postinst = join(import.meta.dirname, '../../scripts/package/debian/postinst')

/** A box in a folder, with a binary that was upgraded from 1 to 2; the rehearsal of 2 ends with `rehearsal`. */
function box(t: Test, rehearsal: number) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-way-back-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const versions = join(root, 'usr/lib/gatehouse/versions')
  const tools = join(root, 'tools')
  for (const folder of [versions, tools, join(root, 'usr/bin')]) mkdirSync(folder, { recursive: true })
  const program = (path: string, lines: string) => writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  const binary = join(root, 'usr/bin/gatehouse')
  program(join(versions, 'replaced'), 'echo 1')
  // A reason that was accepted is one no more.
  program(
    binary,
    `[ "$1" != status ] || exec sh ${root}/status; echo 2; if [ "$1" = upgrade ]; then sh ${root}/meanwhile; fi; case "$*" in *--accept*) exit 0;; esac; [ "$1" != upgrade ] || exit ${rehearsal}`,
  )
  program(join(tools, 'systemctl'), `echo "$*" >> ${root}/asked; [ "$1" != is-active ] || [ ! -e ${root}/idle ]`)
  const meanwhile = (lines: string) => writeFileSync(join(root, 'meanwhile'), `${lines}\n`)
  meanwhile(':')
  const run = (word: string, env: Record<string, string> = {}) => {
    const path = `${tools}:${process.env['PATH']}`
    return spawnSync(script, [word], { env: { PATH: path, GATEHOUSE_ROOT: root, ...env }, encoding: 'utf8' })
  }
  /** dpkg could not unpack version 3, put 2 in its place again, and tells it so. */
  const abort = () => {
    linkSync(binary, join(versions, 'replaced'))
    writeFileSync(join(root, 'idle'), '')
    for (const name of ['systemd-sysusers', 'systemd-tmpfiles', 'deb-systemd-helper', 'deb-systemd-invoke'])
      program(join(tools, name), ':')
    const here = join(root, 'postinst')
    writeFileSync(here, readFileSync(postinst, 'utf8').replaceAll('/usr/lib/gatehouse/way-back', script))
    const env = { PATH: `${tools}:${process.env['PATH']}`, GATEHOUSE_ROOT: root }
    return spawnSync('sh', [here, 'abort-upgrade', '3'], { env, encoding: 'utf8' })
  }
  const asked = () => (existsSync(join(root, 'asked')) ? readFileSync(join(root, 'asked'), 'utf8') : '')
  /** Does the steps of preinst and dpkg. */
  const unpack = (lines: string) => {
    for (const name of ['refused', 'candidate', 'on-trial', 'begun', 'healthy-since'])
      rmSync(join(versions, name), { force: true })
    linkSync(binary, join(versions, 'replaced'))
    rmSync(binary)
    program(binary, lines)
  }
  /** The new version became healthy yesterday. */
  const longAgo = () => healthySince(`${Math.floor(Date.now() / 1000) - 86_400}\n`)
  const healthySince = (text: string) => writeFileSync(join(versions, 'healthy-since'), text)
  /**
   * Every pause is a line in `pauses`, and the trial is over after 20. @param isUnhealthy a test(1) of $n, how many there were
   * @param isIdle whether the service was stopped
   */
  const watch = (isUnhealthy: string, isIdle = false) => {
    if (isIdle) writeFileSync(join(root, 'idle'), '')
    const pauses = join(root, 'pauses')
    program(
      join(tools, 'sleep'),
      `echo >> ${pauses}; [ $(wc -l < ${pauses}) -lt 20 ] || echo 1 > ${versions}/healthy-since`,
    )
    const answer = (health: string) => `echo '{"health":"${health}","troubles":[]}'`
    program(
      join(root, 'status'),
      `n=$(wc -l < ${pauses}); if [ ${isUnhealthy} ]; then ${answer('unhealthy')}; exit 1; else ${answer('degraded')}; fi`,
    )
    const ran = run('watch')
    return { ...ran, pauses: readFileSync(pauses, 'utf8').length }
  }
  const kept = () => readFileSync(join(versions, 'healthy-since'), 'utf8')
  const version = () => execFileSync(binary, ['version'], { encoding: 'utf8' }).trim()
  return { root, run, asked, unpack, longAgo, healthySince, watch, kept, version, meanwhile, abort }
}

t.test('a new version that fails before it is healthy is replaced by the one before, which is started', async (t) => {
  const { run, asked, version } = box(t, 0)
  t.equal(run('take-over').status, 0)
  t.equal(version(), '2')
  run('stopped', { SERVICE_RESULT: 'timeout' })
  t.equal(version(), '2', 'what stopped badly is the one before: the new one has not been tried')
  run('begin')
  t.equal(run('stopped', { SERVICE_RESULT: 'success' }).status, 0, 'a person stopped it')
  t.equal(version(), '2')
  t.equal(run('took-over').status, 0)
  t.match(
    run('stopped', { SERVICE_RESULT: 'timeout' }).stderr,
    /did not become healthy, or did not stay so \(timeout\); the one before is back/,
  )
  t.equal(version(), '1')
  t.match(asked(), '--no-block restart gatehouse.service')
  t.equal(run('took-over').status, 1, 'the package learns it')
  run('stopped', { SERVICE_RESULT: 'exit-code' })
  t.equal(version(), '1', 'a fault of the one before changes nothing')
})

t.test('a version that was not rehearsed never starts: until then the one before is in its place', async (t) => {
  const { root, run, version, meanwhile } = box(t, 0)
  t.equal(run('begin').status, 0)
  t.equal(version(), '1', 'the service was started again right after the new binary was unpacked')
  run('stopped', { SERVICE_RESULT: 'oom-kill' })
  run('begin')
  t.equal(version(), '1', 'and again')
  meanwhile(`${join(root, 'usr/bin/gatehouse')} version > ${join(root, 'serves')}; ${script} begin`)
  const took = run('take-over')
  t.equal(took.status, 0, took.stderr)
  t.equal(readFileSync(join(root, 'serves'), 'utf8'), '1\n', 'and while the new one is rehearsed')
  t.equal(version(), '2', 'then it takes over')
  run('begin')
  run('stopped', { SERVICE_RESULT: 'timeout' })
  t.equal(version(), '1', 'on trial')
})

t.test('a rehearsal that a power cut ends is made again, and the version before serves meanwhile', async (t) => {
  const { root, run, version, meanwhile } = box(t, 0)
  // The rehearsal's parent is timeout(1), and its parent is way-back.
  meanwhile(`kill -KILL $(cut -d' ' -f4 /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/stat)`)
  t.equal(run('take-over').signal, 'SIGKILL')
  t.equal(run('begin').status, 0)
  t.equal(version(), '1')
  meanwhile(`touch ${join(root, 'rehearsed')}`)
  t.equal(run('take-over').status, 0, 'dpkg --configure')
  t.equal(version(), '2')
  t.ok(existsSync(join(root, 'rehearsed')))
  t.equal(run('take-over').status, 0)
  t.equal(version(), '2', 'a package that is configured twice changes nothing more')
})

t.test('a version that fails soon after it was healthy gives its place back, also after a restart', async (t) => {
  const { run, version, longAgo } = box(t, 0)
  run('take-over')
  run('begin')
  run('settled')
  t.equal(run('took-over').status, 0)
  run('begin')
  run('settled')
  t.match(run('stopped', { SERVICE_RESULT: 'watchdog' }).stderr, /did not stay so \(watchdog\); the one before is back/)
  t.equal(version(), '1')
  longAgo()
  t.equal(run('stopped', { SERVICE_RESULT: 'watchdog' }).status, 0)
  t.equal(version(), '1', 'the one before is not exchanged again')
})

t.test('a version that lives on but is unhealthy for a minute of its trial gives its place back', async (t) => {
  const { run, watch, asked, version } = box(t, 0)
  run('take-over')
  run('begin')
  run('settled')
  t.match(asked(), '--no-block start gatehouse-trial.service')
  const watched = watch('$n -gt 3')
  t.match(watched, { status: 0, stderr: /was healthy and is not any more; the one before is back/ })
  t.equal(watched.pauses, 9, 'six looks, ten seconds apart, after three that were well')
  t.equal(version(), '1')
  t.match(asked(), /--no-block restart gatehouse\.service\n$/)
  t.equal(run('took-over').status, 1)
})

t.test('a version stays that is unhealthy for less than a minute, or that a person has stopped', async (t) => {
  for (const [isUnhealthy, isIdle] of [
    ['$((n % 6)) -ne 0', false],
    ['$n -gt 0', true],
  ] as const) {
    const { run, watch, asked, version } = box(t, 0)
    run('take-over')
    run('begin')
    run('settled')
    t.match(watch(isUnhealthy, isIdle), { status: 0, stderr: '', pauses: 20 })
    t.equal(version(), '2')
    t.notMatch(asked(), 'restart')
  }
})

t.test('a spoilt time of health counts as none, and the version before still comes back', async (t) => {
  for (const spoilt of ['', '\0\0\0\0', '08\n', 'yesterday\n', `${Math.floor(Date.now() / 1000) + 86_400}\n`]) {
    const { run, version, healthySince, kept } = box(t, 0)
    run('take-over')
    healthySince(spoilt)
    t.match(run('begin'), { status: 0, stderr: '' }, JSON.stringify(spoilt))
    run('settled')
    t.ok(Math.abs(Date.now() / 1000 - Number(kept())) < 60, 'the trial begins now')
    healthySince(spoilt)
    t.equal(run('stopped', { SERVICE_RESULT: 'watchdog' }).status, 0)
    t.equal(version(), '1')
  }
})

t.test('a version that was healthy stays when it fails later, and a person can go back from it', async (t) => {
  const { run, asked, unpack, version, longAgo } = box(t, 0)
  run('take-over')
  run('begin')
  run('settled')
  longAgo()
  run('begin')
  run('stopped', { SERVICE_RESULT: 'watchdog' })
  t.equal(version(), '2')
  t.equal(run('back').status, 0)
  t.equal(version(), '1')
  t.match(asked(), /^stop gatehouse\.service\n[\s\S]*^start gatehouse\.service\n/m)
  unpack('echo 3')
  t.match(run('take-over'), { status: 0, stderr: '' }, 'the next version comes as usual')
  t.equal(version(), '3')
  run('begin')
  run('stopped', { SERVICE_RESULT: 'timeout' })
  t.equal(version(), '1')
})

t.test('a way back stays that a person goes after an upgrade that broke off', async (t) => {
  const { root, run, version, longAgo, abort } = box(t, 0)
  run('take-over')
  run('begin')
  run('settled')
  longAgo()
  run('begin')
  const aborted = abort()
  t.match(aborted, { status: 0 }, aborted.stderr)
  const replaced = join(root, 'usr/lib/gatehouse/versions/replaced')
  t.notOk(existsSync(replaced), 'nothing was replaced')
  run('begin')
  t.equal(version(), '2')
  // Left by a version that did not clean up.
  linkSync(join(root, 'usr/bin/gatehouse'), replaced)
  t.equal(run('back').status, 0)
  run('begin')
  t.equal(version(), '1')
})

t.test(
  'a failed rehearsal leaves the version before in its place, and accepted reasons let the new one in',
  async (t) => {
    const { run, version } = box(t, 1)
    const refused = run('take-over')
    t.equal(refused.status, 1)
    t.match(
      refused.stderr,
      /does not take over; the one before serves on[\s\S]*GATEHOUSE_ACCEPT=CODE dpkg --configure gatehouse/,
    )
    t.equal(version(), '1')
    t.equal(run('take-over').status, 1, 'dpkg tries it again')
    t.equal(version(), '1')
    t.equal(run('take-over', { GATEHOUSE_ACCEPT: '0123456789ab' }).status, 0)
    t.equal(version(), '2')
  },
)
