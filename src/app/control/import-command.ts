import { permissionsOf } from '../../config/index.ts'
import type { RequestOrigin } from '../../http/index.ts'
import type { ImportOptions, ImportResult } from '../../imports/index.ts'
import type { Gateway } from '../compose.ts'

/** `by`: name of the person at the box; file permissions of the socket admitted them. */
export type Import = (bytes: Buffer, options: ImportOptions, by: string) => Promise<ImportResult>

/** Returns a function that imports a list in the name of the person at the box, with an admin's permissions. */
export function importer(gateway: Pick<Gateway, 'imports' | 'live' | 'makeId'>): Import {
  return (bytes, options, by) => gateway.imports.import(bytes, options, atTheBox(gateway, by, 'import'))
}

/** Returns the caller for a person at the box, with an admin's permissions. `authMode` goes into the audit trail. */
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
