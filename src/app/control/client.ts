import { join } from 'node:path'
import type { BackupMade, BackupRequest, CopiesWithNames } from '../../backup/index.ts'
import { ExitError } from '../../errors/index.ts'
import type { FullVerification, Proof, ProvableKind, RotatedKeys } from '../../evidence/index.ts'
import type { ErasureRequest, ErasureResult } from '../../governance/index.ts'
import type { ImportOptions, ImportResult } from '../../imports/index.ts'
import { answerBounds, dial, outsideRequest, systemClock, wholeAnswer } from '../../platform/index.ts'
import type { GatewayStatus } from './status.ts'
import type { UserCommand, UserOutcome } from './user-command.ts'
import type { AddedWarehouse, NamedWarehouse } from './warehouse-command.ts'

export const controlSocketPath = (runtimeDir: string): string => join(runtimeDir, 'control.sock')

/** `by`: the user of the box who gives the command. The daemon takes it from root alone, and else asks the kernel. */
export type ErasureCommand = ErasureRequest & { readonly by: string }
export type BackupCommand = Omit<BackupRequest, 'caller'> & { readonly by: string }
/** `folder`: absolute path of the folder that takes the data. */
export type ExportCommand = { readonly folder: string; readonly by: string }
export type AddWarehouseCommand = NamedWarehouse & { readonly by: string }
/** `compacted`: no older copy is left in the file. `kept`: copies elsewhere that still have the name. */
export type Erased = ErasureResult & { readonly compacted: boolean; readonly kept: CopiesWithNames }

/** Returns whether a daemon listens there and works on `dataDir`. */
export async function daemonServes(runtimeDir: string, dataDir: string): Promise<boolean> {
  return (await daemonAt(runtimeDir))?.dataDir === dataDir
}

/** Returns what the daemon that listens there works on; undefined: none listens. Throws ExitError when it does not answer. */
export async function daemonAt(runtimeDir: string): Promise<{ readonly dataDir: string } | undefined> {
  if ((await knock(controlSocketPath(runtimeDir))) !== undefined) return undefined
  return ask(runtimeDir, '/', 'say what it works on', { method: 'GET', timeoutMs: statusWithinMs })
}

/** The status asks the probes of the uplink, which may take 10 s; a daemon that hangs must not keep a person waiting. */
const statusWithinMs = 20_000
const askedEveryMs = 500

/**
 * Has the daemon verify its ledger, in a separate thread. Throws ExitError when it cannot.
 * @param onProgress gets the finished share, from 0 to 1; without it the daemon is not asked for it
 */
export async function verifyThroughDaemon(
  runtimeDir: string,
  onProgress?: (share: number) => void,
): Promise<FullVerification> {
  const asking = onProgress && setInterval(() => void askShare(runtimeDir).then(onProgress, () => {}), askedEveryMs)
  try {
    return await ask(runtimeDir, '/verify', 'verify')
  } finally {
    clearInterval(asking)
  }
}

async function askShare(runtimeDir: string): Promise<number> {
  const { share } = await ask<{ share: number | null }>(runtimeDir, '/verify', 'say how far it is', { method: 'GET' })
  return share ?? 0
}

/** Asks the daemon how the gateway is. Throws ExitError when it does not answer in time. */
export function statusThroughDaemon(runtimeDir: string): Promise<GatewayStatus> {
  return ask(runtimeDir, '/status', 'say how it is', { method: 'GET', timeoutMs: statusWithinMs })
}

/** Asks the daemon for its metrics. Throws ExitError when it does not answer in time. */
export async function metricsThroughDaemon(runtimeDir: string): Promise<string> {
  const options: RequestOptions = { method: 'GET', timeoutMs: statusWithinMs }
  return (await ask<{ text: string }>(runtimeDir, '/metrics', 'give its metrics', options)).text
}

/** A row that somebody at the box wants to be proved. */
export type ProofCommand = { readonly kind: ProvableKind; readonly id: number }

/** Has the daemon prove a row. Throws ExitError when it cannot. */
export function proveThroughDaemon(runtimeDir: string, command: ProofCommand): Promise<Proof> {
  return ask(runtimeDir, '/proof', 'prove it', { json: command })
}

