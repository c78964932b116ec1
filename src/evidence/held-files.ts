import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { everyClip, fileOf } from '../cameras/index.ts'
import type { ReadTx } from '../database/index.ts'
import { everyReportFile, reportFile } from '../governance/index.ts'
import { everyListHash, listFile } from '../imports/index.ts'
import { heldPhotos, removalOf, removalsOfDetection } from '../log/index.ts'
import { photoFile } from '../photos/index.ts'
import { ownFile } from '../platform/index.ts'
import { everyRedactedFile } from '../privacy/index.ts'
import type { Findings } from './findings.ts'

/** A file that a row names. */
export type HeldFile = {
  readonly what: string
  /** Photos, clips and snapshots are large and many; documents (reports, lists) are small and few. */
  readonly kind: 'media' | 'document'
  readonly path: string
  readonly sha256: string
  /** Whether a leaf states that the file was removed. Then it may be gone. */
  readonly isRemoved?: boolean
}

/** Returns every file that a row names; paths begin with `dataDir`. */
export function heldFiles(tx: ReadTx, dataDir: string): HeldFile[] {
  return [
    ...photos(tx, dataDir),
    ...clips(tx, dataDir),
    ...redactedCopies(tx, dataDir),
    ...reports(tx, dataDir),
    ...openingLists(tx, dataDir),
  ]
}

/** `onShare` gets the share of files that were read, from 0 to 1. */
type FileOptions = {
  /** A restored ledger may be there before its photos and clips: missing files are counted, not reported. */
  readonly mayLackFiles: boolean
  readonly onShare: (share: number) => void
}

/** Compares the hash of every file that a row names. @returns how many files rows name, and how many of them may lack and do */
export function checkFiles(
  tx: ReadTx,
  findings: Findings,
  dataDir: string,
  { mayLackFiles, onShare }: FileOptions,
): { named: number; lacking: number } {
  const files = heldFiles(tx, dataDir)
  let lacking = 0
  for (const [i, { what, path, sha256, isRemoved }] of files.entries()) {
    onShare(i / files.length)
    const found = hashOfFile(path)
    if (found === undefined && isRemoved) continue
    if (found === undefined && mayLackFiles) lacking += 1
    else if (found === undefined) findings.add(what, 'its file is not there')
    else if (found !== sha256) findings.add(what, 'its file has other bytes')
  }
  return { named: files.length, lacking }
}

function photos(tx: ReadTx, dataDir: string): HeldFile[] {
  return heldPhotos(tx).map(({ sha256, mediaType }) => ({
    what: `photo ${sha256.slice(0, 16)}…`,
    kind: 'media',
    path: photoFile(dataDir, { sha256, mediaType }),
    sha256,
    isRemoved: removalOf(tx, sha256) !== undefined,
  }))
}

function clips(tx: ReadTx, dataDir: string): HeldFile[] {
  return everyClip(tx).flatMap((row) => {
    const removals = removalsOfDetection(tx, row.id)
    return (['clip', 'snapshot'] as const).flatMap((kind) => {
      const sha256 = kind === 'clip' ? row.clip_sha256 : row.snapshot_sha256
      const path = join(dataDir, 'clips', fileOf(row.id, kind))
      const isRemoved = removals.some((removal) => removal.media_kind === kind && removal.sha256 === sha256)
      return sha256 === null ? [] : [{ what: `${kind} of detection ${row.id}`, kind: 'media', path, sha256, isRemoved }]
    })
  })
}

function redactedCopies(tx: ReadTx, dataDir: string): HeldFile[] {
  return everyRedactedFile(tx).map(({ detectionId, redactionId, media_kind: kind, sha256, file }) => ({
    what: `${kind} of redacted copy ${redactionId}`,
    kind: 'media',
    path: join(dataDir, 'clips', file),
    sha256,
    isRemoved: removalsOfDetection(tx, detectionId).some((removal) => removal.sha256 === sha256),
  }))
}

function reports(tx: ReadTx, dataDir: string): HeldFile[] {
  return everyReportFile(tx).map(({ id, sha256 }) => ({
    what: `file of report ${id}`,
    kind: 'document',
    path: reportFile(dataDir, sha256),
    sha256,
  }))
}

function openingLists(tx: ReadTx, dataDir: string): HeldFile[] {
  return everyListHash(tx).map((sha256) => ({
    what: `list of opening stock ${sha256.slice(0, 16)}…`,
    kind: 'document',
    path: listFile(dataDir, sha256),
    sha256,
  }))
}

/** Returns the SHA-256 of a file, hex; undefined when it cannot be read. */
export function hashOfFile(file: string): string | undefined {
  try {
    const fd = openSync(file, ownFile.read)
    try {
      const hash = createHash('sha256')
      const part = Buffer.alloc(1 << 20)
      for (let read = readSync(fd, part); read > 0; read = readSync(fd, part)) hash.update(part.subarray(0, read))
      return hash.digest('hex')
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
