import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { applianceImage } from '../../src/platform/index.ts'
import { hostilePeer } from '../support/hostile/peer.ts'
import { needs } from '../support/needs.ts'
import { runToEnd } from '../support/process.ts'

const script = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/update')
const dpkg = needs('dpkg')

/**
 * A box in a folder that runs image 1.9, with a bundle in its folder for updates. RAUC reports its version as `version`,
 * and installs it by the shell line `installs`.
 */
function box(t: Test, version: string, installs = ':') {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-update-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['state/update', 'etc', 'proc', 'run', 'tools'])
    mkdirSync(join(root, folder), { recursive: true })
  const at = (path: string) => join(root, path)
  const runs = (image: string) => writeFileSync(at('etc/gatehouse-image'), `${image}\n`)
  runs('1.9')
  writeFileSync(at('proc/cmdline'), 'quiet rauc.slot=A panic=10\n')
  const did = at('did')
  const program = (name: string, lines: string) =>
    writeFileSync(at(`tools/${name}`), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  const rauc = (next: string, line: string) =>
    program(
      'rauc',
      `if [ "$1" = info ]; then echo "RAUC_MF_VERSION='${next}'"; else echo "$1" >> ${did}; cd ${root}; ${line}; fi`,
    )
  rauc(version, installs)
  program('systemctl', `echo "$*" >> ${did}`)
  // The server has one bundle, whose etag is in a file. The gateway answers with its status.
  program(
    'curl',
    `case "$*" in *control.sock*) exec cat ${at('status')};; esac
    echo "curl $*" >> ${did}
    [ -e ${at('etag')} ] || exit 7
    while [ $# -gt 1 ]; do
      case $1 in -o) to=$2;; --etag-save) save=$2;; --etag-compare) known=$2;; esac
      shift
    done
    if cmp -s "$known" ${at('etag')}; then : > "$to"; else echo bundle > "$to"; fi
    cp ${at('etag')} "$save"`,
  )
  /** Publishes a bundle. */
  const publish = (etag: string) => writeFileSync(at('etag'), etag)
  publish('"first"')
  const run = (...args: string[]) => {
    rmSync(did, { force: true })
    const path = `${at('tools')}:${process.env['PATH']}`
    const ran = spawnSync(script, args, { env: { PATH: path, GATEHOUSE_ROOT: root }, encoding: 'utf8' })
    return { ...ran, did: read('did') ?? '' }
  }
  /** The same while this process answers as the server. */
  run.whileServing = () =>
    runToEnd(script, [], { env: { PATH: `${at('tools')}:${process.env['PATH']}`, GATEHOUSE_ROOT: root } })
  const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined)
  const url = (address: string) => writeFileSync(at('state/update/url'), `${address}\n`)
  url('https://updates.example.com/gatehouse.raucb')
  /** The timer, on another night. */
  const night = () => {
    rmSync(at('state/update/asked'), { force: true })
    return run('--in-window')
  }
  const last = () => JSON.parse(read('state/update/last.json') ?? 'null') as Record<string, unknown> | null
  const kept = () => readdirSync(at('state/update')).sort()
  /** The newer image that status, doctor and alert go on to name. */
  const open = () => applianceImage(root)?.openUpdate ?? null
  return { run, night, url, last, open, kept, read, rauc, runs, publish, program, at }
}

const refuses = (acceptBy: string) =>
  `echo '{"ok":false,"reasons":["3 answers differ"],"acceptBy":"${acceptBy}"}' > state/update/rehearsal.json
   grep -qx '${acceptBy}' run/gatehouse-update-accept 2> /dev/null || { echo 'LastError: hook failed' >&2; exit 1; }`

t.test('a newer image is installed by night, and fetched by https only', dpkg, async (t) => {
  const { night, url, last, kept, at } = box(t, '1.10')
  writeFileSync(at('state/update/healthy-B'), 'B 1.8\n')
  const ran = night()
  t.match(ran, { status: 0, did: /--proto =https [\s\S]*^install\n--no-block reboot\n$/m }, ran.stderr)
  t.match(last(), { result: 'installed', version: '1.10', running: '1.9', rehearsal: null })
  t.strictSame(
    kept(),
    ['asked', 'etag', 'etag-of', 'last.json', 'tries', 'url', 'verdict.json'],
    'slot B has proved nothing any more',
  )
  url('http://updates.example.com/gatehouse.raucb')
  t.match(night(), { status: 1, stderr: /https:\/\/ only/, did: '' }, 'nothing was fetched')
})

