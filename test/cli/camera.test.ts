import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { checkConfig } from '../../src/config/index.ts'
import { footage } from '../support/footage.ts'
import { type ResponderOptions, startResponder } from '../support/onvif/responder.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(240_000)
t.jobs = 2

const auth = { username: 'viewer', password: 'ri ght-Secret' }

/** A folder with the password of the cameras, and a config that has camera 7 already. */
function folderOf(t: Test): string {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-camera-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'pw'), `${auth.password}\n`)
  const config = {
    site: { id: 'dc-7' },
    dataDir: 'var',
    runtimeDir: 'var',
    cameras: [{ id: 7, url: 'rtsp://10.0.0.7/a' }],
  }
  writeFileSync(join(cwd, 'g.yaml'), JSON.stringify(config))
  return cwd
}

const camera = (cwd: string, ...args: string[]) => runToEnd(gatehouse, ['camera', ...args], { cwd })
const signIn = ['--username', auth.username, '--password-file', 'pw']

/** The problems that a config has with the printed entries. */
function problemsOf(cwd: string, printed: string): readonly unknown[] {
  const cameras = printed.slice(printed.indexOf('\ncameras:\n'))
  writeFileSync(join(cwd, 'pasted.yaml'), `site: { id: dc-7 }\ndataDir: var\nruntimeDir: var${cameras}`)
  return checkConfig(join(cwd, 'pasted.yaml')).problems
}

async function responder(t: Test, options: ResponderOptions = {}) {
  const device = await startResponder(options)
  t.teardown(() => device.stop())
  return device
}

const profile = (token: string, encoding: string, width: number, height: number, url: string) =>
  ({ token, name: token, source: 'lens', encoding, width, height, fps: 25, url }) as const

/** The command lines of all processes. */
function commandLines(): string {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const lineOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }
  return numbers.map(lineOf).join('\n')
}

t.test('a camera is judged in words, with an entry for the config and without its password', async (t) => {
  const clip = await footage('crossing-long-gop')
  const cam = await startRtspServer({ streams: { hall: clip }, auth, sound: true, clockAheadMs: 3 * 3_600_000 })
  t.teardown(() => cam.stop())
  const cwd = folderOf(t)
  cam.seek('hall', 5000)
  let seen = ''
  const watched = cam
    .waitFor(() => cam.clients('hall').playing === 1, 200_000)
    .then(() => {
      seen = commandLines()
    })
  const probing = camera(cwd, 'probe', cam.url('hall'), ...signIn, '--config', 'g.yaml', '--seconds', '2')
  const [{ code, stdout, stderr }] = await Promise.all([probing, watched])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^codec +H\.264\n {2}good:/m)
  t.match(stdout, /^size +640 x 360\n {2}good:/m)
  t.match(stdout, /^pictures a second +1[45](\.\d)?\n {2}good:/m)
  t.match(stdout, /^key frame interval +10 s\n {2}CHANGE: Longer than preRecordSeconds \(5 s\)/m)
  t.match(stdout, /^sound +pcm_mulaw\n {2}note: Sound is never recorded/m)
  t.match(stdout, /^clock of the camera +3 hours ahead\n {2}CHANGE: .*time server/m)
  t.match(stdout, /^ {2}# H\.264, 640 x 360, 1[45](\.\d)? pictures a second, key frame interval 10 s\n {2}- id: 8$/m)
  t.match(parse(stdout.slice(stdout.indexOf('\ncameras:\n'))), {
    cameras: [{ id: 8, url: cam.url('hall'), username: 'viewer', passwordFile: 'pw' }],
  })
  t.same(problemsOf(cwd, stdout), [])
  t.match(seen, /concat/, 'ffmpeg was among the processes')
  for (const secret of ['ri ght-Secret', 'ri%20ght-Secret']) t.notMatch(`${seen}${stdout}`, secret)
})

