import { writeSync } from 'node:fs'
import { errorCode } from '../faults.ts'
import { longestSocketPath, unixDatagram } from './unix-datagram.ts'

/** Reports on this service to systemd; see sd_notify(3). */
export type ServiceManager = {
  /** Longest interval between signs of life that systemd accepts, in milliseconds; undefined: it does not watch. */
  readonly watchdogMs: number | undefined
  /** The start is complete, or a reload is. */
  ready(status: string): void
  /** A reload begins; `ready` ends it. */
  reloading(): void
  stopping(): void
  /** The work goes on. */
  alive(): void
}

type Environment = Record<string, string | undefined>

/**
 * Returns the way to systemd if it started this process and wants reports; undefined elsewhere. Removes its variables
 * from `env`, so that child processes do not speak for the gateway. Throws when the socket cannot be reached.
 *
 * The usual child process `systemd-notify` would need a free process and memory at every call, and needs NotifyAccess=all.
 */
export function serviceManager(env: Environment = process.env): ServiceManager | undefined {
  const { NOTIFY_SOCKET: path, WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = env
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  if (!path) return undefined
  const socket = connectedSocket(path)
  const tell = (...lines: string[]) => send(socket, lines.join('\n'))
  const isWatched = Number(usec) > 0 && (pid === undefined || Number(pid) === process.pid)
  return {
    watchdogMs: isWatched ? Number(usec) / 1000 : undefined,
    ready: (status) => tell('READY=1', `STATUS=${status.replaceAll('\n', ' ')}`),
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    stopping: () => tell('STOPPING=1', 'STATUS=Stopping'),
    alive: () => tell('WATCHDOG=1'),
  }
}

function connectedSocket(path: string): number {
  if (Buffer.byteLength(path) >= longestSocketPath) {
    throw new Error(`NOTIFY_SOCKET is longer than a socket's path may be: ${path}`)
  }
  const socket = unixDatagram(path)
  if (socket === undefined)
    throw new Error(`systemd cannot be notified: there is no socket ${path} that takes datagrams`)
  return socket
}

/** A full queue of systemd (EAGAIN) loses a message; the next one comes, and nothing waits meanwhile. */
function send(socket: number, message: string): void {
  try {
    writeSync(socket, message)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'EAGAIN' && code !== 'ECONNREFUSED') throw error
  }
}
