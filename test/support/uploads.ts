import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { FromCameras } from '../../src/video/index.ts'
import { people, type TestGateway, type TestGatewayOptions, testGateway } from './gateway.ts'
import { StorageServer, type StorageServerOptions } from './storage-server.ts'
import { eventually } from './waiting.ts'

/** The account of the gateway at the storage server. */
export const uploader = { id: 'gatehouse-dc7', groups: [], appPasswords: ['app-password-of-dc7'] }
export const motionAt = Date.UTC(2026, 2, 2, 8)

type Uploading = { readonly server: StorageServer; readonly gateway: TestGateway }

/** The config of a gateway that uploads to `url`, with one camera; the password is in a file of its folder. */
export function uploadConfig(folder: string, url: string, upload: object = {}): Record<string, unknown> {
  const passwordFile = join(folder, 'cloud-password')
  mkdirSync(folder, { recursive: true })
  writeFileSync(passwordFile, 'app-password-of-dc7\n', { mode: 0o600 })
  return {
    storage: { instances: [{ url }], upload: { instance: url, username: uploader.id, passwordFile, ...upload } },
    cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera' }],
  }
}

/** A gateway that uploads to a storage server on loopback, with the worker at work. */
export async function uploading(
  t: Test,
  options: { server?: Partial<StorageServerOptions>; upload?: object; gateway?: TestGatewayOptions } = {},
): Promise<Uploading> {
  const server = await StorageServer.start({ users: [{ ...uploader }], ...options.server })
  t.teardown(() => server.stop())
  // A test may begin several; each gateway holds its folder until its end.
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-uploads-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const gateway = await testGateway({
    ...options.gateway,
    folder,
    config: { ...uploadConfig(folder, server.url, options.upload), ...options.gateway?.config },
  })
  await begin(t, gateway)
  return { server, gateway }
}

/** Starts the worker of a gateway, until the test ends. */
export async function begin(t: Test, gateway: TestGateway): Promise<void> {
  await gateway.uploadWorker.start()
  t.teardown(async () => {
    await gateway.uploadWorker.stop()
    gateway.end()
  })
}

export const bytesOf = (size: number, seed = 1): Buffer => {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i += 1) bytes[i] = (i * 31 + seed * 17 + (i >> 8)) & 255
  return bytes
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Message of the cameras thread about a stored clip of 8 s. */
export function clipOf(gateway: TestGateway, id: number, bytes: Buffer): Extract<FromCameras, { type: 'clipClosed' }> {
  const folder = join(gateway.live.config.dataDir, 'clips')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${id}.mp4`), bytes)
  const atMs = motionAt + id * 60_000
  return {
    type: 'clipClosed',
    ...{ detectionId: id, cameraId: 7, motionAt: atMs, score: 0.42, sceneChange: false },
    ...{ file: `${id}.mp4`, sha256: sha256(bytes), sizeBytes: bytes.length },
    ...{ startedAt: atMs - 3000, endedAt: atMs + 5000, preRollSeconds: 3, durationSeconds: 8, askedPreRollSeconds: 3 },
    ...{ width: 640, height: 360, peakScore: 0.8, snapshot: null, closedBy: 'post-roll', pictures: 121 },
    ...{ longestGapSeconds: 0.07, original: true },
  }
}

/** Records a clip, as the cameras thread does. Resolves when its rows are committed. */
export async function record(gateway: TestGateway, id: number, bytes: Buffer): Promise<void> {
  gateway.cameras.heard(clipOf(gateway, id, bytes))
  await gateway.audit('test.settled', {})
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
export type Row = any

export const queue = async (gateway: TestGateway, query = ''): Promise<Row[]> =>
  (await gateway.ask('GET', `/api/uploads${query}`, { by: people.ada })).body.data

/** The queue, once it is as wanted; oldest first. */
export const settled = (gateway: TestGateway, fits: (rows: Row[]) => boolean): Promise<Row[]> =>
  eventually(async () => (await queue(gateway, '?limit=500')).toReversed(), fits, { withinMs: 20_000, everyMs: 10 })

export const allAre = (status: string) => (rows: Row[]) => rows.length > 0 && rows.every((row) => row.status === status)
