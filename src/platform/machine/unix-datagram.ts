import { closeSync } from 'node:fs'
import { libc } from './libc.ts'

const AF_UNIX = 1
/** SOCK_DGRAM, not blocking, closed in child processes. */
const DATAGRAM = 2 | 0o4000 | 0o2000000
/** `sun_path` of Linux, with the zero byte at its end. */
export const longestSocketPath = 108

/**
 * Returns a connected Unix datagram socket, on which an ordinary write sends one datagram; undefined: nothing takes datagrams there.
 * A path that begins with `@` is a socket in no folder. Node has no such sockets, so libc makes it.
 */
export function unixDatagram(path: string): number | undefined {
  const { socket: makeSocket, connect } = libc()
  const address = Buffer.alloc(2 + longestSocketPath)
  address.writeUInt16LE(AF_UNIX)
  const length = Buffer.byteLength(path)
  if (length >= longestSocketPath) return undefined
  // `@` is the zero byte in front of the name of a socket that is in no folder.
  address.write(path.startsWith('@') ? `\0${path.slice(1)}` : path, 2)
  const socket = makeSocket(AF_UNIX, DATAGRAM, 0)
  if (socket < 0) return undefined
  if (connect(socket, address, 2 + length + (path.startsWith('@') ? 0 : 1)) === 0) return socket
  closeSync(socket)
  return undefined
}
