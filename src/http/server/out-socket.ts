import type { Context } from 'hono'
import { AppError } from '../../errors/index.ts'
import { type RawAnswer, rawAnswer } from '../answers/envelope.ts'

/** A WebSocket that a room writes to. Messages of the client are dropped. */
export type OutSocket = {
  /** Bytes that were sent and that the network has not taken yet. */
  readonly bufferedBytes: number
  /** Sends one binary message. The bytes must not change afterwards. */
  send(bytes: Uint8Array): void
  /** Ends the connection. A reason of more than 123 bytes is cut. */
  close(code: number, reason: string): void
  /** Calls back once, whichever side ends the connection. */
  onClose(listener: () => void): void
}

/** The handshake of a request that wants to become a WebSocket. `take` is set by the operation that serves it. */
export type Opening = { take?: (socket: OutSocket) => void }

type Env = { readonly opening?: Opening } | undefined

/** Says whether the request is the handshake of a WebSocket. */
export const isOpening = (c: Context): boolean => (c.env as Env)?.opening !== undefined

/**
 * Answers a handshake: `take` receives the socket as soon as it is open. Throws UPGRADE_REQUIRED for a request that is no
 * handshake.
 */
export function openSocket(c: Context, take: (socket: OutSocket) => void): RawAnswer {
  const opening = (c.env as Env)?.opening
  if (!opening) {
    throw new AppError('UPGRADE_REQUIRED', 'This address is a WebSocket', { details: 'Connect with ws:// or wss://.' })
  }
  opening.take = take
  return rawAnswer(new Response(null))
}
