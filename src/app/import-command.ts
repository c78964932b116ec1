import { type IncomingMessage, request } from 'node:http'
import { permissionsOf } from '../auth/index.ts'
import { AppError, ExitError } from '../errors/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import { type ImportOptions, type ImportResult, listKinds, listLimitBytes } from '../imports/index.ts'
import type { Gateway } from './compose.ts'

/** `by`: who is signed in at the box; the file system has let that one in. */
export type Import = (bytes: Buffer, options: ImportOptions, by: string) => Promise<ImportResult>

export const importPath = '/import/'
const importerHeader = 'x-gatehouse-importer'

/** Takes lists in the name of somebody at the box, who may do all that an admin may. */
export function importer(gateway: Pick<Gateway, 'imports' | 'live' | 'makeId'>): Import {
  return (bytes, options, by) => gateway.imports.import(bytes, options, atTheBox(gateway, by, 'import'))
}

/** Somebody at the box, who may do all that an admin may. `authMode`: what the audit trail says of how they came in. */
export function atTheBox(
  { live, makeId }: Pick<Gateway, 'live' | 'makeId'>,
  username: string,
  authMode: 'import' | 'command',
): RequestOrigin {
  const instance = live.config.site.url
  const permissions = permissionsOf('admin')
  const caller = { username, instance, role: 'admin', groups: [], permissions, authMode }
  return { caller, requestId: makeId(), address: 'local' }
}

/** Answers POST /import/KIND: the body is the list, byte for byte. */
export async function answerImport(incoming: IncomingMessage, run: Import): Promise<{ status: number; body: object }> {
  try {
    const url = new URL(incoming.url ?? '/', 'http://control')
    const kind = listKinds.find((known) => url.pathname === `${importPath}${known}`)
    if (!kind) return { status: 404, body: { error: 'no such list' } }
    const asked = url.searchParams
    const options = {
      kind,
      dryRun: asked.has('dryRun'),
      createZones: asked.has('createZones'),
      grid: asked.has('grid'),
      warehouse: asked.get('warehouse') ?? undefined,
    }
    const by = Buffer.from(String(incoming.headers[importerHeader] ?? ''), 'base64url').toString('utf8')
    return { status: 200, body: await run(await bytesOf(incoming), options, by) }
  } catch (error) {
    return { status: 500, body: { error: sentenceOf(error) } }
  }
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of message) {
    size += (part as Buffer).length
    if (size > listLimitBytes) throw new AppError('BODY_TOO_LARGE', 'The list is too large')
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts)
}

/** Sends the list to the daemon behind the socket. Throws ExitError when it can't take it. */
export async function sendImport(
  socketPath: string,
  bytes: Buffer,
  { kind, dryRun, createZones, grid, warehouse }: ImportOptions,
  by: string,
): Promise<ImportResult> {
  const query = new URLSearchParams({
    ...(dryRun && { dryRun: '1' }),
    ...(createZones && { createZones: '1' }),
    ...(grid && { grid: '1' }),
    ...(warehouse !== undefined && { warehouse }),
  })
  const { status, body } = await post(socketPath, `${importPath}${kind}?${query}`, bytes, by)
  if (status === 200) return body as ImportResult
  throw new ExitError(1, `the daemon could not take the list: ${(body as { error?: string }).error ?? status}`)
}

function post(
  socketPath: string,
  path: string,
  bytes: Buffer,
  by: string,
): Promise<{ status: number | undefined; body: unknown }> {
  return new Promise((resolve, reject) => {
    // A header takes no letters beyond Latin 1; names have them.
    const headers = { [importerHeader]: Buffer.from(by).toString('base64url'), 'Content-Length': bytes.length }
    const asked = request({ socketPath, method: 'POST', path, headers }, (response) => {
      bytesOf(response)
        .then((answer) => ({ status: response.statusCode, body: JSON.parse(answer.toString('utf8')) as unknown }))
        .then(resolve, reject)
    })
    asked.once('error', (error) => reject(new ExitError(1, `the daemon can't be reached: ${error.message}`, error)))
    asked.end(bytes)
  })
}

/** What went wrong, for the person at the box. */
function sentenceOf(error: unknown): string {
  if (error instanceof AppError) return error.details ? `${error.message}: ${error.details}` : error.message
  return error instanceof Error ? error.message : String(error)
}
