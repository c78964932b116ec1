import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { ExitError } from '../errors/index.ts'
import type { Verification } from '../evidence/index.ts'
import type { ErasureRequest, ErasureResult } from '../governance/index.ts'
import type { ImportOptions, ImportResult } from '../imports/index.ts'
import type { Logger } from '../platform/index.ts'
import { answerImport, type Import, importPath, sendImport } from './import-command.ts'
import type { AddedWarehouse, AddWarehouse, NamedWarehouse } from './warehouse-command.ts'

/** sockaddr_un holds 107 characters and a zero. */
const longestPath = 107

export const controlSocketPath = (runtimeDir: string): string => join(runtimeDir, 'control.sock')

/** `by`: who is signed in at the box; the file system has let that one in. */
export type ErasureCommand = ErasureRequest & { readonly by: string }
/** `compacted`: no older copy is left in the file. */
export type Erased = ErasureResult & { readonly compacted: boolean }

export type ControlActions = {
  /** The data folder that this daemon works on. */
  readonly dataDir: string
  readonly verify: () => Promise<Verification>
  readonly erasePerson: (request: ErasureCommand) => Promise<Erased>
  readonly import: Import
  readonly addWarehouse: AddWarehouse
}

/**
 * Commands to the running daemon over a socket that only root and the group may open (0660): no secret is needed, the
 * file system decides. HTTP inside, one POST a command.
 */
export class ControlSocket {
  readonly #path: string
  readonly #server: Server
  readonly #log: Logger
  #own: FileId | undefined

  constructor(options: { runtimeDir: string; actions: ControlActions; log: Logger }) {
    this.#path = controlSocketPath(options.runtimeDir)
    this.#log = options.log
    this.#server = createServer((incoming, outgoing) => {
      const say = (status: number, body: object) => {
        outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
      }
      if (incoming.method === 'GET' && incoming.url === '/') return say(200, { dataDir: options.actions.dataDir })
      if (incoming.method === 'POST' && incoming.url?.startsWith(importPath)) {
        void answerImport(incoming, options.actions.import).then(({ status, body }) => say(status, body))
        return
      }
      const run = incoming.method === 'POST' ? this.#command(options.actions, incoming) : undefined
      if (!run) return say(404, { error: 'no such command' })
      run.then(
        (result) => say(200, result),
        (error: unknown) => say(500, { error: error instanceof Error ? error.message : String(error) }),
      )
    })
  }

  #command(actions: ControlActions, incoming: IncomingMessage): Promise<object> | undefined {
    switch (incoming.url) {
      case '/verify':
        return actions.verify()
      case '/person/erase':
        return bodyOf(incoming).then((told) => actions.erasePerson(told as ErasureCommand))
      case '/warehouse/add':
        return bodyOf(incoming).then((told) => {
          const { by, ...wanted } = told as NamedWarehouse & { by: string }
          return actions.addWarehouse(wanted, by)
        })
      default:
        return undefined
    }
  }

  /**
   * A daemon without it still serves; the commands then say that they can't reach it. Throws ExitError when another
   * daemon listens there.
   */
  async start(): Promise<void> {
    if (this.#path.length > longestPath) {
      this.#log.warn({ path: this.#path }, 'the path of the control socket is too long for the system; it is not there')
      return
    }
    mkdirSync(dirname(this.#path), { recursive: true })
    await refuseIfTaken(this.#path)
    // Bound under a name of our own and then put in place, over what a kill -9 left there: libuv unlinks the name that
    // it bound when it closes, whoever's socket has it by then.
    const boundAs = join(dirname(this.#path), `.${process.pid}`)
    rmSync(boundAs, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(boundAs, resolve)
    })
    chmodSync(boundAs, 0o660)
    this.#own = fileId(boundAs)
    renameSync(boundAs, this.#path)
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    if (this.#own !== undefined && fileId(this.#path) === this.#own) rmSync(this.#path)
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}

/** Device and inode: which file it is, whatever its name. */
type FileId = `${bigint}:${bigint}`

function fileId(path: string): FileId | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** The lock on the data folder doesn't keep two daemons with two data folders from one runtimeDir. */
async function refuseIfTaken(path: string): Promise<void> {
  const refusal = await knock(path)
  // Only these say that nobody is there: a full backlog, or a socket that we may not open, has an owner.
  if (refusal === 'ENOENT' || refusal === 'ECONNREFUSED') return
  throw new ExitError(1, `another gatehouse listens at ${path}; give each a runtimeDir of its own`)
}

/** Whether a daemon listens there and works on `dataDir`. */
export async function daemonServes(runtimeDir: string, dataDir: string): Promise<boolean> {
  const path = controlSocketPath(runtimeDir)
  if ((await knock(path)) !== undefined) return false
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

/** Has the daemon forget a person. Throws ExitError when it can't. */
export async function eraseThroughDaemon(runtimeDir: string, command: ErasureCommand): Promise<Erased> {
  const { status, body } = await ask(controlSocketPath(runtimeDir), 'POST', '/person/erase', command)
  if (status !== 200)
    throw new ExitError(1, `the daemon could not erase: ${(body as { error?: string }).error ?? status}`)
  return body as Erased
}

/** Has the daemon make a warehouse. Throws ExitError when it can't. */
export async function addWarehouseThroughDaemon(
  runtimeDir: string,
  wanted: NamedWarehouse,
  by: string,
): Promise<AddedWarehouse> {
  const { status, body } = await ask(controlSocketPath(runtimeDir), 'POST', '/warehouse/add', { ...wanted, by })
  if (status !== 200)
    throw new ExitError(1, `the daemon could not make it: ${(body as { error?: string }).error ?? status}`)
  return body as AddedWarehouse
}

/** Has the daemon take a list. Throws ExitError when it can't. */
export function importThroughDaemon(
  runtimeDir: string,
  ...list: [bytes: Buffer, options: ImportOptions, by: string]
): Promise<ImportResult> {
  return sendImport(controlSocketPath(runtimeDir), ...list)
}

/** Connects and leaves again. Returns the code of the refusal; undefined when somebody is there. */
function knock(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}

function ask(
  socketPath: string,
  method: string,
  path: string,
  told?: object,
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path }, (response) => {
      bodyOf(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
    asked.once('error', (error) => reject(new ExitError(1, `the daemon can't be reached: ${error.message}`, error)))
    asked.end(told && JSON.stringify(told))
  })
}

/** The JSON that is sent; both ends are ours. */
async function bodyOf(message: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}
