import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Clock, temporaryFolder } from '../platform/index.ts'

export type VideoPipeNeeds = {
  readonly clock: Clock
  /** Says whether video may wait for a while; asked again and again. */
  readonly mayWait: () => boolean
  /** Takes what was read. It belongs to the pipe again when this returns. */
  readonly onBytes: (bytes: Buffer) => void
}

/** Video waits in the pipe at most this long. */
const longestWaitMs = 300
const shortestWaitMs = 10
/** The kernel holds 130 to 200 KB of what ffmpeg writes in parts of 8 to 32 KB. When it is full, ffmpeg waits. */
const mostWaitingBytes = 112 * 1024
const bufferBytes = 256 * 1024
/** One for all pipes: what was read is passed on before anything else is read. */
let buffer: Buffer | undefined

/**
 * The way of the compressed video out of an ffmpeg. A camera sends a picture every 40 ms, and to wake up for each costs this
 * thread far more than what is done with it. So what comes waits in the kernel and is read together: when somebody asks,
 * and at the latest before the kernel's room is used up.
 */
export class VideoPipe {
  readonly #needs: VideoPipeNeeds
  readonly #reading: Socket
  /** To be the standard output of a process, and to be closed here when it is. */
  readonly end: Socket
  #isPassing = false
  #isEnding = false
  #asking: (() => void)[] = []
  /** Read since the last rest, which is when waiting began. */
  #bytes = 0
  #restedMs: number | undefined
  #cancelTimer = () => {}

  private constructor(needs: VideoPipeNeeds, ends: (onBytes: (bytes: Buffer) => void) => [Socket, Socket]) {
    this.#needs = needs
    const [reading, end] = ends((bytes) => this.#take(bytes))
    this.#reading = reading
    this.end = end
    reading.on('error', () => {})
    end.on('error', () => {})
  }

  /** Makes a pipe. It is a pair of sockets, because Node stops reading at once from nothing else. */
  static async open(needs: VideoPipeNeeds): Promise<VideoPipe> {
    const folder = temporaryFolder()
    try {
      const path = join(folder, 'video')
      const server = createServer({ pauseOnConnect: true }).listen(path)
      await once(server, 'listening')
      let onBytes = (_bytes: Buffer) => {}
      buffer ??= Buffer.allocUnsafeSlow(bufferBytes)
      const callback = (length: number, bytes: Uint8Array) => {
        onBytes(Buffer.from(bytes.buffer, bytes.byteOffset, length))
        return true
      }
      const reading = connect({ path, onread: { buffer, callback } })
      const [[end]] = (await Promise.all([once(server, 'connection'), once(reading, 'connect')])) as [[Socket], unknown]
      server.close()
      return new VideoPipe(needs, (take) => {
        onBytes = take
        return [reading, end]
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Reads all that waits, passes it on, and then calls `done`. */
  read(done: () => void): void {
    this.#asking.push(done)
    this.#pass()
  }

  /** Passes on what is left of a process that has ended, and then calls `done`. */
  drain(done: () => void): void {
    this.#isEnding = true
    this.#cancelTimer()
    const finish = () => {
      this.#answer()
      done()
    }
    if (this.#reading.closed) finish()
    else this.#reading.once('close', finish).resume()
  }

  close(): void {
    this.#isEnding = true
    this.#cancelTimer()
    this.end.destroy()
    this.#reading.destroy()
  }

  #take(bytes: Buffer): void {
    // The time until the first picture says nothing about how fast they come.
    this.#restedMs ??= this.#needs.clock.monotonic()
    this.#bytes += bytes.length
    this.#needs.onBytes(bytes)
    if (!this.#isPassing) this.#pass()
  }

  #pass(): void {
    this.#cancelTimer()
    this.#reading.resume()
    if (this.#isPassing) return
    this.#isPassing = true
    // What waits is read in the next turn of the event loop, before its immediates.
    setImmediate(() => setImmediate(() => this.#rest()))
  }

  #rest(): void {
    this.#isPassing = false
    this.#answer()
    const { clock, mayWait } = this.#needs
    const nowMs = clock.monotonic()
    const [bytes, sinceMs] = [this.#bytes, nowMs - (this.#restedMs ?? nowMs)]
    this.#bytes = 0
    if (this.#restedMs !== undefined) this.#restedMs = nowMs
    // ffmpeg may have waited, and writes more at once: reading goes on.
    if (this.#isEnding || bytes > mostWaitingBytes || !mayWait()) return
    this.#reading.pause()
    const untilFullMs = (sinceMs * mostWaitingBytes) / Math.max(bytes, 1)
    const waitMs = Math.min(Math.max(untilFullMs, shortestWaitMs), longestWaitMs)
    this.#cancelTimer = clock.after(waitMs, () => this.#pass())
  }

  #answer(): void {
    for (const done of this.#asking.splice(0)) done()
  }
}
