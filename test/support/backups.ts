import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Restored, restoreBackup } from '../../src/backup/index.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from './gateway.ts'

/** An empty folder that is gone after the test. */
export function newFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A gateway with slot A and one pallet with its photo. */
export async function stocked(t: Test, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => rmSync(gateway.folder, { recursive: true, force: true }))
  t.teardown(() => gateway.close())
  t.teardown(() => gateway.backupJobs.stop())
  await furnish(gateway, ['A'])
  await place(gateway, 1)
  return gateway
}

/** Places pallet P-`n` in slot A; each has its own photo. */
export async function place(gateway: TestGateway, n: number, more: Record<string, unknown> = {}): Promise<void> {
  const photo_url = await heldPhoto(gateway, n)
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${n}`, photo_url, ...more }
  const { status, text } = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  if (status !== 201) throw new Error(`not recorded: ${status} ${text}`)
}

/** Backs a gateway up to a new folder; returns the file. */
export async function backedUp(t: Test, gateway: TestGateway, media = false): Promise<string> {
  const target = join(newFolder(t), 'gatehouse.tar')
  await gateway.backup({ target, media }, 'root')
  return target
}

/** Unpacks with the system's tar. */
export function unpacked(t: Test, file: string): string {
  const into = newFolder(t)
  execFileSync('tar', ['-xf', file, '-C', into])
  return into
}

// biome-ignore lint/suspicious/noExplicitAny: tests change any part of it.
export type AnyManifest = any

export const manifestIn = (folder: string): AnyManifest =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
export const sha256Of = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Packs an unpacked backup again, with a manifest that agrees with the changed files. */
export function repacked(t: Test, folder: string, change: (manifest: AnyManifest) => void = () => {}): string {
  const manifest = manifestIn(folder)
  for (const file of manifest.files) {
    file.sha256 = sha256Of(join(folder, file.name))
    file.sizeBytes = statSync(join(folder, file.name)).size
  }
  change(manifest)
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  const out = join(newFolder(t), 'changed.tar')
  const names = manifest.files.map(({ name }: { name: string }) => name)
  execFileSync('tar', ['--format=ustar', '-cf', out, '-C', folder, ...names, 'manifest.json'])
  return out
}

/** Restores a file into a data folder, as the command does; erasing is left to the command. */
export function restored(
  file: string,
  dataDir: string,
  options: { acceptFork?: boolean; again?: boolean; siteId?: string; nowMs?: number } = {},
): Promise<Restored> {
  const nowMs = options.nowMs ?? Date.parse('2026-03-02T20:00:00Z')
  return restoreBackup({
    ...{ backup: file, dataDir, siteId: options.siteId ?? 'test-site', acceptFork: options.acceptFork ?? false },
    ...{ reserveBytes: 0, nowMs, again: options.again ?? false },
    makeId: uuidv7Maker({ now: () => nowMs }, systemRandom),
    erase: () => Promise.reject(new Error('nobody was erased in this story')),
  })
}

/** Opens a gateway on a folder in which something was restored. */
export async function opened(t: Test, folder: string): Promise<TestGateway> {
  const gateway = await testGateway({ folder })
  t.teardown(() => gateway.close())
  t.teardown(() => gateway.backupJobs.stop())
  return gateway
}

/** Barcodes of all events, as a caller sees them. */
export async function barcodes(gateway: TestGateway): Promise<string[]> {
  const { body } = await gateway.ask('GET', '/api/whms/events?limit=500', { by: people.ada })
  return body.data.map(({ asset_barcode }: { asset_barcode: string }) => asset_barcode).toSorted()
}