t.test('an older image, which has known faults, is installed by hand only', dpkg, async (t) => {
  const { run, night, last } = box(t, '1.8')
  const byNight = night()
  t.match(byNight, { status: 1, stderr: /1\.8 is not newer than 1\.9/ })
  t.notMatch(byNight.did, 'install')
  t.match(last(), { result: 'failed', reason: /1\.8 is not newer than 1\.9/ })
  t.equal(run('/tmp/older.raucb').status, 1)
  t.match(run('--allow-older', '/tmp/older.raucb'), { status: 0, did: /^install$/m })
})

t.test('an image whose rehearsal fails is told, and not tried again before a newer one comes', dpkg, async (t) => {
  const { run, night, last, kept, rauc, publish, read } = box(t, '1.10', refuses('0123456789ab'))
  t.match(night(), { status: 1, stderr: /1\.10 may not take over/, did: /^install\n$/m })
  const refusal = {
    result: 'refused',
    version: '1.10',
    rehearsal: { acceptBy: '0123456789ab', reasons: ['3 answers differ'] },
  }
  t.match(last(), refusal)
  t.strictSame(kept(), ['asked', 'etag', 'etag-of', 'last.json', 'refused', 'rehearsal.json', 'url', 'verdict.json'])
  t.notMatch(night().did, 'install')
  publish('"the same again"')
  t.notMatch(night().did, 'install')
  t.match(last(), refusal, 'it is still known why')
  t.match(run(), { status: 1, did: /^install\n$/m }, 'by hand it is tried again')
  t.match(run('--accept', 'another code'), { status: 1 })
  t.match(run('--accept', '0123456789ab'), { status: 0, did: /^install\n--no-block reboot\n$/m })
  t.match(last(), { result: 'installed', version: '1.10' })
  t.equal(read('run/gatehouse-update-accept'), undefined)
  rauc('1.11', ':')
  publish('"newer"')
  t.match(night(), { status: 0, did: /^install\n--no-block reboot\n$/m })
})

t.test('an update that breaks off leaves no file, says so, and is tried again another night', dpkg, async (t) => {
  const { run, night, last, kept } = box(t, '1.10', 'echo "LastError: a \\"bad\\" disk" >&2; exit 1')
  t.equal(night().status, 1)
  t.match(last(), { result: 'failed', reason: 'image 1.10 could not be installed: LastError: a "bad" disk' })
  t.strictSame(kept(), ['asked', 'last.json', 'url'])
  t.equal(run('--in-window').did, '', 'once a night is enough')
  t.match(night(), { status: 1, did: /^install\n$/m })
})

t.test('a new version that ends in the middle of its rehearsal leaves a note that can be read', dpkg, async (t) => {
  const { night, last } = box(
    t,
    '1.10',
    `printf '{"ok":fal' > state/update/rehearsal.json; echo 'LastError: killed' >&2; exit 1`,
  )
  t.equal(night().status, 1)
  t.match(last(), { result: 'failed', version: '1.10', rehearsal: null })
})

t.test('a place of updates that does not answer is told with the time of the first failure', dpkg, async (t) => {
  const { night, last, at, publish, read } = box(t, '1.9')
  rmSync(at('etag'))
  t.match(night(), { status: 1, stderr: /cannot be read \(curl ended with 7\)/ })
  const first = read('state/update/last.json')
  t.match(last(), { result: 'unreachable' })
  t.equal(night().status, 1)
  t.equal(read('state/update/last.json'), first)
  publish('"first"')
  t.equal(night().status, 0)
  t.match(last(), { result: 'current' })
})

