import type { Socket } from 'node:net'
import { dial } from '../../platform/index.ts'
import { times } from './connection.ts'
import { resolveHost, type StreamSource } from './source.ts'

/** Ends before the next knock is due. */
const withinMs = times.knockMs - 100
/** Ports of URLs without a port, as in ffmpeg. */
const ports = { rtsp: 554, rtsps: 322 } as const

/**
 * Asks the address of a stream whether anything answers: opens a TCP connection and closes it at once. No byte is sent, so no
 * camera counts it as a sign-in.
 */
export class Knock {
  readonly #onResult: (answered: boolean) => void
  readonly #resolve: typeof resolveHost
  #socket: Socket | undefined
  /** Counts knocks; the result of an earlier one is dropped. */
  #newest = 0
  /** The look-up that is under way. Few can be at once, and without an answer each takes longer than a knock. */
  #lookup: { readonly url: string; readonly address: Promise<string | undefined> } | undefined

  /** @param onResult called once for each knock that was not cancelled */
  constructor(onResult: (answered: boolean) => void, resolve = resolveHost) {
    this.#onResult = onResult
    this.#resolve = resolve
  }

  /** Begins a knock; one that is under way is given up. */
  start(source: StreamSource): void {
    this.cancel()
    void this.#knock(source, this.#newest)
  }

  cancel(): void {
    this.#newest += 1
    this.#socket?.destroy()
    this.#socket = undefined
  }

  async #knock(source: StreamSource, number: number): Promise<void> {
    const { host, port } = placeOf(source.url)
    let address: string | undefined
    try {
      address = await this.#address(source)
    } catch {
      this.#end(number, false)
      return
    }
    if (number !== this.#newest) return
    const socket = dial({ host: address ?? host, port }, 0)
    this.#socket = socket
    socket.setTimeout(withinMs)
    socket.once('connect', () => this.#end(number, true))
    socket.once('timeout', () => this.#end(number, false))
    socket.on('error', () => this.#end(number, false))
  }

  #address(source: StreamSource): Promise<string | undefined> {
    if (this.#lookup?.url === source.url) return this.#lookup.address
    const lookup = { url: source.url, address: this.#resolve(source) }
    const forget = () => {
      if (this.#lookup === lookup) this.#lookup = undefined
    }
    lookup.address.then(forget, forget)
    this.#lookup = lookup
    return lookup.address
  }

  #end(number: number, answered: boolean): void {
    if (number !== this.#newest) return
    this.cancel()
    this.#onResult(answered)
  }
}

/** Returns host and port of a stream's URL; an IPv6 address without its brackets. */
export function placeOf(url: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(url)
  const usual = protocol === 'rtsps:' ? ports.rtsps : ports.rtsp
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) }
}
