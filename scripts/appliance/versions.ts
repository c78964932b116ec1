import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../build/inputs.ts'
import { holds, run } from './trial.ts'

/**
 * Makes a package of another version from an existing one.
 * @param change changes the binary
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

/** Makes a binary that runs the previous one, except for `serve`, which runs the shell line. */
export function scriptFor(binary: string, serve: string): void {
  const lines = ['#!/bin/sh', `if [ "$1" = serve ]; then ${serve}; fi`]
  lines.push('exec /usr/lib/gatehouse/versions/previous "$@"', '')
  writeFileSync(binary, lines.join('\n'), { mode: 0o755 })
}

/**
 * Builds a version from a copy of the source. It adds a table to the schema, and reports itself unhealthy from 45 s after its
 * start. Returns the path of its binary.
 */
export async function buildSickVersion(to: string, version: string): Promise<string> {
  const left = new Set(['node_modules', 'dist', '.git', '.cache', 'test'])
  cpSync(root, to, { recursive: true, filter: (path) => !left.has(relative(root, path)) })
  // No symbolic link: the build refuses files outside of its tree. Hard links need the same file system.
  const packages = [join(root, 'node_modules'), join(to, 'node_modules')]
  await run('cp', ['-al', ...packages]).catch(() => run('cp', ['-a', ...packages]))
  change(join(to, 'package.json'), /"version": "[^"]+"/, `"version": "${version}"`)
  change(
    join(to, 'src/health/checks.ts'),
    /(export function overall\(.*\): CheckStatus \{\n)/,
    "$1  if (process.uptime() > 45) return 'unhealthy'\n",
  )
  const statement = "'CREATE TABLE sick (id INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT'"
  const step = `{ version: 17, name: 'sick', oldestReader: 16, statements: [${statement}] }`
  change(join(to, 'src/database/migrations/index.ts'), /(\n {2}release,\n)\]/, `$1  ${step},\n]`)
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', join(to, 'scripts/build.ts'), '--no-deb'])
  return join(to, `dist/gatehouse-linux-${process.arch}`)
}

function change(file: string, from: RegExp, to: string): void {
  const text = readFileSync(file, 'utf8')
  holds(from.test(text), `${file} does not hold ${from}`)
  writeFileSync(file, text.replace(from, to))
}
