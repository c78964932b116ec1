import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Context } from 'hono'
import { neighbourhoodOf } from '../../platform/index.ts'

export type ConnectionLimits = {
  /** Open at once. */
  readonly most: number
  /**
   * At most so many of these belong to unknown callers of one network, or to known callers of one address. This machine has no such
   * bound.
   */
  readonly mostTogether: number
}

type Connection = {
  socket: Socket
  readonly address: string
  /** The network or address whose connections share one bound; undefined for this machine. */
  group: string | undefined
  isBusy: boolean
  busySinceMs: number
  /** Whether a caller was recognised on it. */
  isKnown: boolean
  readonly noteKnown: () => void
}

/** A request, with the connection that it came by. */
type Arrived = IncomingMessage & { via?: Pick<Connection, 'noteKnown'> }

/** A request that takes longer than this, by no one known, may have to make room. */
const patienceMs = 1000

/** Says that the caller of this request is known, and so the connection. */
export function noteKnown(c: Context): void {
  const { incoming } = (c.env ?? {}) as { incoming?: Arrived }
  incoming?.via?.noteKnown()
}

/** The socket that a request came by; undefined where there is none. */
export function connectionOf(c: Context): object | undefined {
  return ((c.env ?? {}) as { incoming?: IncomingMessage }).incoming?.socket
}

/**
 * The open connections of a listener, kept within bounds. Until a caller is recognised on it, a connection is an unknown caller's.
 * Where there is one too many, an unknown caller's connection makes room: the one without a request for longest. It is of the same
 * network where that has too many. Where all have a request under way, it is the oldest, such as a body that trickles in at the
 * sign-in. A known caller's connection is never closed for an unknown caller, only for one of the same address.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  /** Those that wait stand in the order in which they began to. */
  readonly #all = new Map<string, Connection>()
  readonly #sizes = new Map<string, number>()

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
    const group = isThisMachine(address) ? undefined : `unknown callers of ${neighbourhoodOf(address)}`
    const noteKnown = () => this.#recognised(key, connection)
    const connection = { socket, address, group, isBusy: false, busySinceMs: 0, isKnown: false, noteKnown }
    this.#all.set(key, connection)
    this.#count(connection.group, 1)
    socket.once('close', () => this.#forget(key, connection))
    this.#bound(key, connection)
    if (this.#all.size > this.#limits.most) this.#makeRoom(key, ({ isKnown }) => !isKnown)
  }

  /** A request is under way until its response is closed. */
  busy(request: Arrived, response: { once(event: 'close', listener: () => void): unknown }): void {
    const key = keyOf(request.socket)
    const connection = this.#all.get(key)
    if (!connection) return
    request.via = connection
    connection.isBusy = true
    connection.busySinceMs = performance.now()
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
    this.#count(connection.group, -1)
  }

  #recognised(key: string, connection: Connection): void {
    if (connection.isKnown || this.#all.get(key) !== connection) return
    connection.isKnown = true
    if (connection.group === undefined) return
    this.#count(connection.group, -1)
    connection.group = `known of ${connection.address}`
    this.#count(connection.group, 1)
    this.#bound(key, connection)
  }

  #count(group: string | undefined, change: 1 | -1): void {
    if (group === undefined) return
    const size = (this.#sizes.get(group) ?? 0) + change
    if (size > 0) this.#sizes.set(group, size)
    else this.#sizes.delete(group)
  }

  #bound(newcomer: string, { group }: Connection): void {
    if (group === undefined || (this.#sizes.get(group) ?? 0) <= this.#limits.mostTogether) return
    this.#makeRoom(newcomer, (connection) => connection.group === group)
  }

  /** The newcomer goes only when everybody else is known, or busy and has just begun. */
  #makeRoom(newcomer: string, among: (connection: Connection) => boolean): void {
    const others = [...this.#all].filter(([key, connection]) => key !== newcomer && among(connection))
    const startedBefore = performance.now() - patienceMs
    const chosen =
      others.find(([, { isBusy }]) => !isBusy) ??
      others.find(([, { isKnown, busySinceMs }]) => !isKnown && busySinceMs < startedBefore)
    const connection = chosen?.[1] ?? this.#all.get(newcomer)
    if (!connection) return
    connection.socket.destroy()
    this.#forget(chosen?.[0] ?? newcomer, connection)
  }
}

const isThisMachine = (address: string): boolean => /^(::ffff:)?127\.0\.0\.1$|^::1$/.test(address)

const keyOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`