t.test('a mistyped file is no failure any more once the place of updates has nothing newer', dpkg, async (t) => {
  const { run, night, last, rauc } = box(t, '1.9')
  t.equal(night().status, 0)
  rauc('', ':')
  t.equal(run('/tmp/mistyped.raucb').status, 1)
  t.match(last(), { result: 'failed' })
  t.match(night(), { status: 0, did: /--etag-compare \S+\/etag / })
  t.match(last(), { result: 'current', reason: 'there is no newer image than 1.9' })
})

t.test('what was refused stays known, with its code, whatever later tries come to', dpkg, async (t) => {
  const { run, night, last, open, rauc, publish, at } = box(t, '1.10', refuses('0123456789ab'))
  const refused = { result: 'refused', version: '1.10', acceptBy: '0123456789ab', reasons: ['3 answers differ'] }
  t.equal(night().status, 1)
  t.match(open(), refused)
  rauc('', ':')
  t.equal(run('/tmp/mistyped.raucb').status, 1)
  t.match(last(), { result: 'failed', version: '' })
  t.match(open(), refused, 'a mistyped file')
  t.match(night(), {
    status: 0,
    did: /--etag-compare \S+\/etag /,
    stdout: /no newer image than 1\.10, which this box does/,
  })
  t.match(last(), { result: 'refused', version: '1.10' }, 'nothing newer is there, and that is not well')
  rmSync(at('etag'))
  t.equal(night().status, 1)
  t.match([last()?.['result'], open()], ['unreachable', refused])
  publish('"first"')
  t.equal(night().status, 0)
  t.match([last()?.['result'], open()], ['refused', refused])
  for (const version of ['1.8', '1.9']) {
    rauc(version, ':')
    run('/tmp/another.raucb')
    t.match(open(), refused, `${version} by hand settles nothing`)
  }
})

t.test('a file that is refused by hand leaves the refusal of the image on offer, with its code', dpkg, async (t) => {
  const { run, night, last, open, rauc, url } = box(t, '1.10', refuses('0123456789ab'))
  const ofOffer = { version: '1.10', result: 'refused', acceptBy: '0123456789ab' }
  night()
  rauc('1.11', refuses('ba9876543210'))
  t.equal(run('/tmp/newer.raucb').status, 1)
  t.match(last(), { version: '1.11', result: 'refused', rehearsal: { acceptBy: 'ba9876543210' } })
  t.match(open(), ofOffer)
  night()
  t.match([last(), open()], [{ version: '1.11' }, ofOffer], 'nothing newer is on offer')
  t.equal(run('--accept', 'ba9876543210', '/tmp/newer.raucb').status, 0)
  t.match(open(), { version: '1.11', result: 'installed' })
  url('')
  rauc('1.12', refuses('ba9876543210'))
  t.equal(run('/tmp/next.raucb').status, 1)
  t.match(open(), { version: '1.12', result: 'refused' }, 'without a place of updates a person offers')
})

t.test('what was refused is settled by an image that is installed, or by another one in its place', dpkg, async (t) => {
  const { run, night, last, open, rauc, publish, runs } = box(t, '1.10', refuses('0123456789ab'))
  night()
  rauc('1.9', ':')
  publish('"withdrawn"')
  t.equal(night().status, 0)
  t.match([last()?.['result'], open()], ['current', null])
  rauc('1.10', ':')
  publish('"first"')
  t.notMatch(night().did, 'install')
  t.match(
    [last()?.['result'], open()],
    ['refused', { version: '1.10', reason: /refused before; by hand/ }],
    'and again',
  )
  t.match(run(), { status: 0, did: /^install$/m })
  runs('1.10')
  t.equal(open(), null)
  rauc('1.11', refuses('0123456789ab'))
  publish('"newer"')
  t.equal(night().status, 1)
  t.match(open(), { version: '1.11' })
  runs('1.12')
  t.equal(open(), null, 'installed by an older system, which does not know of the verdict')
})

t.test('a way back stays known, whatever later tries come to', dpkg, async (t) => {
  const { run, night, last, open, rauc } = box(t, '1.10')
  t.match([night().status, night().status, night().status], [0, 0, 0])
  const back = { result: 'installed', version: '1.10' }
  t.match(open(), back, 'twice')
  rauc('', ':')
  run('/tmp/mistyped.raucb')
  t.match([last()?.['result'], open()], ['failed', back])
  night()
  t.match([last()?.['result'], open()], ['installed', back])
})

