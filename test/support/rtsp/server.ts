/**
 * A camera without hardware: an RTSP server that plays clips for ever to real clients, RTP interleaved on TCP, and fails
 * on command. Every stream is live: it plays with or without viewers, all viewers see the same, and a late viewer joins
 * there. Needs Node alone.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { CameraStream, type Clients, type Cut, type Fault } from './camera-stream.ts'
import { Connection, reset } from './connection.ts'
import type { Credentials } from './credentials.ts'
import type { Clip, Join } from './live-video.ts'

export type { Clients, Fault } from './camera-stream.ts'
export type { Credentials } from './credentials.ts'
export type { Clip } from './live-video.ts'

export type RtspServerOptions = {
  /** The clip of each path. */
  readonly streams: Readonly<Record<string, Clip>>
  readonly auth?: Credentials
  /** On 127.0.0.1. Default: any that is free. */
  readonly port?: number
  /** With a silent microphone. Default: picture alone. */
  readonly sound?: boolean
  /** Default: `keyframe`, as most cameras do. */
  readonly join?: Join
  /** How many connections a stream takes before it answers 453. Default: any number. */
  readonly mostClients?: number
  /** It tells its time, which is this far ahead. Default: it tells none. */
  readonly clockAheadMs?: number
}

export type RtspServer = {
  readonly port: number
  /** `rtsp://127.0.0.1:PORT/NAME`, on request with user name and password, %-encoded. */
  url(name: string, withCredentials?: boolean): string
  clients(name: string): Clients
  /**
   * Resolves when the condition holds; it is checked whenever a client comes, plays or goes. Rejects after `timeoutMs`.
   */
  waitFor(condition: () => boolean, timeoutMs?: number): Promise<void>
  /** Sets the fault of one stream or of all; undefined: none any more. Connected clients stay connected. */
  fault(fault: Fault | undefined, name?: string): void
  /** Disconnects the clients of one stream or of all; they may come again at once. */
  drop(name?: string, how?: Cut): void
  /** Plays something else from now on. Clients see the size change in the stream; another codec disconnects them. */
  switchTo(name: string, clip: Clip): void
  /** Where in its clip a stream now is. */
  positionMs(name: string): number
  /** Continues at the last key frame at or before this time of the clip. */
  seek(name: string, positionMs: number): void
  /** The clock of a stream jumps: its timestamps go on this much later, or earlier when it is negative. */
  jump(name: string, ms: number): void
  /** When the picture that is shown at this time of the clip was taken, in each round, by the wall clock. */
  takenAt(name: string, positionMs: number): number[]
  /** Disconnects everybody and gives up the port: the next connection is refused. */
  unplug(): Promise<void>
  /** Back at the same port. */
  plugIn(): Promise<void>
  stop(): Promise<void>
}

/** Starts a camera on loopback. Throws when a clip cannot be played. */
export async function startRtspServer(options: RtspServerOptions): Promise<RtspServer> {
  const camera = new Camera(options)
  await camera.plugIn(options.port ?? 0)
  const { port } = camera
  const signIn = options.auth ? `${percent(options.auth.username)}:${percent(options.auth.password)}@` : ''
  return {
    port,
    url: (name, withCredentials = false) => `rtsp://${withCredentials ? signIn : ''}127.0.0.1:${port}/${name}`,
    clients: (name) => camera.stream(name).clients,
    waitFor: (condition, timeoutMs = 10_000) => camera.waitFor(condition, timeoutMs),
    fault: (fault, name) => camera.each(name, (stream) => stream.setFault(fault)),
    drop: (name, how = 'close') => camera.each(name, (stream) => stream.drop(how)),
    switchTo: (name, clip) => camera.stream(name).switchTo(clip),
    positionMs: (name) => camera.stream(name).video.positionMs,
    seek: (name, positionMs) => camera.stream(name).video.seek(positionMs),
    jump: (name, ms) => camera.stream(name).video.jump(ms),
    takenAt: (name, positionMs) => camera.stream(name).video.takenAt(positionMs),
    unplug: () => camera.unplug(),
    plugIn: () => camera.plugIn(port),
    stop: () => camera.stop(),
  }
}

class Camera {
  readonly #streams: ReadonlyMap<string, CameraStream>
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #watchers = new Set<() => void>()

  constructor(options: RtspServerOptions) {
    const { streams, auth, sound = false, join = 'keyframe', mostClients = Infinity, clockAheadMs } = options
    const changed = () => {
      for (const look of this.#watchers) look()
    }
    const open = ([name, clip]: [string, Clip]) =>
      [name, new CameraStream(name, clip, { join, sound, changed })] as const
    this.#streams = new Map(Object.entries(streams).map(open))
    const host = { credentials: auth, mostClients, clockAheadMs, find: (url: string) => this.#find(url) }
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      new Connection(socket, host)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stream(name: string): CameraStream {
    const stream = this.#streams.get(name)
    if (!stream) throw new Error(`there is no stream ${name}`)
    return stream
  }

  each(name: string | undefined, act: (stream: CameraStream) => void): void {
    for (const stream of name === undefined ? this.#streams.values() : [this.stream(name)]) act(stream)
  }

  waitFor(condition: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition()) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#watchers.delete(look)
        reject(new Error(`not so after ${timeoutMs} ms: ${condition}`))
      }, timeoutMs)
      this.#watchers.add(look)
      look()
    })
  }

  async plugIn(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async unplug(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) reset(socket)
    await closed
  }

  async stop(): Promise<void> {
    for (const stream of this.#streams.values()) stream.stop()
    if (this.#server.listening) await this.unplug()
  }

  #find(url: string): CameraStream | undefined {
    const path = decodeURI(new URL(url).pathname).replace(/\/trackID=\d+\/?$/, '')
    return this.#streams.get(path.replace(/^\/|\/$/g, ''))
  }
}

/** As encodeURIComponent, and the marks that it leaves: a password may consist of nothing else. */
function percent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}
