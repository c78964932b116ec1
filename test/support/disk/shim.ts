import { execFileSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { needs } from '../needs.ts'

/** For tests that record or disturb what a program does to its disk. */
export const withShim = needs('cc')

const numbers = { write: 2, sync: 4, rename: 5, unlink: 6, create: 1, open: 10, read: 11 } as const
const errnos = { EACCES: 13, EIO: 5, EMFILE: 24, EROFS: 30 } as const

export type Fault = {
  readonly on: readonly (keyof typeof numbers)[]
  /** Part of the path. */
  readonly part: string
  readonly errno?: keyof typeof errnos
  readonly delayMs?: number
}

const ruleAt = 128
const ruleBytes = 120

/** A library that records the changes below a folder, and makes faults in them while the program runs. */
export type DiskShim = {
  /** Environment of the program. */
  readonly env: NodeJS.ProcessEnv
  readonly trace: string
  /** Makes the only fault from now on; none without one. */
  fault(fault?: Fault): void
  /** Every look-up of a name takes so long, and fails. */
  hangNames(ms: number): void
}

/** Builds the shim for one test. @param root the folder; must exist */
export function diskShim(t: Pick<Test, 'teardown'>, root: string): DiskShim {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-shim-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const library = join(folder, 'shim.so')
  execFileSync('cc', [
    '-shared',
    '-fPIC',
    '-O1',
    '-o',
    library,
    join(import.meta.dirname, 'shim.c'),
    '-ldl',
    '-lpthread',
  ])
  const [trace, page] = [join(folder, 'trace'), join(folder, 'plan')]
  const fd = openSync(page, 'w+')
  t.teardown(() => closeSync(fd))
  ftruncateSync(fd, ruleAt + 16 * ruleBytes)
  const fault = (rule?: Fault) => {
    const bytes = Buffer.alloc(ruleBytes)
    // The mask is written last: it switches the rule on.
    writeSync(fd, bytes, 0, 4, ruleAt)
    if (!rule) return
    bytes.writeInt32LE(rule.errno ? errnos[rule.errno] : 0, 4)
    bytes.writeUInt32LE(rule.delayMs ?? 0, 8)
    bytes.writeUInt32LE(1_000_000, 12)
    bytes.writeBigInt64LE(-1n, 24)
    bytes.write(rule.part, 40)
    writeSync(fd, bytes, 4, ruleBytes - 4, ruleAt + 4)
    const mask = Buffer.alloc(4)
    mask.writeUInt32LE(rule.on.reduce((sum, op) => sum | (1 << numbers[op]), 0))
    writeSync(fd, mask, 0, 4, ruleAt)
  }
  const hangNames = (ms: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(ms)
    writeSync(fd, bytes, 0, 4, 8)
  }
  const env = { ...process.env, LD_PRELOAD: library, DISK_ROOT: root, DISK_TRACE: trace, DISK_PLAN: page }
  return { env, trace, fault, hangNames }
}