t.test('a box that fell back to its older system takes the same bundle again', dpkg, async (t) => {
  const { night, runs } = box(t, '1.10')
  t.match(night(), { status: 0, did: /^install$/m })
  runs('1.10')
  t.equal(night().did.match(/^install$/m), null, 'there is nothing newer')
  runs('1.9')
  t.match(night(), { status: 0, did: /^install$/m })
})

t.test('an image that the box has come back from twice is not installed a third time by night', dpkg, async (t) => {
  const { run, night, last, rauc, publish } = box(t, '1.10')
  t.match(night(), { status: 0, did: /^install$/m })
  t.match(night(), { status: 0, did: /^install$/m }, 'it may have lost its power')
  const third = night()
  t.match(third, { status: 0, stdout: /has come back from image 1\.10 twice; by hand it is tried again/ })
  t.notMatch(third.did, 'install')
  t.match(last(), { result: 'installed', version: '1.10' }, 'the way back is still told')
  t.match(night().did, /--etag-compare \S+\/etag /, 'and the bundle is not fetched again')
  t.match(run(), { status: 0, did: /^install$/m })
  publish('"newer"')
  rauc('1.11', ':')
  t.match(night(), { status: 0, did: /^install$/m }, 'a newer one starts anew')
  t.match(night(), { status: 0, did: /^install$/m })
})

t.test('an image that gave its slot up is not installed again by night, but by hand', dpkg, async (t) => {
  const { run, night, at } = box(t, '1.10')
  t.match(night(), { status: 0, did: /^install$/m })
  writeFileSync(at('state/update/refused'), '1.10\n')
  t.notMatch(night().did, 'install')
  t.match(night().did, /--etag-compare \S+\/etag /, 'the bundle is not fetched again')
  t.match(run('/tmp/again.raucb'), { status: 0, did: /^install$/m })
})

t.test('the timer fetches nothing outside of updates.window, which the gateway knows', dpkg, async (t) => {
  const { night, at } = box(t, '1.10')
  writeFileSync(at('state/set-up'), '')
  writeFileSync(at('status'), '{"updates":{"isWindowNow":false}}')
  t.equal(night().did, '')
  writeFileSync(at('status'), '{"updates":{"isWindowNow":true}}')
  t.match(night().did, /^install$/m)
})

t.test('a bundle that RAUC does not trust is not installed', dpkg, async (t) => {
  t.match(box(t, '').run('--allow-older', '/tmp/strange.raucb'), { status: 1, stderr: /signature/, did: '' })
})

t.test('an update server cannot fill the partition of the ledger', needs('dpkg', 'curl'), async (t) => {
  for (const [kind, limit] of [
    ['announces a terabyte', 1_610_612_736],
    ['sends without an end', 1_048_576],
  ] as const) {
    const { run, url, last, kept, program, at } = box(t, '1.10')
    // 257 MiB are free, and the gateway keeps 256 of them for the ledger.
    if (limit === 1_048_576) program('df', 'printf "Filesystem 1024-blocks Used Available\\n/dev/x 9 9 263168\\n"')
    program('curl', `case "$*" in *control.sock*) exit 7;; esac; exec /usr/bin/curl -k "$@"`)
    url((await hostilePeer(t, kind, { secure: true })).url)
    const ran = await run.whileServing()
    t.match(ran, { code: 1, stderr: new RegExp(`sends more than ${limit} bytes`) }, kind)
    t.match(last(), { result: 'failed' }, kind)
    t.strictSame(kept(), ['last.json', 'url'], `${kind}: nothing of it is left`)
    t.notOk(existsSync(at('did')), `${kind}: nothing was installed`)
  }
  const { run, last, program, at } = box(t, '1.10')
  program('df', 'printf "Filesystem 1024-blocks Used Available\\n/dev/x 9 9 999999\\n"')
  writeFileSync(at('status'), '{"disk":{"minFreeBytes":1,"ledgerReserveBytes":1073741824}}')
  t.match(run(), { status: 1, did: '' }, 'nothing is asked for')
  t.match(last(), { result: 'failed', reason: /no room for an update/ })
})
