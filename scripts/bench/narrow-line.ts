import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** How often the line takes what may pass. */
const stepMs = 20

type Way = { readonly from: Socket; readonly to: Socket; waiting: Buffer[] }

/**
 * A line that carries so many bytes a second to a server, and answers without a limit. Connections that send at the same time
 * get an even share, as from a router; what waits for the line waits in the sender.
 */
export class NarrowLine {
  readonly #server: Server
  readonly #bytesPerSecond: number
  readonly #ways = new Set<Way>()
  #isOpen = true

  private constructor(server: Server, bytesPerSecond: number) {
    this.#server = server
    this.#bytesPerSecond = bytesPerSecond
  }

  static async to(port: number, bytesPerSecond: number): Promise<NarrowLine> {
    const server = createServer({ pauseOnConnect: true })
    const line = new NarrowLine(server, bytesPerSecond)
    server.on('connection', (from: Socket) => line.#join(from, connect(port, '127.0.0.1')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    void line.#carry()
    return line
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#isOpen = false
    this.#server.close()
    for (const { from, to } of this.#ways) for (const socket of [from, to]) socket.destroy()
  }

  #join(from: Socket, to: Socket): void {
    const way: Way = { from, to, waiting: [] }
    this.#ways.add(way)
    to.pipe(from)
    from.on('data', (bytes: Buffer) => {
      from.pause()
      way.waiting.push(bytes)
    })
    from.once('end', () => void this.#ended(way))
    const gone = () => {
      this.#ways.delete(way)
      from.destroy()
      to.destroy()
    }
    for (const socket of [from, to]) socket.once('close', gone).on('error', gone)
    from.resume()
  }

  async #ended(way: Way): Promise<void> {
    while (way.waiting.length > 0 && this.#ways.has(way)) await pause(stepMs)
    way.to.end()
  }

  async #carry(): Promise<void> {
    for (let lastMs = performance.now(); this.#isOpen; ) {
      await pause(stepMs)
      const nowMs = performance.now()
      let room = Math.floor(((nowMs - lastMs) * this.#bytesPerSecond) / 1000)
      lastMs = nowMs
      for (let ways = this.#waiting(); room > 0 && ways.length > 0; ways = this.#waiting()) {
        const share = Math.ceil(room / ways.length)
        for (const way of ways) room -= this.#pass(way, Math.min(share, room))
      }
    }
  }

  #waiting(): Way[] {
    return [...this.#ways].filter(({ waiting }) => waiting.length > 0)
  }

  /** Returns how many bytes passed. */
  #pass(way: Way, most: number): number {
    const [first, ...rest] = way.waiting
    if (!first || most <= 0) return 0
    way.to.write(first.subarray(0, most))
    way.waiting = first.length > most ? [first.subarray(most), ...rest] : rest
    if (way.waiting.length === 0) way.from.resume()
    return Math.min(first.length, most)
  }
}
