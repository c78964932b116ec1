import { permissionsOf } from '../config/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import type { ImportOptions, ImportResult } from '../imports/index.ts'
import type { Gateway } from './compose.ts'

/** `by`: who is signed in at the box; the file system has let that one in. */
export type Import = (bytes: Buffer, options: ImportOptions, by: string) => Promise<ImportResult>

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
  const caller = { username, instance, role: 'admin' as const, groups: [], permissions, authMode }
  return { caller, requestId: makeId(), address: 'local' }
}
