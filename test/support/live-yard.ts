import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClientOptions, WebSocket } from 'ws'
import { footage } from './footage.ts'
import { cheapHash } from './gateway.ts'
import { type Daemon, startDaemon } from './process.ts'
import { type RtspServer, startRtspServer } from './rtsp/server.ts'

/** A running gateway with cameras that can be watched. */
export type LiveYard = {
  readonly daemon: Daemon
  readonly rtsp: RtspServer
  /** `ws://…`, for paths. */
  readonly wsUrl: string
  /** Writes the config anew, with these lines in place of those of the cameras. */
  configure(cameras: readonly string[]): void
  /** Lines of the config: 1 H.264 (owen's), 2 H.265, 3 Motion JPEG, 4 H.264 without detection, 5 away, 6 switched off. */
  readonly cameras: readonly string[]
}

export const site = 'http://127.0.0.1:8480'

export const headers = (name: string): Record<string, string> => ({
  Authorization: `Bearer ${name}-secret`,
  'X-Storage-Instance': site,
  'X-Storage-Username': name,
})

/** @param edit what each camera's line of the config becomes */
export async function liveYard(
  t: { teardown(end: () => unknown): void },
  edit = (line: string) => line,
): Promise<LiveYard> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-live-'))
  const [door, hevc, jpeg] = await Promise.all([footage('passer'), footage('passer-hevc'), footage('counted-mjpeg')])
  const rtsp = await startRtspServer({ streams: { door, hevc, jpeg, yard: door } })
  const user = (name: string, role: string) =>
    `{ username: ${name}, role: ${role}, secretHash: "${cheapHash(`${name}-secret`)}" }`
  const camera = (id: number, url: string, more: string) =>
    `  - { id: ${id}, name: Camera ${id}, url: "${url}", ${more} }`
  const off = 'motion: { enabled: false }'
  const cameras = [
    camera(1, rtsp.url('door'), 'owner: owen, motion: { preRecordSeconds: 1, postRecordSeconds: 1 }'),
    camera(2, rtsp.url('hevc'), off),
    camera(3, rtsp.url('jpeg'), off),
    camera(4, rtsp.url('yard'), off),
    camera(5, 'rtsp://127.0.0.1:9/away', 'motion: { preRecordSeconds: 1 }'),
    camera(6, rtsp.url('yard'), 'enabled: false'),
  ].map(edit)
  const file = join(folder, 'gatehouse.yaml')
  const configure = (lines: readonly string[]) =>
    writeFileSync(
      file,
      `site: { id: live-test, url: ${site} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [${user('ada', 'admin')}, ${user('owen', 'viewer')}, ${user('vic', 'viewer')}] }
rateLimit: { requestsPerMinute: 100000 }
retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }
cameras:
${lines.join('\n')}
`,
    )
  configure(cameras)
  const daemon = await startDaemon(['--config', file], { cwd: folder })
  t.teardown(async () => {
    if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
    await rtsp.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { daemon, rtsp, wsUrl: daemon.url.replace('http', 'ws'), configure, cameras }
}

/** A viewer: what came, and how it ended. */
export class TestViewer {
  readonly socket: WebSocket
  readonly messages: Buffer[] = []
  ended: { readonly code: number; readonly reason: string } | undefined
  readonly #watchers = new Set<() => void>()

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, options)
    this.socket.on('error', () => {})
    this.socket.on('message', (bytes: Buffer) => this.#note(() => this.messages.push(bytes)))
    this.socket.on('close', (code, reason) =>
      this.#note(() => {
        this.ended = { code, reason: reason.toString() }
      }),
    )
  }

  get bytes(): Buffer {
    return Buffer.concat(this.messages)
  }

  /** Resolves when so many messages have come. Rejects when the view ends before. */
  async received(count: number): Promise<Buffer> {
    await this.#until(() => this.messages.length >= count || this.ended !== undefined)
    if (this.messages.length < count) throw new Error(`ended: ${JSON.stringify(this.ended)}`)
    return this.bytes
  }

  /** Resolves with the code and the reason of the end. */
  async end(): Promise<{ code: number; reason: string }> {
    await this.#until(() => this.ended !== undefined)
    return this.ended as { code: number; reason: string }
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    this.socket.close()
    await once(this.socket, 'close')
  }

  #note(change: () => void): void {
    change()
    for (const look of [...this.#watchers]) look()
  }

  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.messages.length} messages, then nothing`)), 60_000)
      const look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
      look()
    })
  }
}
