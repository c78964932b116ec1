/** An incident in the middle of a recording, with a real camera, a real storage server, a narrow line, and kill -9. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { startRclone } from '../support/dav-servers.ts'
import { footage } from '../support/footage.ts'
import { cheapHash } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { type Daemon, startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { sha256, uploader } from '../support/uploads.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(90_000)

const site = 'http://127.0.0.1:8480'
const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': site,
  'X-Storage-Username': 'ada',
  'Content-Type': 'application/json',
}

/** Pictures that ffmpeg decodes of a file. The last one may be cut: a part ends where the recording was. */
function picturesIn(file: string): number {
  const args = ['-v', 'quiet', '-i', file, '-map', '0:v:0', '-f', 'framecrc', '-']
  const lines = execFileSync(locateFfmpeg().path, args, { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => /^0,/.test(line)).length
}

/** A folder with the config of a gateway that copies to this server over a narrow line, with one camera. */
async function gatewayWith(server: { url: string }, t: { teardown(end: () => Promise<void>): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-open-clips-'))
  const rtsp = await startRtspServer({ streams: { door: await footage('crossing') } })
  writeFileSync(join(folder, 'cloud-password'), 'app-password-of-dc7\n', { mode: 0o600 })
  const upload = { instance: server.url, username: uploader.id, passwordFile: 'cloud-password' }
  const config = {
    site: { id: 'dc-7', url: site },
    listen: [{ host: '127.0.0.1', port: 0 }],
    ...{ dataDir: 'state', runtimeDir: 'run', retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' } },
    auth: { users: [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }] },
    rateLimit: { requestsPerMinute: 100_000 },
    // 2 Mb/s
    storage: { instances: [{ url: server.url }], upload: { ...upload, maxBytesPerSecond: '250000B' } },
    cameras: [{ id: 1, url: rtsp.url('door'), motion: { preRecordSeconds: 2, postRecordSeconds: 60 } }],
  }
  const file = join(folder, 'gatehouse.yaml')
  writeFileSync(file, stringify(config), { mode: 0o600 })
  t.teardown(async () => {
    await rtsp.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, file }
}

t.test(
  'the beginning of an incident’s clip can be played elsewhere before the clip is finished',
  needs('rclone'),
  async (t) => {
    const server = await startRclone(t)
    const { folder, file } = await gatewayWith(server, t)
    let daemon: Daemon = await startDaemon(['--config', file], { cwd: folder })
    t.teardown(async () => {
      if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
    })
    const get = (path: string) => fetch(`${daemon.url}${path}`, { headers })
    const files = () => readdirSync(server.files, { recursive: true, encoding: 'utf8' })
    const parts = () =>
      files()
        .filter((path) => /_1_parts\/\d{5}\.ts$/.test(path))
        .sort()

    await eventually(
      async () => (await get('/api/iot/detection-events/1/clip')).status,
      (status) => status === 503,
    )
    const body = { severity: 'high', category: 'theft', evidenceReferences: [{ type: 'detection_event', id: 1 }] }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    t.equal((await fetch(`${daemon.url}/api/governance/incidents`, init)).status, 201)
    await waitUntil('two parts are on the server', () => parts().length >= 2, { everyMs: 100 })
    t.equal((await get('/api/iot/detection-events/1/clip')).status, 503, 'it is still being recorded')
    const first = join(server.files, parts()[0] ?? '')
    t.ok(picturesIn(first) > 0, 'the first part alone can be played')
    const one = join(folder, 'joined.ts')
    writeFileSync(one, Buffer.concat(parts().map((path) => readFileSync(join(server.files, path)))))
    t.ok(picturesIn(one) > picturesIn(first), 'and joined they show more')

    await daemon.end('SIGKILL')
    daemon = await startDaemon(['--config', file], { cwd: folder })
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
    const uploads = async (): Promise<any> => (await get('/api/uploads?kind=clip')).json()
    const done = await eventually(uploads, (seen) => seen.data.at(-1)?.status === 'uploaded' && !seen.openClips.length)
    t.match(done.data.at(-1), { ref: '1', urgent: true, verified: 'size' })
    const clip = files().find((path) => path.endsWith('_1.mp4')) ?? ''
    t.equal(sha256(readFileSync(join(server.files, clip))), done.data.at(-1).sha256)
    t.strictSame(
      files().filter((path) => /_1_parts|\.part$/.test(path)),
      [],
      'the parts are gone, and nothing is left over',
    )
  },
)
