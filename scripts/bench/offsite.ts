import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../../test/support/footage.ts'
import { tinyPng } from '../../test/support/gateway.ts'
import { startRtspServer } from '../../test/support/rtsp/server.ts'
import { StorageServer } from '../../test/support/storage-server.ts'
import { uploadConfig, uploader } from '../../test/support/uploads.ts'
import { type Figure, rounded } from './figure.ts'
import { NarrowLine } from './narrow-line.ts'
import { type Served, serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, signedIn } from './site.ts'
import type { Workshop } from './workshop.ts'

const bytesPerSecond = 250_000
/** Photos that wait to be uploaded: 100 MB, over six minutes of the line. */
const photos = 12
const photoBytes = 8_400_000
const incidents = 3
const withinMs = 120_000
const lookEveryMs = 25

type Sent = { readonly seconds: number; readonly waitingBytes: number }

/**
 * Measures how soon the beginning of an incident's clip can be played from the storage server. The line has 2 Mb/s, and the
 * gateway sends 100 MB of photos over it. The gateway does not know the speed of the line.
 */
export async function measureOffsite(workshop: Workshop, count = incidents): Promise<Figure[]> {
  const rtsp = await startRtspServer({ streams: { door: await footage('crossing') } })
  const server = await StorageServer.start({ users: [{ ...uploader }] })
  const line = await NarrowLine.to(server.port, bytesPerSecond)
  try {
    const folder = workshop.newFolder('offsite')
    const camera = {
      id: 1,
      url: rtsp.url('door'),
      motion: { preRecordSeconds: 5, postRecordSeconds: 2, cooldownSeconds: 0 },
    }
    const config = { ...uploadConfig(folder, line.url), cameras: [camera] }
    const served = await serveGateway(workshop, folder, await makeAccount(), config)
    await sendPhotos(served)
    await until('photos are being sent', async () => (await uploads(served)).includes('uploading'))
    const sent: Sent[] = []
    while (sent.length < count) sent.push(await incident(served, server, folder))
    await served.end()
    return [figureOf(sent)]
  } finally {
    line.close()
    await server.stop()
    await rtsp.stop()
  }
}

async function sendPhotos(served: Served): Promise<void> {
  for (let n = 0; n < photos; n += 1) {
    const body = Buffer.concat([tinyPng, randomBytes(photoBytes)])
    const headers = { ...signedIn, 'Content-Type': 'image/png' }
    const { status } = await fetch(`${served.url}/api/whms/evidence/photos`, { method: 'POST', headers, body })
    if (status >= 300) throw new Error(`a photo was answered with ${status}`)
  }
}

/** From the opening of an incident about a clip that is being recorded to its first part that can be played. */
async function incident(served: Served, server: StorageServer, folder: string): Promise<Sent> {
  const newest = async () => (await ask(served, '/api/iot/detection-events?limit=1')).data[0]?.id ?? 0
  const known: number = await newest()
  const isOpen = async (id: number) => (await fetch(`${served.url}${clipOf(id)}`, { headers: signedIn })).status === 503
  let id = known + 1
  await until('a clip is being recorded', async () => {
    while (id < known + 50 && !(await isOpen(id))) id += 1
    if (await isOpen(id)) return true
    id = known + 1
    return false
  })
  const body = { severity: 'high', category: 'theft', evidenceReferences: [{ type: 'detection_event', id }] }
  const startedMs = performance.now()
  const init = { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) }
  const { status } = await fetch(`${served.url}/api/governance/incidents`, init)
  if (status !== 201) throw new Error(`the incident was answered with ${status}`)
  const part = () => [...server.dav.files.keys()].find((path) => path.includes(`_${id}_parts/`) && path.endsWith('.ts'))
  await until('a part is on the storage server', async () => part() !== undefined)
  const seconds = (performance.now() - startedMs) / 1000
  const bytes = server.dav.files.get(part() ?? '')
  if (!Buffer.isBuffer(bytes) || !isPlayable(bytes, join(folder, 'part.ts'))) throw new Error('a part cannot be played')
  const waitingBytes = photos * photoBytes - heldBy(server)
  await until('the clip is there as a whole', async () =>
    [...server.dav.files.keys()].some((path) => path.endsWith(`_${id}.mp4`)),
  )
  return { seconds, waitingBytes }
}

const clipOf = (id: number) => `/api/iot/detection-events/${id}/clip`

/** Bytes of photos that have arrived. */
function heldBy(server: StorageServer): number {
  return [...server.dav.files.values(), ...server.dav.uploads.values()]
    .filter((file) => Buffer.isBuffer(file))
    .reduce((sum, { length }) => sum + length, 0)
}

function isPlayable(bytes: Buffer, file: string): boolean {
  writeFileSync(file, bytes)
  const args = ['-v', 'quiet', '-i', file, '-map', '0:v:0', '-f', 'framecrc', '-']
  return /^0,/m.test(execFileSync(locateFfmpeg().path, args, { encoding: 'utf8' }))
}

async function uploads(served: Served): Promise<string[]> {
  return (await ask(served, '/api/uploads?kind=photo')).data.map(({ status }: { status: string }) => status)
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function ask(served: Served, path: string): Promise<any> {
  return (await fetch(`${served.url}${path}`, { headers: signedIn })).json()
}

async function until(what: string, fits: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + withinMs; !(await fits()); await pause(lookEveryMs)) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${withinMs / 1000} s`)
  }
}

function figureOf(sent: readonly Sent[]): Figure {
  const seconds = sent.map((one) => one.seconds)
  const waiting = Math.min(...sent.map(({ waitingBytes }) => waitingBytes)) / 1e6
  return {
    id: 'offsite',
    what: 'From the opening of an incident to the first part of its clip that can be played on the storage server, over 2 Mb/s beside 100 MB of photos, the slowest',
    value: Math.max(...seconds),
    unit: 's',
    target: { limit: 10, sense: 'at most' },
    raw: `${seconds.map((one) => `${rounded(one)} s`).join(', ')}; at least ${rounded(waiting)} MB of photos still waited`,
    numbers: Object.fromEntries(seconds.map((one, i) => [`time${i + 1}Seconds`, one])),
  }
}
