import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holds, run } from './trial.ts'

/**
 * Makes a package of another version from one that is there.
 * @param change what becomes of the binary
 */
export async function otherVersion(
  deb: string,
  { to, version, change }: { to: string; version: string; change: (binary: string) => void },
): Promise<string> {
  const tree = join(to, `tree-${version}`)
  await run('dpkg-deb', ['-R', deb, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}`))
  change(join(tree, 'usr/bin/gatehouse'))
  const made = join(to, `gatehouse_${version}.deb`)
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, made])
  rmSync(tree, { recursive: true })
  return made
}

/** Gives a binary another version of the same length, as a build of a later commit would. */
export function renumber(binary: string, from: string, to: string): void {
  const bytes = readFileSync(binary)
  const old = Buffer.from(`version:"${from}",commit`)
  const next = Buffer.from(`version:"${to}",commit`)
  let found = 0
  for (let at = bytes.indexOf(old); at >= 0; at = bytes.indexOf(old, at)) {
    next.copy(bytes, at)
    found += 1
  }
  holds(found > 0, `the binary does not say that it is version ${from}`)
  writeFileSync(binary, bytes, { mode: 0o755 })
}

/** Makes a binary that does everything but serve. */
export function breakServing(binary: string): void {
  const lines = ['#!/bin/sh', '[ "$1" != serve ] || exit 1', 'exec /usr/lib/gatehouse/versions/previous "$@"', '']
  writeFileSync(binary, lines.join('\n'), { mode: 0o755 })
}
