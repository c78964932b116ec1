import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { errorCode } from '../../platform/faults.ts'

/**
 * Reads the waiting bytes of a paused socket, without the event loop: to have it watch the socket for each reading takes two more
 * turns of it. Returns their length, and 0 at the end; undefined when nothing waits; `closed` when it cannot be read any more.
 */
export function readWaiting(socket: Socket, buffer: Buffer): number | 'closed' | undefined {
  // Node tells no number of a socket in another way. Once it is closed there is none: it may belong to another file.
  const { fd } = (socket as unknown as { _handle: { fd: number } | null })._handle ?? { fd: -1 }
  if (fd < 0) return 'closed'
  try {
    return readSync(fd, buffer)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EAGAIN') return undefined
    if (code) return 'closed'
    throw error
  }
}
