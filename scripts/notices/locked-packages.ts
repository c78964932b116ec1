import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type LockedPackage = {
  /** Below the root: `node_modules/responselike/node_modules/lowercase-keys`. */
  readonly path: string
  readonly name: string
  readonly version: string
}

type LockEntry = { version: string; dev?: boolean; os?: string | string[]; cpu?: string | string[] }

/**
 * Returns the packages that `npm ci --omit=dev` installs on Linux for x64 and arm64 together, by the lockfile,
 * sorted by path.
 */
export function productionPackages(root: string): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  return Object.entries(packages)
    .filter(([path, { dev, os, cpu }]) => path && !dev && fits(os, ['linux']) && fits(cpu, ['x64', 'arm64']))
    .map(([path, { version }]) => ({ path, name: packageName(path), version }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** pkg's start-up code and its virtual file system are in the binary, though they are no production dependencies. */
export function packagers(root: string): LockedPackage[] {
  return ['node_modules/@yao-pkg/pkg', 'node_modules/@roberts_lando/vfs'].map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as LockedPackage
    return { path, name, version }
  })
}

function packageName(path: string): string {
  const last = 'node_modules/'
  return path.slice(path.lastIndexOf(last) + last.length)
}

/** npm's rule: no list is every one, `!x` is every one but x. */
function fits(listed: string | string[] | undefined, ours: readonly string[]): boolean {
  if (listed === undefined) return true
  const list = [listed].flat()
  const allowed = list.filter((one) => !one.startsWith('!'))
  return ours.some((one) => !list.includes(`!${one}`) && (allowed.length === 0 || allowed.includes(one)))
}
