import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { footage } from '../../support/footage.ts'
import { cheapHash, type Person, people, signedIn } from '../../support/gateway.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type RtspServer, startRtspServer } from '../../support/rtsp/server.ts'
import { type RunningBox, runningBox } from '../../support/running.ts'
import { StorageServer } from '../../support/storage-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

export type Reply = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: Json }
export type Ask = {
  readonly by?: Person | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export const secret = 'a secret that both know'

/** Asks at the default rate; all others ask as often as the tests need. */
export const rita: Person = { username: 'rita', role: 'viewer' }
/** A user of the storage server. */
export const olaf = { username: 'olaf', appPassword: 'olaf-app-password', token: 'olaf-access-token' }

/** A running gateway with a camera in front of real motion, a webhook receiver and a storage server. */
export class World {
  readonly #box: RunningBox
  readonly receiver: Receiver
  readonly storage: StorageServer
  readonly #rtsp: RtspServer
  #slots = 0
  #pallets = 0

  private constructor(box: RunningBox, receiver: Receiver, storage: StorageServer, rtsp: RtspServer) {
    this.#box = box
    this.#rtsp = rtsp
    this.receiver = receiver
    this.storage = storage
  }

  static async start(t: Test): Promise<World> {
    const receiver = await startReceiver({ secret })
    t.teardown(() => receiver.stop())
    const storage = await StorageServer.start({
      users: [
        { id: olaf.username, groups: [], appPasswords: [olaf.appPassword], tokens: [olaf.token] },
        { id: 'gatehouse-dc7', groups: [], appPasswords: ['app-password-of-dc7'] },
      ],
    })
    t.teardown(() => storage.stop())
    const rtsp = await startRtspServer({ streams: { door: await footage('crossing') } })
    t.teardown(() => rtsp.stop())
    const everyone = [...Object.values(people), rita]
    const box = await runningBox(
      t,
      {
        auth: { users: everyone.map((one) => ({ ...one, secretHash: cheapHash(`${one.username}-secret`) })) },
        rateLimit: { users: Object.fromEntries(Object.keys(people).map((name) => [name, 1_000_000])) },
        webhooks: { allowNetworks: ['127.0.0.0/8'], caFile: 'receivers.pem' },
        storage: {
          instances: [{ url: storage.url }],
          upload: { instance: storage.url, username: 'gatehouse-dc7', passwordFile: 'cloud-password' },
        },
        cameras: [
          {
            ...{
              id: 1,
              name: 'Dock door 1',
              url: rtsp.url('door'),
              username: 'viewer',
              passwordFile: 'camera-password',
            },
            ...{ owner: 'olga', motion: { preRecordSeconds: 1, postRecordSeconds: 1, cooldownSeconds: 1 } },
          },
        ],
      },
      { 'receivers.pem': receiver.caPem, 'cloud-password': 'app-password-of-dc7', 'camera-password': 'camera-secret' },
    )
    const world = new World(box, receiver, storage, rtsp)
    await world.#furnish()
    return world
  }

  get url(): string {
    return this.#box.url
  }

  /** Headers of a request by ada, an admin. */
  signedIn(): Record<string, string> {
    return signedIn(people.ada)
  }

  /** Ends the stream of the camera; the next connection is taken. */
  cutCamera(): void {
    this.#rtsp.drop()
  }

  /** A request over HTTP. Default: by ada, an admin. */
  async ask(method: string, path: string, { by = people.ada, body, headers = {} }: Ask = {}): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(by && signedIn(by)),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }

  /** The body of a GET that must answer 200. */
  async get(path: string, by: Person = people.ada): Promise<Json> {
    const reply = await this.ask('GET', path, { by })
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }

  /** The body of a POST that must succeed. */
  async post(path: string, body: unknown, by: Person = people.ada): Promise<Json> {
    const reply = await this.ask('POST', path, { by, body })
    if (reply.status !== 200 && reply.status !== 201) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }

  /** A new slot of zone A with the document's fields. */
  slot(more: Record<string, unknown> = {}): Promise<{ id: number; slot_id: string }> {
    this.#slots += 1
    return this.post('/api/whms/slots', { slot_id: `A-${this.#slots}`, zone: 'A', floor_plan_polygon: square, ...more })
  }

  /** A barcode that nothing has used. */
  pallet(): string {
    this.#pallets += 1
    return `PALLET-${this.#pallets}`
  }

  /** A floor event with the document's fields, by somebody who may record it. */
  event(
    event_type: string,
    slot: { id: number },
    asset_barcode: string,
    more: Record<string, unknown> = {},
  ): Promise<Json> {
    const by = event_type === 'PLACED' || event_type === 'REMOVED' ? people.olga : people.sven
    const photo = event_type === 'PLACED' ? { photo_url: photoUrl() } : {}
    const body = { event_type, slot_id: slot.id, asset_barcode, operator: by.username, ...photo, ...more }
    return this.post('/api/whms/events', body, by)
  }

  /** Registers the receiver for these types, and gives the webhook as it was answered. */
  webhook(events: readonly string[], more: Record<string, unknown> = {}): Promise<Json> {
    const url = `${this.receiver.url}/${randomUUID()}`
    return this.post('/api/webhooks', { url, events, secret, active: true, ...more })
  }

  async #furnish(): Promise<void> {
    await this.post('/api/whms/warehouses', {
      name: 'Hall 1',
      location: { lat: 52.5, lng: 13.4 },
      timezone: 'Europe/Berlin',
    })
    await this.post('/api/whms/zones', { name: 'A', zone_type: 'storage', color: '#00aa00', warehouseId: 1 })
  }
}

export const square = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
  { x: 0, y: 1 },
]

/** A photo that proves no other placement. */
export const photoUrl = (): string => `https://photos.example/${randomUUID()}.jpg`