t.test('what cannot be used exits with 1 and says why; a password in the url is refused', async (t) => {
  const web = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
  await once(web, 'listening')
  t.teardown(() => web.close())
  const cwd = folderOf(t)
  const { port } = web.address() as AddressInfo
  const [page, none, secret, seconds] = await Promise.all([
    camera(cwd, 'probe', `rtsp://127.0.0.1:${port}/`),
    camera(cwd, 'probe', 'rtsp://127.0.0.1:1/', '--json'),
    camera(cwd, 'probe', 'rtsp://viewer:hidden@127.0.0.1:1/'),
    camera(cwd, 'probe', 'rtsp://127.0.0.1:1/', '--seconds', '0'),
  ])
  t.match(page, {
    code: 1,
    stdout: '',
    stderr: /does not speak RTSP.* It says "HTTP\/1\.1 200 OK"\. Check the port/,
  })
  t.match(none, { code: 1, stderr: '' })
  t.match(JSON.parse(none.stdout), {
    ok: false,
    problem: { code: 'unreachable', what: /Nothing answers/ },
    facts: null,
  })
  t.match(secret, { code: 2, stdout: '', stderr: /shell keeps in its history.*--password-file/ })
  t.notMatch(secret.stderr, 'hidden')
  t.match(seconds, { code: 2, stderr: /--seconds is a whole number from 2 to 60/ })
})

t.test('Ctrl-C ends a probe, and no ffmpeg is left', async (t) => {
  const cam = await startRtspServer({ streams: { hall: await footage('empty') } })
  t.teardown(() => cam.stop())
  const child = spawn(gatehouse, ['camera', 'probe', cam.url('hall'), '--seconds', '60'], { stdio: 'ignore' })
  await cam.waitFor(() => cam.clients('hall').playing === 1, 200_000)
  child.kill('SIGINT')
  t.same(await once(child, 'exit'), [130, null])
  await waitUntil('the camera is alone again', () => cam.clients('hall').connected === 0)
})

t.test('a camera on the network is found, its clock compared, and its streams chosen', async (t) => {
  const profiles = [
    profile('small', 'H264', 640, 360, 'rtsp://192.168.1.108:8554/sub?a=1&b=2'),
    profile('large', 'H264', 2560, 1440, 'rtsp://192.168.1.108:8554/main'),
    profile('still', 'JPEG', 3840, 2160, 'rtsp://192.168.1.108:8554/jpeg'),
  ]
  const name = 'Gate \u001b[2J\u202e1'
  const device = await responder(t, { auth, profiles, name, clockAheadMs: -90_000, namedHost: '192.168.1.108' })
  const cwd = folderOf(t)
  const search = ['discover', '--interface', 'lo', '--seconds', '1']
  const [without, found, wrong] = await Promise.all([
    camera(cwd, ...search),
    camera(cwd, ...search, ...signIn, '--config', 'g.yaml', '--json'),
    camera(
      cwd,
      'discover',
      '--target',
      `127.0.0.1:${device.port}`,
      '--username',
      'viewer',
      '--password-file',
      'g.yaml',
    ),
  ])
  t.match(without, { code: 0, stdout: /Give --username and --password-file to learn more/ })
  t.match(without.stdout, /clock: (89|90|91) s behind/)
  t.notMatch(without.stdout, /[\u001b\u202e]/, 'what a device says does not reach the terminal as it is')
  const { devices } = JSON.parse(found.stdout)
  const own = devices.find(({ address }: { address: { port: number } }) => address.port === device.port)
  t.match(own, { name: 'Gate [2J 1', model: 'Model 1', failure: null })
  t.same(own.entries[0], {
    id: own.entries[0].id,
    name: 'Gate [2J 1',
    // The address that answered, not the one that the camera names.
    url: 'rtsp://127.0.0.1:8554/main',
    detectUrl: 'rtsp://127.0.0.1:8554/sub?a=1&b=2',
    ...{ username: 'viewer', passwordFile: 'pw' },
  })
  t.ok(own.entries[0].id >= 8)
  t.match(wrong, { code: 0, stdout: /refuses the user name or the password/ })
  t.notMatch(`${found.stdout}${device.heard()}`, auth.password, 'a password goes out only as a digest')
})

t.test('a device that answers with harm is named, and hides no other', async (t) => {
  const faults = ['endless', 'slow', 'entities', 'redirect', 'garbage', 'nested'] as const
  const bad = await Promise.all(faults.map((fault) => responder(t, { fault })))
  const good = await responder(t, { profiles: [profile('a', 'H264', 640, 360, 'rtsp://127.0.0.1/a')] })
  const targets = [...bad, good].map(({ port }) => `127.0.0.1:${port}`)
  const { code, stdout } = await camera(folderOf(t), 'discover', '--json', '--target', ...targets)
  t.equal(code, 0)
  const { devices } = JSON.parse(stdout) as { devices: { failure: string | null; model: string }[] }
  t.same(
    devices.map(({ failure }) => failure),
    ['too-large', 'slow', 'unreadable', 'unreadable', 'unreadable', 'unreadable', null],
  )
  t.equal(devices[6]?.model, 'Model 1')
})
