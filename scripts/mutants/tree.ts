import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

export type Tree = {
  readonly folder: string
  /**
   * Makes these files again as they are. A patch taken back could land in another place that has the same lines around it.
   */
  restore(files: readonly string[]): void
  /** Leaves it to the next run. */
  release(): void
}

/**
 * A copy of the tree at a place that stays the same from run to run, so that compiled modules are found again; one
 * that no other run uses. Only what changed is copied anew.
 */
export function takeTree(): Tree {
  for (let number = 1; ; number += 1) {
    // Outside of the tree itself: tools that look upward for their settings must find those of the copy alone.
    const place = join(tmpdir(), `gatehouse-mutants-${process.getuid?.() ?? 0}-${basename(resolve('.'))}`, `${number}`)
    mkdirSync(place, { recursive: true })
    const lock = join(place, 'pid')
    if (isTaken(lock)) continue
    writeFileSync(lock, `${process.pid} ${number}`)
    const folder = join(place, 'tree')
    bringUpToDate(folder)
    const restore = (files: readonly string[]) => {
      for (const file of files)
        if (existsSync(file)) cpSync(file, join(folder, file), { preserveTimestamps: true })
        else rmSync(join(folder, file), { force: true })
    }
    return { folder, restore, release: () => rmSync(lock) }
  }
}

/** Taken by a process that lives, be it this one. */
function isTaken(lock: string): boolean {
  if (!existsSync(lock)) return false
  const [pid = ''] = readFileSync(lock, 'utf8').split(' ')
  return existsSync(`/proc/${pid}`)
}

function bringUpToDate(folder: string): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  const files = new Set(listed.split('\n').filter((file) => file && existsSync(file)))
  for (const file of files) {
    const copy = join(folder, file)
    // With their times: a lockfile that looks newer than the packages would have them installed anew, through the link.
    if (!isSame(file, copy)) cpSync(file, copy, { preserveTimestamps: true })
  }
  const left = globSync('**/*', { cwd: folder, exclude: (name) => name === '.git' || name === 'node_modules' })
  for (const file of left)
    if (!files.has(file) && !lstatSync(join(folder, file)).isDirectory()) rmSync(join(folder, file))
  linkIn(folder, 'node_modules')
  // Drawing footage takes longer than the tests that watch it, and making a PostgreSQL as long as starting it.
  for (const made of ['.cache/footage', '.cache/postgres']) linkIn(folder, made)
  if (!existsSync(join(folder, '.git'))) execFileSync('git', ['init', '-q'], { cwd: folder })
}

/** Gives the copy what the tree itself has. */
function linkIn(folder: string, name: string): void {
  const [own, link] = [resolve(name), join(folder, name)]
  mkdirSync(own, { recursive: true })
  mkdirSync(dirname(link), { recursive: true })
  const isLinked = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === own
  if (isLinked) return
  rmSync(link, { recursive: true, force: true })
  symlinkSync(own, link)
}

/** By content: a patch that an ended run left behind may have the same size and time. */
const isSame = (file: string, copy: string): boolean =>
  existsSync(copy) && lstatSync(file).mode === lstatSync(copy).mode && readFileSync(file).equals(readFileSync(copy))
