import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { configText, ada as headers } from '../app/daemon-folder.ts'
import { diskShim, withShim } from '../support/disk/shim.ts'
import { type Change, RecordedDisk, readTrace } from '../support/disk/trace.ts'
import { footage } from '../support/footage.ts'
import { people, siteUrl, testGateway, tinyPng } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { startDaemon } from '../support/process.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { waitUntil } from '../support/waiting.ts'

const room = 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }'

function newFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-first-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Records the first start of a daemon, an event and a photo, and its end by kill -9. */
async function recorded(t: Test): Promise<Change[]> {
  const cwd = newFolder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText(room))
  const shim = diskShim(t, cwd)
  const daemon = await startDaemon(['--config', file], { cwd, env: shim.env })
  t.teardown(() => void daemon.child.kill('SIGKILL'))
  const post = async (path: string, body: object) =>
    (await fetch(`${daemon.url}/api/whms/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  t.equal(await post('warehouses', { name: 'Hall', timezone: 'UTC' }), 201)
  const image = { ...headers, 'Content-Type': 'image/png' }
  const photos = `${daemon.url}/api/whms/evidence/photos`
  t.equal((await fetch(photos, { method: 'POST', headers: image, body: tinyPng })).status, 201)
  await daemon.end('SIGKILL')
  return readTrace(shim.trace)
}

/** Opens what is on a disk, as a start does. Returns the warehouses, and whether the photo is there. */
async function opened(folder: string) {
  const gateway = await testGateway({ folder, config: { site: { id: 'daemon-test', url: siteUrl } } })
  try {
    const { data } = (await gateway.ask('GET', '/api/whms/warehouses', { by: people.ada })).body
    return data.map(({ name }: { name: string }) => name)
  } finally {
    gateway.close()
  }
}

t.test('a first start that is killed in any of its syncs starts again', withShim, async (t) => {
  const changes = await recorded(t)
  const syncs = changes.flatMap(({ op }, at) => (op === 'sync' || op === 'sync folder' ? [at] : []))
  t.ok(syncs.length > 10, `${syncs.length} syncs`)
  const disk = new RecordedDisk()
  const folder = newFolder(t)
  for (const [at, change] of changes.entries()) {
    if (syncs.includes(at)) {
      disk.writeLive(folder)
      await t.resolves(opened(folder), `killed in sync ${syncs.indexOf(at)} of ${change.path}`)
    }
    disk.apply(change)
  }
  disk.writeDurable(folder)
  t.strictSame(await opened(folder), ['Hall'], 'a power cut at the end loses no answer')
  t.strictSame(disk.unsyncedFolders, ['/run'], 'each folder of the state has a synced entry')
})

t.test(
  'folders of a camera that is added later survive a power cut',
  { ...withShim, ...needs('ffmpeg') },
  async (t) => {
    const cwd = newFolder(t)
    const file = join(cwd, 'gatehouse.yaml')
    writeFileSync(file, configText(room))
    const rtsp = await startRtspServer({ streams: { dock: await footage('empty') } })
    t.teardown(() => rtsp.stop())
    const shim = diskShim(t, cwd)
    const daemon = await startDaemon(['--config', file], { cwd, env: shim.env })
    t.teardown(() => void daemon.child.kill('SIGKILL'))
    const camera = `{ id: 1, name: Dock, url: "${rtsp.url('dock')}", history: { hours: 1 } }`
    writeFileSync(file, configText(`${room}\ncameras: [${camera}]`))
    daemon.child.kill('SIGHUP')
    const made = ['clips', 'history', 'scores'].map((name) => join(cwd, 'state', name))
    await waitUntil('the folders are made', () => made.every((path) => existsSync(path)), { withinMs: 60_000 })
    await daemon.end('SIGTERM')
    const disk = new RecordedDisk()
    for (const change of readTrace(shim.trace)) disk.apply(change)
    t.strictSame(
      disk.unsyncedFolders.filter((path) => path.startsWith('/state')),
      [],
    )
  },
)
