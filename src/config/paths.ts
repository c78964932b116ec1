import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { credentialsFolder, expandCredentials } from '../platform/secret-file.ts'

/**
 * Returns a function that makes the paths of one file absolute. `${CREDENTIALS_DIRECTORY}` is the folder that systemd
 * makes for the credentials of a service; without it (`config check`) a path that begins with it is unchanged.
 */
export function pathResolver(folder: string, env: NodeJS.ProcessEnv): (path: string) => string {
  return (path) => {
    const expanded = expandCredentials(path, env)
    return isAbsolute(expanded) || expanded.search(credentialsFolder) === 0 ? expanded : join(folder, expanded)
  }
}

/** Where a folder really is, as far as it is there: links are followed once, and not again when somebody changes them. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realFolder(parent), basename(path))
  }
}
