import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Clock } from '../../platform/index.ts'
import { readWaiting } from './read-waiting.ts'

export type VideoPipeNeeds = {
  readonly clock: Clock
  /** Says how long video may wait to be read, in milliseconds; 0: not at all. Asked again and again. */
  readonly mostWaitMs: () => number
  /**
   * Takes the bytes that were read, all of which came after `sinceMs` (monotonic): now, unless they waited. They belong to the pipe
   * again when this returns.
   */
  readonly onBytes: (bytes: Buffer, sinceMs: number) => void
}

const shortestWaitMs = 10
/** The kernel holds some 4 MB of ffmpeg's output. When it is full, ffmpeg waits. */
const wantedBytes = 1024 * 1024
/** When this much waited, the next reading comes at once. */
const nearlyFullBytes = 2 * wantedBytes
/** Share of the newest reading in the rate: key frames are larger than other pictures, and come every few readings. */
const newestShare = 0.1
/** Most of the waiting video is read at once. */
const bufferBytes = 256 * 1024
/** Parts that are read in one turn of the event loop, where the kernel holds more. */
const mostParts = 32
const loopback = '127.0.0.1'
/** One for all pipes: a reading is passed on before the next one begins. */
let buffer: Buffer | undefined

/**
 * Carries the compressed video out of an ffmpeg. A camera sends a picture every 40 ms, and each wake-up costs this thread far more
 * than the work on the picture. So video waits in the kernel and is read together: on request, and at the latest before the
 * kernel's room is used up.
 */
export class VideoPipe {
  readonly #needs: VideoPipeNeeds
  readonly #reading: Socket
  /** To be the standard output of a process, and to be closed here when it is. */
  readonly end: Socket
  #isEnding = false
  /** Whether the event loop watches the socket, so that every picture wakes this thread. */
  #isFlowing = true
  /** Read since the last rest, which is when waiting began. */
  #bytes = 0
  #restedMs: number | undefined
  /** When all that had come was read. */
  #readMs: number
  /** Bytes a millisecond, of the last seconds. */
  #rate: number | undefined
  #cancelTimer = () => {}

  private constructor(needs: VideoPipeNeeds, ends: (onBytes: (bytes: Buffer) => void) => [Socket, Socket]) {
    this.#needs = needs
    this.#readMs = needs.clock.monotonic()
    const [reading, end] = ends((bytes) => {
      this.#pass(bytes)
      if (!this.#isEnding) this.#rest()
    })
    this.#reading = reading
    this.end = end
    end.on('error', () => {})
  }

  /**
   * Makes a pipe. It is a pair of sockets, because Node stops reading at once from nothing else. They are TCP sockets, because the
   * kernel holds twenty times as much for one as for a local one.
   */
  static async open(needs: VideoPipeNeeds): Promise<VideoPipe> {
    const server = createServer({ pauseOnConnect: true })
    const accepted: Socket[] = []
    server.on('connection', (socket) => accepted.push(socket))
    try {
      await once(server.listen(0, loopback), 'listening')
      let onBytes = (_bytes: Buffer) => {}
      buffer ??= Buffer.allocUnsafeSlow(bufferBytes)
      const callback = (length: number, bytes: Uint8Array) => {
        onBytes(Buffer.from(bytes.buffer, bytes.byteOffset, length))
        return true
      }
      const { port } = server.address() as AddressInfo
      const reading = connect({ port, host: loopback, onread: { buffer, callback } })
      await once(reading, 'connect')
      // Without a free file the other end is closed as soon as it is accepted.
      const lost = new AbortController()
      reading.on('error', () => {}).once('close', () => lost.abort())
      // Another program of this box may have been faster to find the port. From another of its addresses it may come with ours.
      const isOwn = ({ remotePort, remoteAddress }: Socket) =>
        remotePort === reading.localPort && remoteAddress === reading.localAddress
      while (!accepted.some(isOwn)) await once(server, 'connection', { signal: lost.signal })
      const end = accepted.splice(accepted.findIndex(isOwn), 1)[0] as Socket
      // Small parts do not wait until those before them are acknowledged.
      end.setNoDelay()
      return new VideoPipe(needs, (take) => {
        onBytes = take
        return [reading, end]
      })
    } finally {
      server.close()
      for (const socket of accepted) socket.destroy()
    }
  }

  /** Reads all that waits and passes it on. */
  read(): void {
    if (this.#isEnding) return
    this.#readWaiting()
    this.#rest()
  }

  /** Passes on the rest of the output of a process that has ended, and then calls `done`. */
  drain(done: () => void): void {
    this.#isEnding = true
    this.#cancelTimer()
    if (this.#reading.closed) done()
    else this.#reading.once('close', done).resume()
  }

  close(): void {
    this.#isEnding = true
    this.#cancelTimer()
    this.end.destroy()
    this.#reading.destroy()
  }

  #pass(bytes: Buffer): void {
    const nowMs = this.#needs.clock.monotonic()
    // The time until the first picture says nothing about how fast they come.
    this.#restedMs ??= nowMs
    this.#bytes += bytes.length
    this.#needs.onBytes(bytes, this.#isFlowing ? nowMs : this.#readMs)
  }

  #readWaiting(): void {
    const into = buffer
    for (let part = 0; into && part < mostParts; part += 1) {
      // A short one is not the last: the read makes room for the rest in ffmpeg's end.
      const length = readWaiting(this.#reading, into)
      // Whatever is wrong, the end of the process shows.
      if (typeof length !== 'number' || length === 0) return
      this.#pass(into.subarray(0, length))
    }
  }

  /** Decides how the next video is read. */
  #rest(): void {
    this.#cancelTimer()
    const { clock, mostWaitMs } = this.#needs
    const nowMs = clock.monotonic()
    this.#readMs = nowMs
    const longestWaitMs = mostWaitMs()
    this.#flow(longestWaitMs === 0)
    if (this.#isFlowing) return
    const [bytes, sinceMs] = [this.#bytes, nowMs - (this.#restedMs ?? nowMs)]
    this.#bytes = 0
    if (this.#restedMs !== undefined) this.#restedMs = nowMs
    if (sinceMs > 0) this.#rate = smoothed(this.#rate, bytes / sinceMs)
    const untilFullMs = bytes > nearlyFullBytes ? 0 : wantedBytes / (this.#rate ?? Infinity)
    const waitMs = Math.min(Math.max(untilFullMs, shortestWaitMs), longestWaitMs)
    this.#cancelTimer = clock.after(waitMs, () => this.read())
  }

  #flow(flows: boolean): void {
    if (flows === this.#isFlowing) return
    this.#isFlowing = flows
    if (flows) this.#reading.resume()
    else this.#reading.pause()
  }
}

function smoothed(before: number | undefined, newest: number): number {
  return before === undefined ? newest : before + (newest - before) * newestShare
}
