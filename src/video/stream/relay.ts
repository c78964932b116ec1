import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type Clock, dialThrough, dialThroughTls } from '../../platform/index.ts'
import { placeOf } from './knock.ts'
import { readWaiting } from './read-waiting.ts'
import { type Refusal, RtspAnswers } from './rtsp-answers.ts'
import type { StreamSource } from './source.ts'

export type RelayNeeds = {
  readonly source: StreamSource
  /** Address of the host; undefined: it is in the URL. */
  readonly address: string | undefined
  readonly clock: Clock
  /** Says how long video may wait, in milliseconds; 0: somebody watches. */
  readonly mostWaitMs: () => number
}

const loopback = '127.0.0.1'
const emptyLine = '\r\n\r\n'
/** Video is passed on together: a wake-up for each packet costs this thread and ffmpeg more than the work on it. */
const passEveryMs = { watched: 40, unwatched: 100 } as const
const bufferBytes = 256 * 1024
/** Parts that are read in one turn of the event loop. */
const mostParts = 16
/** Above it, the camera waits. */
const mostUnsentBytes = 1024 * 1024
/** One for all relays: what was read is copied on before the next reading. */
let buffer: Buffer | undefined

/**
 * The connection to a camera, to which ffmpeg connects by loopback. It ends when the camera answers with a redirect: no option of
 * ffmpeg keeps it from following one with the password. After PLAY, ffmpeg follows none any more, and all bytes are passed on.
 */
export class Relay {
  readonly #needs: RelayNeeds
  readonly #server = createServer({ noDelay: true })
  readonly #answers = new RtspAnswers()
  #client: Socket | undefined
  #camera: Socket | undefined
  /** The beginning of a request of ffmpeg. */
  #request = ''
  #isPlaying = false
  #refusal: Refusal | undefined
  #cancelPass = () => {}

  private constructor(needs: RelayNeeds) {
    this.#needs = needs
    // Another connection is not from our ffmpeg.
    this.#server.on('connection', (client) => (this.#client ? client.destroy() : this.#join(client)))
  }

  static async open(needs: RelayNeeds): Promise<Relay> {
    const relay = new Relay(needs)
    await once(relay.#server.listen(0, loopback), 'listening')
    return relay
  }

  /** Port on loopback for ffmpeg. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Why the connection ended, where ffmpeg does not know it. */
  get refusal(): Refusal | undefined {
    return this.#refusal
  }

  /** Ends the connections, once the last request of an ffmpeg that has ended is on its way. */
  async finish(): Promise<void> {
    if (this.#camera && !this.#camera.closed) await once(this.#camera, 'close')
    this.close()
  }

  close(): void {
    this.#server.close()
    this.#client?.destroy()
    this.#camera?.destroy()
  }

  #join(client: Socket): void {
    const camera = this.#dial()
    let hasConnected = false
    this.#client = client
    this.#camera = camera
    client.on('error', () => {}).on('data', (bytes: Buffer) => this.#fromClient(camera, bytes))
    client.once('close', () => {
      this.#cancelPass()
      // A camera that keeps its end open must not keep ours.
      camera.destroySoon()
    })
    camera.once('connect', () => {
      hasConnected = true
    })
    camera.on('error', ({ message }) => {
      if (!this.#isPlaying) this.#refuse({ problem: hasConnected ? 'not-a-stream' : 'unreachable', detail: message })
    })
    camera.once('close', () => {
      const { beginning } = this.#answers
      if (!this.#isPlaying && beginning !== '') this.#refuse({ problem: 'not-a-stream', detail: beginning })
      client.end()
    })
  }

  #dial(): Socket {
    const { source, address } = this.#needs
    const { host, port } = placeOf(source.url)
    const to = { host: address ?? host, port }
    if (new URL(source.url).protocol === 'rtsps:')
      return dialThroughTls(to).on('data', (bytes: Buffer) => this.#isPlaying || this.#fromCamera(bytes))
    const callback = (length: number) => {
      this.#fromCamera(readInto().subarray(0, length))
      return true
    }
    return dialThrough({ ...to, noDelay: true, onread: { buffer: readInto(), callback } })
  }

  #fromClient(camera: Socket, bytes: Buffer): void {
    if (this.#isPlaying) return void camera.write(bytes)
    const parts = (this.#request + bytes.toString('latin1')).split(/(?<=\r\n\r\n)/)
    this.#request = parts.at(-1)?.endsWith(emptyLine) ? '' : (parts.pop() ?? '')
    for (const request of parts) {
      if (isOverUdp(request)) this.#client?.write(unsupportedTransport(request))
      else camera.write(request, 'latin1')
      if (request.startsWith('PLAY ')) this.#play(camera)
    }
  }

  /** From here on video is read from time to time, by TLS as it comes. */
  #play(camera: Socket): void {
    this.#isPlaying = true
    if (camera instanceof TLSSocket) {
      if (this.#client) camera.pipe(this.#client)
      return
    }
    camera.pause()
    this.#passLater(camera)
  }

  #passLater(camera: Socket): void {
    const { clock, mostWaitMs } = this.#needs
    const everyMs = mostWaitMs() === 0 ? passEveryMs.watched : passEveryMs.unwatched
    // At the same moments for all cameras: one wake-up serves them all.
    this.#cancelPass = clock.after(everyMs - (clock.monotonic() % everyMs), () => this.#pass(camera))
  }

  #pass(camera: Socket): void {
    for (let part = 0; part < mostParts && (this.#client?.writableLength ?? 0) < mostUnsentBytes; part += 1) {
      const length = readWaiting(camera, readInto())
      // Node reports the end.
      if (length === 'closed' || length === 0) return void camera.resume()
      if (length !== undefined) this.#fromCamera(readInto().subarray(0, length))
      if (length !== bufferBytes) break
    }
    this.#passLater(camera)
  }

  /** The bytes are of a buffer that is written over when this returns. */
  #fromCamera(bytes: Buffer): void {
    const passed = this.#isPlaying ? { bytes: Buffer.from(bytes) } : this.#answers.take(bytes)
    if ('refusal' in passed) this.#refuse(passed.refusal)
    else this.#client?.write(passed.bytes)
  }

  #refuse(refusal: Refusal): void {
    this.#refusal ??= refusal
    this.close()
  }
}

/** ffmpeg before 5.0 asks for UDP first, and has no option against it that a list can name. */
function isOverUdp(request: string): boolean {
  return request.startsWith('SETUP ') && !/^Transport: *RTP\/AVP\/TCP\b/im.test(request)
}

function unsupportedTransport(request: string): string {
  return `RTSP/1.0 461 Unsupported Transport\r\nCSeq: ${/^CSeq: *(\d+)/im.exec(request)?.[1]}${emptyLine}`
}

function readInto(): Buffer {
  buffer ??= Buffer.allocUnsafeSlow(bufferBytes)
  return buffer
}