/** Has the daemon give its log new keys. Throws ExitError when it cannot. */
export function rotateThroughDaemon(runtimeDir: string, command: { readonly by: string }): Promise<RotatedKeys> {
  return ask(runtimeDir, '/keys/rotate', 'rotate the keys', { json: command })
}

/** Has the daemon erase a person. Throws ExitError when it cannot. */
export function eraseThroughDaemon(runtimeDir: string, command: ErasureCommand): Promise<Erased> {
  return ask(runtimeDir, '/person/erase', 'erase', { json: command })
}

/** Has the daemon make a backup. Throws ExitError when it cannot. */
export function backupThroughDaemon(runtimeDir: string, command: BackupCommand): Promise<BackupMade> {
  return ask(runtimeDir, '/backup', 'make the backup', { json: command })
}

/** Has the daemon sign its newest leaves and note who exports all data. Throws ExitError when it cannot. */
export async function beginExportThroughDaemon(runtimeDir: string, command: ExportCommand): Promise<void> {
  await ask(runtimeDir, '/export', 'note the export', { json: command })
}

/** Has the daemon make a warehouse. Throws ExitError when it cannot. */
export function addWarehouseThroughDaemon(
  runtimeDir: string,
  wanted: NamedWarehouse,
  by: string,
): Promise<AddedWarehouse> {
  return ask(runtimeDir, '/warehouse/add', 'make it', { json: { ...wanted, by } satisfies AddWarehouseCommand })
}

/** Has the daemon list or change accounts. Throws ExitError when it cannot. */
export function userThroughDaemon(runtimeDir: string, command: UserCommand, by: string): Promise<UserOutcome> {
  return ask(runtimeDir, '/user', 'do that', { json: { ...command, by } })
}

/** Has the daemon import a list. Throws ExitError when it cannot. */
export function importThroughDaemon(
  runtimeDir: string,
  list: Buffer,
  { kind, dryRun, createZones, grid, warehouse }: ImportOptions,
  by: string,
): Promise<ImportResult> {
  const searchParams = {
    by,
    ...(dryRun && { dryRun }),
    ...(createZones && { createZones }),
    ...(grid && { grid }),
    ...(warehouse !== undefined && { warehouse }),
  }
  return ask(runtimeDir, `/import/${kind}`, 'take the list', { body: list, searchParams })
}

/** Connects and leaves again. Returns the code of the refusal; undefined when somebody is there. */
export function knock(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = dial({ path }, 0)
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}

type RequestOptions = Parameters<typeof outsideRequest>[1] & {
  /** For the whole answer; absent: as long as the command takes. */
  readonly timeoutMs?: number
}

/** Sends one command. Throws ExitError when the daemon refuses, and when it cannot be reached. */
async function ask<Result>(
  runtimeDir: string,
  path: string,
  what: string,
  options: RequestOptions = {},
): Promise<Result> {
  // A colon ends the path of the socket; encoded, it may be part of it.
  const socket = controlSocketPath(runtimeDir).split('/').map(encodeURIComponent).join('/')
  const { timeoutMs, ...rest } = options
  const sent = 'json' in rest || 'body' in rest || rest.method === 'GET' ? rest : { ...rest, body: '' }
  const request = outsideRequest(`http://unix:${socket}:${path}`, { method: 'POST', ...sent, enableUnixSockets: true })
  const limits = { ...answerBounds.daemon, ...(timeoutMs !== undefined && { totalMs: timeoutMs }) }
  const answer = await wholeAnswer(request, limits, { clock: systemClock })
  if (answer.kind === 'none') throw new ExitError(1, `the daemon cannot be reached: ${answer.why}`, answer.error)
  const { statusCode } = answer.head
  const body = jsonOf<Result & { error?: string }>(answer.body)
  if (statusCode === 200 && body !== undefined) return body
  throw new ExitError(1, `the daemon could not ${what}: ${body?.error ?? statusCode}`)
}

function jsonOf<Value>(body: Buffer): Value | undefined {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
