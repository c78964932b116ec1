import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { ExitError } from '../errors/index.ts'
import type { Verification } from '../evidence/index.ts'
import type { Logger } from '../world/index.ts'

/** sockaddr_un holds 107 characters and a zero. */
const longestPath = 107

export const controlSocketPath = (runtimeDir: string): string => join(runtimeDir, 'control.sock')

export type ControlActions = {
  /** The data folder that this daemon works on. */
  readonly dataDir: string
  readonly verify: () => Promise<Verification>
}

/**
 * Commands to the running daemon over a socket that only root and the group may open (0660): no secret is needed, the
 * file system decides. HTTP inside, one POST a command.
 */
export class ControlSocket {
  readonly #path: string
  readonly #server: Server
  readonly #log: Logger

  constructor(options: { runtimeDir: string; actions: ControlActions; log: Logger }) {
    this.#path = controlSocketPath(options.runtimeDir)
    this.#log = options.log
    this.#server = createServer((incoming, outgoing) => {
      const say = (status: number, body: object) => {
        outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
      }
      if (incoming.method === 'GET' && incoming.url === '/') return say(200, { dataDir: options.actions.dataDir })
      if (incoming.method !== 'POST' || incoming.url !== '/verify') return say(404, { error: 'no such command' })
      options.actions.verify().then(
        (result) => say(200, result),
        (error: unknown) => say(500, { error: error instanceof Error ? error.message : String(error) }),
      )
    })
  }

  /** A daemon without it still serves; the commands then say that they can't reach it. */
  async start(): Promise<void> {
    if (this.#path.length > longestPath) {
      this.#log.warn({ path: this.#path }, 'the path of the control socket is too long for the system; it is not there')
      return
    }
    mkdirSync(dirname(this.#path), { recursive: true })
    // Left over from a kill -9: the lock on the data folder says that nobody is behind it.
    if (existsSync(this.#path)) rmSync(this.#path)
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#path, resolve)
    })
    chmodSync(this.#path, 0o660)
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}

/** Whether a daemon listens there and works on `dataDir`. */
export async function daemonServes(runtimeDir: string, dataDir: string): Promise<boolean> {
  const path = controlSocketPath(runtimeDir)
  if (!(await answers(path))) return false
  const { body } = await ask(path, 'GET', '/')
  return (body as { dataDir?: string }).dataDir === dataDir
}

/** Has the daemon verify its ledger, in a thread of its own. Throws ExitError when it can't. */
export async function verifyThroughDaemon(runtimeDir: string): Promise<Verification> {
  const { status, body } = await ask(controlSocketPath(runtimeDir), 'POST', '/verify')
  if (status !== 200)
    throw new ExitError(1, `the daemon could not verify: ${(body as { error?: string }).error ?? status}`)
  return body as Verification
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function ask(socketPath: string, method: string, path: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString('utf8')) })
        } catch (error) {
          reject(error)
        }
      })
    })
    asked.once('error', (error) => reject(new ExitError(1, `the daemon can't be reached: ${error.message}`, error)))
    asked.end()
  })
}
