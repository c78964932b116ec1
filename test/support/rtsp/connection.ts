import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { CameraStream, Client, Cut } from './camera-stream.ts'
import { type Credentials, challenge, isSignedIn } from './credentials.ts'
import { format, type Request, RequestReader, type Response } from './messages.ts'
import { interleave, type RtpState } from './rtp.ts'
import { sessionDescription } from './sdp.ts'
import { firstSequence, type Track, type Viewer } from './track.ts'

/** The parts of its server that a connection needs. */
export type Host = {
  readonly credentials: Credentials | undefined
  /** More connections to one stream than this are answered 453. */
  readonly mostClients: number
  /** How far its clock is ahead, which it then tells; undefined: it tells no time. */
  readonly clockAheadMs: number | undefined
  /** The stream at the path of this URL, or above it. */
  find(url: string): CameraStream | undefined
}

/** A track that the client has set up. */
type Seat = { readonly url: string; readonly track: Track; readonly rtp: RtpState; readonly viewer: Viewer }

const methods = ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY', 'GET_PARAMETER', 'TEARDOWN']
const mostUnsentBytes = 4 << 20

/** One client on one TCP connection, from the first request to the last packet. */
export class Connection implements Client {
  readonly #socket: Socket
  readonly #host: Host
  readonly #nonce = randomBytes(16).toString('hex')
  readonly #session = randomBytes(4).toString('hex')
  readonly #requests = new RequestReader()
  /** The stream that the client requested first. */
  #stream: CameraStream | undefined
  /** By number of the track. */
  readonly #seats = new Map<number, Seat>()
  #playing = false

  constructor(socket: Socket, host: Host) {
    this.#socket = socket
    this.#host = host
    socket.setNoDelay(true)
    socket.on('data', (bytes) => this.#read(bytes))
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#leave())
  }

  get isPlaying(): boolean {
    return this.#playing
  }

  cut(how: Cut): void {
    if (how === 'reset') reset(this.#socket)
    else this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    try {
      for (const request of this.#requests.take(bytes)) this.#take(request)
    } catch {
      this.#socket.end(format({ status: 400 }, undefined))
    }
  }

  #take(request: Request): void {
    const stream = this.#host.find(request.url)
    if (stream && !this.#stream) {
      this.#stream = stream
      stream.enter(this)
    }
    if (stream?.fault === 'silent') return
    this.#socket.write(format(this.#answer(request, stream), request.headers['cseq']))
  }

  #answer(request: Request, stream: CameraStream | undefined): Response {
    if (request.method === 'OPTIONS') return { status: 200, headers: { Public: methods.join(', '), ...this.#date() } }
    if (!stream) return { status: 404 }
    return this.#refusal(request, stream) ?? this.#serve(request, stream)
  }

  #date(): Record<string, string> {
    const { clockAheadMs } = this.#host
    return clockAheadMs === undefined ? {} : { Date: new Date(Date.now() + clockAheadMs).toUTCString() }
  }

  #refusal(request: Request, stream: CameraStream): Response | undefined {
    if (stream.fault === 'refuse' || !this.#mayEnter(request)) return this.#askForCredentials(request, stream)
    if (request.method !== 'DESCRIBE') return undefined
    if (stream.fault === 'unavailable') return { status: 503 }
    if (stream.fault === 'full' || stream.clients.connected > this.#host.mostClients) return { status: 453 }
    return undefined
  }

  #mayEnter(request: Request): boolean {
    const { credentials } = this.#host
    return !credentials || isSignedIn(request.headers['authorization'] ?? '', request, credentials, this.#nonce)
  }

  #askForCredentials(request: Request, stream: CameraStream): Response {
    if (request.headers['authorization']) stream.countRefused()
    const scheme = this.#host.credentials?.scheme ?? 'digest'
    return { status: 401, headers: { 'WWW-Authenticate': challenge(scheme, this.#nonce) } }
  }

  #serve(request: Request, stream: CameraStream): Response {
    switch (request.method) {
      case 'DESCRIBE':
        return this.#describe(request, stream)
      case 'SETUP':
        return this.#setUp(request, stream)
      case 'PLAY':
        return this.#play(stream)
      case 'GET_PARAMETER':
        return this.#inSession()
      case 'TEARDOWN':
        this.#stopPlaying()
        stream.clientChanged()
        return this.#inSession()
      default:
        return { status: 405, headers: { Allow: methods.join(', ') } }
    }
  }

  #describe(request: Request, stream: CameraStream): Response {
    const headers = { 'Content-Base': `${request.url.replace(/\/$/, '')}/`, 'Content-Type': 'application/sdp' }
    return { status: 200, headers, body: sessionDescription(stream.name, stream.tracks) }
  }

  #setUp(request: Request, stream: CameraStream): Response {
    const transport = request.headers['transport'] ?? ''
    if (!/^RTP\/AVP\/TCP\b/i.test(transport)) return { status: 461 }
    const number = Number(/trackID=(\d+)\/?$/.exec(request.url)?.[1] ?? 0)
    const track = stream.tracks[number]
    if (!track) return { status: 404 }
    const channel = Number(/interleaved=(\d+)/.exec(transport)?.[1] ?? 2 * number)
    const source = randomBytes(4).readUInt32BE()
    const rtp = { channel, payloadType: track.payloadType, source, sequence: firstSequence }
    this.#seats.set(number, { url: request.url, track, rtp, viewer: this.#viewer(rtp) })
    const hex = source.toString(16).padStart(8, '0')
    return this.#inSession({ Transport: `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1};ssrc=${hex}` })
  }

  #play(stream: CameraStream): Response {
    if (this.#seats.size === 0) return { status: 454 }
    this.#playing = true
    stream.clientChanged()
    const seats = [...this.#seats.values()].map((seat) => {
      const first = seat.track.join(seat.viewer)
      return `url=${seat.url};seq=${seat.rtp.sequence};rtptime=${first}`
    })
    return this.#inSession({ Range: 'npt=0.000-', 'RTP-Info': seats.join(',') })
  }

  #inSession(headers: Record<string, string> = {}): Response {
    return { status: 200, headers: { Session: `${this.#session};timeout=60`, ...headers } }
  }

  #viewer(rtp: RtpState): Viewer {
    const socket = this.#socket
    return {
      send: (payloads, timestamp) => void socket.write(interleave(payloads, timestamp, rtp)),
      sendRaw: (bytes) => void socket.write(bytes),
      isClogged: () => socket.writableLength > mostUnsentBytes,
    }
  }

  #stopPlaying(): void {
    for (const { track, viewer } of this.#seats.values()) track.leave(viewer)
    this.#seats.clear()
    this.#playing = false
  }

  #leave(): void {
    this.#stopPlaying()
    this.#stream?.leave(this)
  }
}

/** Node 24 loses a socket that is reset while its end is under way: the process then never exits. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
