import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { BackupMade } from '../../backup/index.ts'
import { AppError, ExitError } from '../../errors/index.ts'
import type { FullVerification, Proof, RotatedKeys } from '../../evidence/index.ts'
import { type ImportOptions, listKinds, listLimitBytes } from '../../imports/index.ts'
import { type Logger, nameOfUid, peerUid } from '../../platform/index.ts'
import {
  type AddWarehouseCommand,
  type BackupCommand,
  controlSocketPath,
  type Erased,
  type ErasureCommand,
  type ExportCommand,
  knock,
  type ProofCommand,
} from './client.ts'
import type { Import } from './import-command.ts'
import type { GatewayStatus } from './status.ts'
import type { UserActs, UserCommand } from './user-command.ts'
import type { AddWarehouse } from './warehouse-command.ts'

/** sockaddr_un holds 107 characters and a zero. */
const longestPath = 107

export type ControlActions = {
  /** Data folder of this daemon. */
  readonly dataDir: string
  readonly verify: () => Promise<FullVerification>
  /** Progress of a verification, from 0 to 1; undefined when none is under way. */
  readonly verified: () => number | undefined
  readonly erasePerson: (request: ErasureCommand) => Promise<Erased>
  /** `by`: the user of the box who gives the command. */
  readonly rotateKeys: (by: string) => Promise<RotatedKeys>
  readonly backup: (command: BackupCommand) => Promise<BackupMade>
  /** Signs the newest leaves, and writes into the audit trail who takes all data. */
  readonly beginExport: (command: ExportCommand) => Promise<void>
  readonly import: Import
  readonly addWarehouse: AddWarehouse
  readonly user: UserActs
  readonly status: () => Promise<GatewayStatus>
  readonly metrics: () => Promise<string>
  readonly prove: (asked: ProofCommand) => Promise<Proof>
}

type Local = { Bindings: HttpBindings }

/**
 * Returns the user of the box who gives a command, as the kernel states it. Anyone in the group may connect, so a name in the message
 * counts only from root, who has it from sudo.
 */
function giverOf(c: Context<Local>, claimed: string | undefined): string {
  const uid = peerUid(c.env.incoming.socket)
  if (uid === undefined) return 'local user'
  return uid === 0 && claimed !== undefined ? claimed : nameOfUid(uid)
}

/** The commands: one POST each, JSON both ways; a list is sent byte for byte. */
function controlApi(actions: ControlActions): Hono<Local> {
  const api = new Hono<Local>()
  const commandOf = async <Command extends { readonly by: string }>(c: Context<Local>): Promise<Command> => {
    const command = await c.req.json<Command>()
    return { ...command, by: giverOf(c, command.by) }
  }
  api.get('/', (c) => c.json({ dataDir: actions.dataDir }))
  api.post('/verify', async (c) => c.json(await actions.verify()))
  api.get('/verify', (c) => c.json({ share: actions.verified() ?? null }))
  api.get('/status', async (c) => c.json(await actions.status()))
  api.get('/metrics', async (c) => c.json({ text: await actions.metrics() }))
  api.post('/person/erase', async (c) => c.json(await actions.erasePerson(await commandOf<ErasureCommand>(c))))
  api.post('/proof', async (c) => c.json(await actions.prove(await c.req.json<ProofCommand>())))
  api.post('/keys/rotate', async (c) => {
    const { by } = await commandOf(c)
    return c.json(await actions.rotateKeys(by))
  })
  api.post('/backup', async (c) => c.json(await actions.backup(await commandOf<BackupCommand>(c))))
  api.post('/export', async (c) => {
    await actions.beginExport(await commandOf<ExportCommand>(c))
    return c.json({})
  })
  api.post('/warehouse/add', async (c) => {
    const { by, ...wanted } = await commandOf<AddWarehouseCommand>(c)
    return c.json(await actions.addWarehouse(wanted, by))
  })
  api.post('/user', async (c) => {
    const { by, ...command } = await commandOf<UserCommand & { by: string }>(c)
    return c.json(await actions.user(command, by))
  })
  const tooLarge = () => {
    throw new AppError('BODY_TOO_LARGE', 'The list is too large')
  }
  api.post('/import/:kind', bodyLimit({ maxSize: listLimitBytes, onError: tooLarge }), async (c) => {
    const kind = listKinds.find((known) => known === c.req.param('kind'))
    if (!kind) return c.json({ error: 'no such list' }, 404)
    const { by, ...options } = c.req.query()
    const list = Buffer.from(await c.req.arrayBuffer())
    return c.json(await actions.import(list, importOptions(kind, options), giverOf(c, by)))
  })
  api.notFound((c) => c.json({ error: 'no such command' }, 404))
  api.onError((error, c) => c.json({ error: sentenceOf(error) }, 500))
  return api
}

function importOptions(kind: ImportOptions['kind'], query: Record<string, string>): ImportOptions {
  const { dryRun, createZones, grid, warehouse } = query
  return {
    kind,
    dryRun: dryRun !== undefined,
    createZones: createZones !== undefined,
    grid: grid !== undefined,
    warehouse,
  }
}

/** Returns the error text for the person at the box. */
function sentenceOf(error: Error): string {
  return error instanceof AppError && error.details ? `${error.message}: ${error.details}` : error.message
}

type ControlSocketNeeds = { readonly runtimeDir: string; readonly actions: ControlActions; readonly log: Logger }

/**
 * Receives commands for the running daemon over a Unix socket that only root and the group may open (0660). It speaks
 * HTTP, one POST for each command; file permissions replace a secret, and the kernel states who asks.
 */
export class ControlSocket {
  readonly #needs: ControlSocketNeeds
  readonly #path: string
  readonly #server: Server
  #own: FileId | undefined

  constructor(needs: ControlSocketNeeds) {
    this.#needs = needs
    this.#path = controlSocketPath(needs.runtimeDir)
    this.#server = createServer(getRequestListener(controlApi(needs.actions).fetch, { overrideGlobalObjects: false }))
  }

  /**
   * Opens the socket. Throws ExitError when another daemon listens there. If the path is too long for the system, the
   * daemon serves without it, and commands report that they cannot reach it.
   */
  async start(): Promise<void> {
    if (this.#path.length > longestPath) {
      this.#needs.log.warn(
        { path: this.#path },
        'the path of the control socket is too long for the system; commands cannot reach this daemon',
      )
      return
    }
    mkdirSync(dirname(this.#path), { recursive: true })
    await refuseIfTaken(this.#path)
    // libuv unlinks the name that it bound when it closes. By then that could be another daemon's socket. So bind a temporary name,
    // and rename it over a socket that a kill -9 left.
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

/** Device and inode: identifies a file independent of its name. */
type FileId = `${bigint}:${bigint}`

function fileId(path: string): FileId | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/**
 * Throws ExitError when a daemon listens. The lock of the data folder does not keep two data folders from one
 * runtimeDir.
 */
async function refuseIfTaken(path: string): Promise<void> {
  const refusal = await knock(path)
  // Only these two mean that no daemon listens. A full backlog, or a socket that we may not open, has an owner.
  if (refusal === 'ENOENT' || refusal === 'ECONNREFUSED') return
  throw new ExitError(1, `another gatehouse listens at ${path}; give each its own runtimeDir`)
}
