import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chanceOf } from '../../../scripts/simulate/leaves.ts'
import { diskShim } from '../disk/shim.ts'
import { type Change, type DiskModel, type Kept, RecordedDisk, readTrace } from '../disk/trace.ts'
import { nodeOnSources } from '../process.ts'
import type { Acknowledged } from './acknowledged.ts'
import { checkAfterCut } from './check.ts'

/** Ways to break the code on purpose, each as if a sync were missing in the source. */
export const breaks = ['synchronous-off', 'synchronous-normal', 'no-folder-sync', 'no-content-sync'] as const
export type Break = (typeof breaks)[number]

export type CutReport = {
  readonly seed: number
  readonly changes: number
  readonly syncs: number
  readonly tried: number
  /** Tries until the first loss; null: none was found. */
  readonly firstLossAt: number | null
  readonly losses: readonly string[]
}

/** A recorded life. `folder` is where its disks are made: its config has absolute paths. */
export type Life = {
  readonly folder: string
  readonly base: string
  readonly changes: readonly Change[]
  /** Removes its files. */
  readonly end: () => void
}

type CutOptions = {
  readonly points: number
  readonly seed: number
  /** Leaves syncs out of the record, as if they were missing in the source. */
  readonly broken?: Break | undefined
  /** Ends the run after so many losses. */
  readonly maxLosses?: number
}

const metadata: ReadonlySet<string> = new Set([
  'create',
  'rename',
  'unlink',
  'mkdir',
  'sync folder',
  'truncate',
  'link',
])

/** Runs the life of a gateway under the shim. @param broken breaks the durability of its database */
export function recordLife(broken?: Break): Life {
  // Tens of thousands of disks are written; none of them has to last.
  const parent = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-power-'))
  const ends: (() => void)[] = [() => rmSync(parent, { recursive: true, force: true })]
  const end = () => {
    for (const one of ends.splice(0).toReversed()) one()
  }
  const [folder, base] = [join(parent, 'box'), join(parent, 'base')]
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'cloud-password'), 'app-password\n', { mode: 0o600 })
    const life = join(import.meta.dirname, 'life.ts')
    const [command, ...args] = nodeOnSources
    const quiet: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] }
    execFileSync(command, [...args, life, folder, 'prepare'], quiet)
    cpSync(folder, base, { recursive: true })
    const shim = diskShim({ teardown: (one: () => void) => void ends.push(one) }, folder)
    execFileSync(command, [...args, life, folder], { ...quiet, env: { ...shim.env, ...(broken && { BREAK: broken }) } })
    return { folder, base, changes: readTrace(shim.trace), end }
  } catch (error) {
    end()
    throw error
  }
}

/** Cuts the power at many points of a life, and starts what is left of the disk. */
export async function cutPower(life: Life, options: CutOptions): Promise<CutReport> {
  const { points, seed, broken, maxLosses = 10 } = options
  const changes = life.changes.filter((change) => !isLeftOut(change, broken))
  const chance = chanceOf(seed)
  const disks = (['posix', 'ordered'] as const).map((model) => ({ model, disk: new RecordedDisk(model) }))
  for (const { disk } of disks) disk.load(life.base)
  const losses: string[] = []
  let [at, tried, firstLossAt] = [0, 0, null as number | null]
  for (const point of pointsOf(changes, points, chance)) {
    for (const change of changes.slice(at, point)) for (const { disk } of disks) disk.apply(change)
    at = point
    const one = disks[Math.floor(chance() * disks.length)]
    if (!one || losses.length >= maxLosses) break
    const kept = keptBy(chance())
    tried += 1
    const loss = await lossOf(one.disk, life.folder, kept, chance)
    if (loss === undefined) continue
    firstLossAt ??= tried
    losses.push(wordsOf({ point, changes, ...one, kept, loss }))
  }
  const syncs = changes.filter(({ op }) => op === 'sync' || op === 'sync folder').length
  return { seed, changes: changes.length, syncs, tried, firstLossAt, losses }
}

function isLeftOut({ op, path }: Change, broken: Break | undefined): boolean {
  if (broken === 'no-folder-sync') return op === 'sync folder'
  return broken === 'no-content-sync' && op === 'sync' && !/gatehouse\.(db|lock)/.test(path)
}

/** Half of them anywhere, half beside a change of an entry, where the order matters most. Sorted. */
function pointsOf(changes: readonly Change[], count: number, chance: () => number): number[] {
  const near = changes.flatMap(({ op }, at) => (metadata.has(op) ? [at] : []))
  const pick = (n: number) =>
    n % 2 === 0
      ? Math.floor(chance() * changes.length)
      : (near[Math.floor(chance() * near.length)] ?? 0) + Math.floor(chance() * 3)
  return Array.from({ length: count }, (_, n) => Math.min(pick(n), changes.length)).toSorted((a, b) => a - b)
}

const keptBy = (dice: number): Kept => (dice < 0.3 ? 'none' : dice < 0.9 ? 'some' : 'all')

async function lossOf(
  disk: RecordedDisk,
  folder: string,
  kept: Kept,
  chance: () => number,
): Promise<string | undefined> {
  disk.writeCut(folder, kept, chance)
  try {
    await checkAfterCut(
      folder,
      disk.marks.map((line): Acknowledged => JSON.parse(line)),
    )
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function wordsOf(cut: {
  readonly point: number
  readonly changes: readonly Change[]
  readonly model: DiskModel
  readonly disk: RecordedDisk
  readonly kept: Kept
  readonly loss: string
}): string {
  const { point, changes, model, disk, kept, loss } = cut
  const last = changes[point - 1]
  const chapter = disk.marks.findLast((line) => line.includes('"chapter"')) ?? 'the start'
  return `change ${point} (${last?.op} ${last?.path}), ${model}, ${kept} of the rest kept, after ${chapter}: ${loss}`
}
