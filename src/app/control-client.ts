import { connect } from 'node:net'
import { join } from 'node:path'
import got, { type OptionsInit, RequestError } from 'got'
import type { BackupMade, BackupRequest } from '../backup/index.ts'
import { ExitError } from '../errors/index.ts'
import type { Proof, ProvableKind, Verification } from '../evidence/index.ts'
import type { ErasureRequest, ErasureResult } from '../governance/index.ts'
import type { ImportOptions, ImportResult } from '../imports/index.ts'
import type { AddedWarehouse, NamedWarehouse } from './warehouse-command.ts'

export const controlSocketPath = (runtimeDir: string): string => join(runtimeDir, 'control.sock')

/** `by`: the user of the box who gives the command; the file system has let that user in. */
export type ErasureCommand = ErasureRequest & { readonly by: string }
export type BackupCommand = Omit<BackupRequest, 'caller'> & { readonly by: string }
export type AddWarehouseCommand = NamedWarehouse & { readonly by: string }
/** `compacted`: no older copy is left in the file. */
export type Erased = ErasureResult & { readonly compacted: boolean }

/** Whether a daemon listens there and works on `dataDir`. */
export async function daemonServes(runtimeDir: string, dataDir: string): Promise<boolean> {
  if ((await knock(controlSocketPath(runtimeDir))) !== undefined) return false
  const served = await ask<{ dataDir: string }>(runtimeDir, '/', 'say what it works on', { method: 'GET' })
  return served.dataDir === dataDir
}

const askedEveryMs = 500

/**
 * Has the daemon verify its ledger, in a thread of its own. Throws ExitError when it can't.
 * @param onProgress gets the share that is done, from 0 to 1; only then is the daemon asked for it
 */
export async function verifyThroughDaemon(
  runtimeDir: string,
  onProgress?: (share: number) => void,
): Promise<Verification> {
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

/** A row that somebody at the box wants to be proved. */
export type ProofCommand = { readonly kind: ProvableKind; readonly id: number }

/** Has the daemon prove a row. Throws ExitError when it can't. */
export function proveThroughDaemon(runtimeDir: string, command: ProofCommand): Promise<Proof> {
  return ask(runtimeDir, '/proof', 'prove it', { json: command })
}

/** Has the daemon erase a person. Throws ExitError when it can't. */
export function eraseThroughDaemon(runtimeDir: string, command: ErasureCommand): Promise<Erased> {
  return ask(runtimeDir, '/person/erase', 'erase', { json: command })
}

/** Has the daemon make a backup. Throws ExitError when it can't. */
export function backupThroughDaemon(runtimeDir: string, command: BackupCommand): Promise<BackupMade> {
  return ask(runtimeDir, '/backup', 'make the backup', { json: command })
}

/** Has the daemon make a warehouse. Throws ExitError when it can't. */
export function addWarehouseThroughDaemon(
  runtimeDir: string,
  wanted: NamedWarehouse,
  by: string,
): Promise<AddedWarehouse> {
  return ask(runtimeDir, '/warehouse/add', 'make it', { json: { ...wanted, by } satisfies AddWarehouseCommand })
}

/** Has the daemon import a list. Throws ExitError when it can't. */
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
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message))
  })
}

/** Sends one command. Throws ExitError for what the daemon refuses, and when it can't be reached. */
async function ask<Result>(runtimeDir: string, path: string, what: string, options: OptionsInit = {}): Promise<Result> {
  // A colon ends the path of the socket; encoded, it may stand in it.
  const socket = controlSocketPath(runtimeDir).split('/').map(encodeURIComponent).join('/')
  const { statusCode, body } = await got<Result & { error?: string }>(`http://unix:${socket}:${path}`, {
    method: 'POST',
    ...options,
    enableUnixSockets: true,
    retry: { limit: 0 },
    throwHttpErrors: false,
    responseType: 'json',
    resolveBodyOnly: false,
  }).catch((error: unknown) => {
    if (!(error instanceof RequestError)) throw error
    throw new ExitError(1, `the daemon can't be reached: ${error.message}`, error)
  })
  if (statusCode === 200) return body
  throw new ExitError(1, `the daemon could not ${what}: ${body.error ?? statusCode}`)
}
