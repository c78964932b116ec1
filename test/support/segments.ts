import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { folderSource, loadRecoveryKey, type Restored, restoreSegments } from '../../src/backup/index.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { newFolder, stocked } from './backups.ts'
import type { TestGateway } from './gateway.ts'

/** A gateway with slot A and one pallet, that writes segments to a folder. */
export async function segmenting(
  t: Test,
  segments: Record<string, unknown> = {},
): Promise<{ gateway: TestGateway; folder: string }> {
  const folder = newFolder(t)
  const gateway = await stocked(t, { backup: { segments: { to: { folder }, ...segments } } })
  t.teardown(() => gateway.segmentJobs.stop())
  return { gateway, folder }
}

/** Writes what is new. Throws when that failed. */
export async function written(gateway: TestGateway): Promise<void> {
  await gateway.segments.look()
  const { fault } = gateway.segments.seen()
  if (fault !== null) throw new Error(fault)
}

/** Paths of the files below a folder, by name. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

export const segmentsIn = (folder: string): string[] => filesBelow(folder).filter((file) => file.endsWith('.seg'))

export const recoveryKeyOf = (gateway: TestGateway): Buffer =>
  loadRecoveryKey(gateway.live.config.dataDir, systemRandom)

/** Restores segments of a folder into a data folder, as the command does. */
export function restoredFrom(
  folder: string,
  dataDir: string,
  options: {
    recoveryKey: Uint8Array
    siteId?: string
    asFarAsWhole?: boolean
    source?: ReturnType<typeof folderSource>
    acceptFork?: boolean
    erase?: (dataDir: string, names: readonly string[]) => Promise<void>
  },
): Promise<Restored> {
  const nowMs = Date.parse('2026-03-02T20:00:00Z')
  return restoreSegments({
    ...{
      source: options.source ?? folderSource(folder),
      dataDir,
      siteId: options.siteId ?? 'test-site',
      reserveBytes: 0,
      nowMs,
    },
    acceptFork: options.acceptFork ?? false,
    asFarAsWhole: options.asFarAsWhole ?? false,
    recoveryKey: options.recoveryKey,
    makeId: uuidv7Maker({ now: () => nowMs }, systemRandom),
    erase: options.erase ?? (() => Promise.reject(new Error('nobody was erased in this story'))),
  })
}
