import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { credentialsFolder, expandCredentials } from '../platform/secrets/secret-file.ts'

/**
 * Returns a function that makes the paths of one file absolute. systemd makes the folder `${CREDENTIALS_DIRECTORY}` for the
 * credentials of a service. Without that folder (`config check`) a path that begins with it is unchanged.
 */
export function pathResolver(folder: string, env: NodeJS.ProcessEnv): (path: string) => string {
  return (path) => {
    const expanded = expandCredentials(path, env)
    return isAbsolute(expanded) || expanded.search(credentialsFolder) === 0 ? expanded : join(folder, expanded)
  }
}

/** Resolves the links of a folder, as far as it exists. They are resolved once, so a later change of a link has no effect. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realFolder(parent), basename(path))
  }
}
