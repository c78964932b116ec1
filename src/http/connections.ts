import type { Socket } from 'node:net'

export type ConnectionLimits = {
  /** Open at once. */
  readonly most: number
  /** Of these, from one address other than this machine's own. */
  readonly mostOfAddress: number
}

type Connection = { socket: Socket; readonly address: string; isBusy: boolean; busySinceMs: number }

/** A request that takes longer than this, by nobody known, may have to make room. */
const patienceMs = 1000

/** Sockets whose request under way comes from somebody known. */
const ofKnownCallers = new WeakSet<object>()

/** Says that the caller of the request under way on this socket is known. */
export function noteKnown(socket: object | undefined): void {
  if (socket) ofKnownCallers.add(socket)
}

/**
 * The open connections of a listener, kept within bounds: where there is one too many, the one that has waited longest
 * without a request makes room, of the same address where that has too many. Where all have a request under way, it is
 * the oldest whose caller is not known yet, such as a body that trickles in at the sign-in. A known caller with a
 * request under way is never cut off for a newcomer.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  /** Those that wait stand in the order in which they began to. */
  readonly #all = new Map<string, Connection>()
  readonly #ofAddress = new Map<string, number>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#all.size
  }

  /** A socket of TLS comes twice, bare and after its handshake; it is one connection. */
  opened(socket: Socket): void {
    const key = keyOf(socket)
    const known = this.#all.get(key)
    if (known) {
      known.socket = socket
      return
    }
    const address = socket.remoteAddress ?? ''
    const connection = { socket, address, isBusy: false, busySinceMs: 0 }
    this.#all.set(key, connection)
    this.#ofAddress.set(address, (this.#ofAddress.get(address) ?? 0) + 1)
    socket.once('close', () => this.#forget(key, connection))
    if (this.#ofThis(address) > this.#limits.mostOfAddress) this.#makeRoom(key, (c) => c.address === address)
    if (this.#all.size > this.#limits.most) this.#makeRoom(key, () => true)
  }

  /** A request is under way until its response is closed. */
  busy(socket: Socket, response: { once(event: 'close', listener: () => void): unknown }): void {
    const key = keyOf(socket)
    const connection = this.#all.get(key)
    if (!connection) return
    connection.isBusy = true
    connection.busySinceMs = performance.now()
    ofKnownCallers.delete(socket)
    response.once('close', () => {
      connection.isBusy = false
      if (this.#all.get(key) !== connection) return
      this.#all.delete(key)
      this.#all.set(key, connection)
    })
  }

  closeIdle(): void {
    for (const { socket, isBusy } of [...this.#all.values()]) if (!isBusy) socket.destroy()
  }

  closeAll(): void {
    for (const { socket } of [...this.#all.values()]) socket.destroy()
  }

  /** Once, whether it was sent away or left: the count must not wait for the socket's own end. */
  #forget(key: string, connection: Connection): void {
    if (this.#all.get(key) !== connection) return
    this.#all.delete(key)
    const left = (this.#ofAddress.get(connection.address) ?? 1) - 1
    if (left > 0) this.#ofAddress.set(connection.address, left)
    else this.#ofAddress.delete(connection.address)
  }

  #ofThis(address: string): number {
    return isThisMachine(address) ? 0 : (this.#ofAddress.get(address) ?? 0)
  }

  /** The newcomer goes only when everybody else is busy and known, or has just begun. */
  #makeRoom(newcomer: string, among: (connection: Connection) => boolean): void {
    const others = [...this.#all].filter(([key, connection]) => key !== newcomer && among(connection))
    const startedBefore = performance.now() - patienceMs
    const chosen =
      others.find(([, { isBusy }]) => !isBusy) ??
      others.find(([, { socket, busySinceMs }]) => !ofKnownCallers.has(socket) && busySinceMs < startedBefore)
    const connection = chosen?.[1] ?? this.#all.get(newcomer)
    if (!connection) return
    connection.socket.destroy()
    this.#forget(chosen?.[0] ?? newcomer, connection)
  }
}

const isThisMachine = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address)

const keyOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`
