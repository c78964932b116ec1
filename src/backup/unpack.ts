import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '../platform/faults.ts'
import { freeSpace, ownFile, sizeWords } from '../platform/index.ts'
import { sealedEnd } from './backup-names.ts'
import { type Bytes, withBytes } from './bytes.ts'
import {
  isMemberName,
  largestManifestBytes,
  ledgerName,
  type Manifest,
  manifestName,
  manifestSchema,
} from './manifest.ts'
import { SealedFileFault } from './sealing/pieces.ts'
import { isSealedFile, openSealedFile } from './sealing/sealed-file.ts'
import { readMembers, TarFault, type TarMember } from './tar.ts'

/** Why a backup cannot be used, as a sentence for the admin. */
export class BackupFault extends Error {}

const pieceBytes = 4 * 1024 * 1024

export type UnpackOptions = {
  /** An empty folder that takes the members. */
  readonly into: string
  /** The newest schema that this program knows. */
  readonly newestSchema: number
  /** Bytes to leave free on the disk of `into`. */
  readonly reserveBytes: number
  /** Whether photos and clips are unpacked too. */
  readonly media: boolean
  /** Opens a sealed backup. A backup that is not sealed is refused then: a person who can put a file there could have made it. */
  readonly recoveryKey?: Uint8Array | undefined
  readonly onPiece?: () => void
}

/**
 * Reads only the manifest of a backup, after every header was checked. Throws BackupFault when the file is none, or is cut.
 */
export function readManifest(file: string, recoveryKey?: Uint8Array): Manifest {
  return opened(file, recoveryKey, (bytes) => manifestOf(bytes, readMembers(bytes)))
}

/**
 * Unpacks a backup into an empty folder, and compares every member with the manifest. Nothing is written before the names, the
 * sizes and the room on the disk are checked. Throws BackupFault; files that were written by then stay for the caller to remove.
 */
export function unpackBackup(file: string, options: UnpackOptions): Manifest {
  return opened(file, options.recoveryKey, (bytes) => {
    const members = readMembers(bytes)
    const manifest = manifestOf(bytes, members)
    checkMembers(members, manifest)
    if (manifest.schema > options.newestSchema) {
      throw new BackupFault(
        `it was made by gatehouse ${manifest.version} with schema ${manifest.schema}, and this gatehouse knows schema ${options.newestSchema}; restore it with that version or a later one`,
      )
    }
    const damaged = new Set(manifest.damaged)
    const isWanted = ({ name }: TarMember) =>
      name !== manifestName && !damaged.has(name) && (options.media || !/^(photos|clips)\//.test(name))
    const wanted = members.filter(isWanted)
    demandRoom(wanted, options)
    const expected = new Map(manifest.files.map(({ name, sha256 }) => [name, sha256]))
    for (const member of wanted) {
      const found = unpack(bytes, member, join(options.into, member.name), options.onPiece)
      if (found !== expected.get(member.name)) {
        throw new BackupFault(`${member.name} does not have the bytes that the manifest states`)
      }
    }
    return manifest
  })
}

const notSealed =
  'is not sealed, as a backup of a storage server is, so anybody may have made it; a plain backup that you trust is restored from a file, without --recovery-key'

function opened<T>(file: string, recoveryKey: Uint8Array | undefined, work: (bytes: Bytes) => T): T {
  try {
    return withBytes(file, (bytes) => {
      if (isSealedFile(bytes)) return work(openSealedFile(bytes, recoveryKey))
      if (recoveryKey !== undefined || file.endsWith(sealedEnd)) throw new SealedFileFault(notSealed)
      if (bytes.sizeBytes >= 4) refuseOthers(bytes.read(0, 4))
      return work(bytes)
    })
  } catch (error) {
    if (error instanceof BackupFault) throw new BackupFault(`${file} is no backup to restore: ${error.message}`)
    if (error instanceof SealedFileFault) throw new BackupFault(`${file} ${error.message}`)
    if (error instanceof TarFault) {
      throw new BackupFault(`${file} is damaged or no backup of gatehouse: ${error.message}`)
    }
    const code = errorCode(error)
    if (code === 'ENOENT') throw new BackupFault(`there is no file ${file}`)
    if (code === 'EACCES') throw new BackupFault(`${file} cannot be read by this user (${code})`)
    throw error
  }
}

/** Names the files that people confuse with a backup. */
function refuseOthers(first: Buffer): void {
  if (first.readUInt16BE() === 0x1f8b) throw new BackupFault('it is compressed; unpack it with gunzip first')
  if (first.readUInt32BE() === 0x28b52ffd) throw new BackupFault('it is compressed; unpack it with zstd -d first')
  if (first.toString('latin1') === 'SQLi')
    throw new BackupFault('it is a database; a backup is made by gatehouse backup')
}

function manifestOf(bytes: Bytes, members: readonly TarMember[]): Manifest {
  const last = members.at(-1)
  if (last?.name !== manifestName) throw new BackupFault('it has no manifest at its end')
  if (last.sizeBytes > largestManifestBytes) throw new BackupFault('its manifest is too large')
  const read = manifestSchema.safeParse(parsed(bytes.read(last.at, last.sizeBytes).toString('utf8')))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new BackupFault(`its manifest is not one of gatehouse (${issue?.path.join('.')}: ${issue?.message})`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The manifest lists exactly the members that are there, and each has a place in a data folder. */
function checkMembers(members: readonly TarMember[], { files }: Manifest): void {
  const listed = new Map(files.map(({ name, sizeBytes }) => [name, sizeBytes]))
  for (const { name, sizeBytes } of members) {
    if (name === manifestName) continue
    if (!isMemberName(name)) throw new BackupFault(`${JSON.stringify(name)} has no place in a data folder`)
    if (listed.get(name) !== sizeBytes) throw new BackupFault(`${name} is not in its manifest with this size`)
    listed.delete(name)
  }
  const [lost] = listed.keys()
  if (lost !== undefined) throw new BackupFault(`${JSON.stringify(lost)} is in its manifest, but not in the file`)
  if (!members.some(({ name }) => name === ledgerName)) throw new BackupFault('it has no ledger')
}

function demandRoom(members: readonly TarMember[], { into, reserveBytes }: UnpackOptions): void {
  const needed = members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const left = freeSpace(into).bytes - reserveBytes
  if (left >= needed) return
  throw new BackupFault(
    `unpacking it needs ${sizeWords(needed)} at ${into}, and ${sizeWords(Math.max(left, 0))} are free beside the reserve of the ledger`,
  )
}

/** Writes one member to a new file, on disk when this returns. Returns its SHA-256, hex. */
function unpack(bytes: Bytes, { at, sizeBytes }: TarMember, path: string, onPiece = () => {}): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
  const fd = openSync(path, ownFile.write, 0o600)
  try {
    const hash = createHash('sha256')
    for (let done = 0; done < sizeBytes; ) {
      const piece = bytes.read(at + done, Math.min(pieceBytes, sizeBytes - done))
      hash.update(piece)
      for (let written = 0; written < piece.length; ) written += writeSync(fd, piece, written)
      done += piece.length
      if (piece.length === pieceBytes) onPiece()
    }
    fsyncSync(fd)
    return hash.digest('hex')
  } finally {
    closeSync(fd)
  }
}
