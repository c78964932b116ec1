import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { hostileRedirects, redirectingCamera, stranger } from '../support/hostile/camera.ts'
import { certificate } from '../support/hostile/peer.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench } from './camera-bench.ts'

t.setTimeout(240_000)
t.jobs = 2

const username = 'viewer'
const password = 'ri ght-Secret'
const programs = { 'of this machine': locateFfmpeg(), 'of 2018': locateFfmpeg({ env: { ...process.env, PATH: '' } }) }

for (const [program, { path: ffmpeg }] of Object.entries(programs))
  t.test(`a camera that redirects leads the ffmpeg ${program} nowhere`, async (t) => {
    const bench = await CameraBench.open({ ffmpeg, secrets: { '/pw': password } })
    t.teardown(() => bench.close())
    const cameras = await Promise.all(
      hostileRedirects.map(async (kind, i) => {
        const elsewhere = await stranger(t)
        const port = await redirectingCamera(t, kind, elsewhere)
        bench.camera(i + 1, `rtsp://127.0.0.1:${port}/a`, { username, passwordFile: '/pw' })
        return { kind, elsewhere, state: bench.state(i + 1, 'backing-off') }
      }),
    )
    for (const { kind, elsewhere, state } of cameras) {
      const { problem, words } = await state
      t.equal(elsewhere.connections(), 0, `${kind}: nobody comes to the stranger`)
      t.equal(elsewhere.received(), '', `${kind}: nothing is sent there`)
      t.ok(problem, kind)
      if (/^(OPTIONS|DESCRIBE|SETUP)/.test(kind))
        t.match(words, { what: /another address/, hint: /url/ }, `${kind}: the admin reads why`)
    }
    t.notMatch(bench.log, /ri ght|ri%20ght/)
  })

t.test('`camera probe` follows no redirect and says so', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-redirect-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'pw'), `${password}\n`)
  const elsewhere = await stranger(t)
  const port = await redirectingCamera(t, 'DESCRIBE, 302', elsewhere)
  const signIn = ['--username', username, '--password-file', 'pw']
  const { code, stderr } = await runToEnd(gatehouse, ['camera', 'probe', `rtsp://127.0.0.1:${port}/a`, ...signIn], {
    cwd,
  })
  t.equal(code, 1)
  t.match(stderr, /another address/)
  t.strictSame([elsewhere.connections(), elsewhere.received()], [0, ''])
})

/** Serves a camera by TLS, and keeps the requests that it gets. */
async function byTls(t: Test, port: number): Promise<{ port: number; requests: () => string }> {
  let requests = ''
  const open = new Set<Socket>()
  const server = createServer(await certificate(), (socket) => {
    const camera = connect(port, '127.0.0.1')
    for (const one of [socket, camera]) open.add(one.on('error', () => one.destroy()))
    socket.on('data', (bytes) => {
      requests += bytes.toString('latin1')
    })
    socket.pipe(camera).pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests: () => requests }
}

for (const [program, { path: ffmpeg }] of Object.entries(programs))
  t.test(`the ffmpeg ${program} reads a camera by TLS, with a digest and in one connection`, async (t) => {
    const cam = await startRtspServer({ streams: { hall: await footage('empty') }, auth: { username, password } })
    t.teardown(() => cam.stop())
    const { port, requests } = await byTls(t, cam.port)
    const bench = await CameraBench.open({ ffmpeg, secrets: { '/pw': password } })
    t.teardown(() => bench.close())
    const url = `rtsps://127.0.0.1:${port}/hall?channel=1`
    bench.camera(1, url, {
      username,
      passwordFile: '/pw',
      detecting: false,
      history: { isOn: true, hours: 1, stream: 'main' },
    })
    t.match(await bench.state(1, 'live'), { problem: null })
    t.match(requests(), /^DESCRIBE \S+\/hall\?channel=1 /m, 'the path is that of the config')
    t.match(requests(), /^Authorization: Digest /m)
    t.notMatch(requests(), /RTP\/AVP\/UDP|RTP\/AVP;/)
  })
