import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyDatabase, databaseFile, executor, openReader, type ReadTx, sizeOfDatabase } from '../database/index.ts'
import { type HeldFile, heldFiles, heldKeys, keyFiles, keyFolder, LogSigner } from '../evidence/index.ts'
import { headOf } from '../ledger/index.ts'
import { type KnownLog, knownLogs, newestCheckpoint } from '../log/index.ts'
import { errorCode, errorMessage } from '../platform/faults.ts'
import { freeSpace, isoTime, type RandomBytes, readFileIfThere, sizeWords, syncFolder } from '../platform/index.ts'
import { originOfLog } from '../proof/index.ts'
import { ArchiveWriter } from './archive-writer.ts'
import { backupFormat, ledgerName, type Manifest, manifestName } from './manifest.ts'
import { Pace, stepBack } from './pace.ts'
import { loadRecoveryKey } from './recovery-key.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import { tarredBytes } from './tar.ts'

export type BackupOrder = {
  readonly dataDir: string
  /** Absolute path of the file to make. */
  readonly target: string
  /** Whether photos and clips go along. */
  readonly media: boolean
  /** Whether only the recovery key opens the file. */
  readonly sealed: boolean
  /** Files of the config, absolute. */
  readonly settings: readonly string[]
  /** Bytes to leave free on the disk of the ledger. */
  readonly reserveBytes: number
  readonly version: string
  readonly nowMs: number
  /** Whether a gateway serves meanwhile. */
  readonly beside: boolean
}

/** Facts of a backup that was made; nothing secret. */
export type BackupMade = Omit<Manifest, 'files' | 'media' | 'settings' | 'format'> & {
  readonly path: string
  readonly sizeBytes: number
  /** SHA-256 of the file, hex. */
  readonly sha256: string
  readonly files: number
  /** Photos and clips in it, and those that rows name and that are left out. */
  readonly mediaFiles: number
  readonly mediaLeftOut: number
}

/** Further files of the data folder that hold settings. */
const loneFiles = ['first-admin', 'metrics-token']

/**
 * Makes a backup of a data folder in one file. It holds the ledger of one moment, keys, settings, documents, and on request photos
 * and clips. The file appears under its name when it is whole and on disk. The ledger must have a checkpoint. Runs beside a gateway
 * that writes. Throws an Error with a sentence for the admin.
 */
export async function makeBackup(order: BackupOrder, random: RandomBytes): Promise<BackupMade> {
  const { dataDir, target, beside } = order
  if (beside) stepBack()
  const part = `${target}.part`
  const copy = `${target}.part-ledger`
  const room = new TargetRoom(order)
  const pace = new Pace(beside)
  const onStep = () => {
    room.look()
    pace.rest()
  }
  try {
    if (existsSync(target)) throw new Error(`${target} exists already; name another file, or remove it first`)
    for (const old of [part, copy]) rmSync(old, { force: true })
    room.demand(2 * sizeOfDatabase(databaseFile(dataDir)).bytes)
    // Made before the keys are read, so that the backup has it.
    if (order.sealed) loadRecoveryKey(dataDir, random)
    const keys = await copyWithKeys(dataDir, copy, onStep)
    const ledger = readCopy(copy, dataDir)
    const made = writeArchive(order, { part, copy, ledger, keys, room, onStep, random })
    giveName(part, target)
    return made
  } catch (error) {
    throw room.explain(error)
  } finally {
    for (const old of [part, copy]) rmSync(old, { force: true })
  }
}

/** Files of the folder of keys, by name. */
type KeyFiles = ReadonlyMap<string, Buffer>

const copiesDuringRotation = 3

/** Copies the database with the keys of the same moment: when keys are rotated meanwhile, it is copied again. */
async function copyWithKeys(dataDir: string, copy: string, onStep: () => void): Promise<KeyFiles> {
  for (let round = 1; ; round += 1) {
    const before = readKeyFiles(dataDir)
    await copyDatabase(databaseFile(dataDir), copy, onStep)
    const keys = readKeyFiles(dataDir)
    if ([...keys].every(([name, bytes]) => before.get(name)?.equals(bytes)) && keys.size === before.size) return keys
    if (round === copiesDuringRotation) throw new Error('the keys of the log are being rotated; try again')
    rmSync(copy, { force: true })
  }
}

/** Head and count are left out: the box may have signed and counted more leaves than the copy has. */
function readKeyFiles(dataDir: string): KeyFiles {
  const folder = keyFolder(dataDir)
  const isOfBox: string[] = [keyFiles.head, keyFiles.count]
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !isOfBox.includes(entry.name) && !entry.name.includes('.part'))
    .map(({ name }) => name)
  return new Map(
    names.flatMap((name) => {
      const bytes = readFileIfThere(join(folder, name))
      return bytes ? [[name, bytes] as const] : []
    }),
  )
}

type CopiedLedger = {
  readonly log: KnownLog
  readonly root: Buffer
  readonly checkpoint: { readonly size: number; readonly root: Buffer; readonly note: string }
  readonly keys: readonly string[]
  readonly schema: number
  readonly lastEventMs: number | null
  readonly held: readonly HeldFile[]
}

function readCopy(copy: string, dataDir: string): CopiedLedger {
  const { schema } = sizeOfDatabase(copy)
  const db = openReader(copy)
  try {
    const tx = executor(db)
    const log = knownLogs(tx).at(-1)
    const checkpoint = log && newestCheckpoint(tx, log.number)
    if (!log || !checkpoint) {
      throw new Error('the log has no signed checkpoint yet; wait a minute, or see why in the log of the gateway')
    }
    const { vkeys } = new LogSigner(originOfLog(log), heldKeys(tx, dataDir, log).pairs)
    const { id, receivedAtMs } = headOf(tx)
    return {
      log,
      checkpoint,
      keys: [...vkeys],
      schema,
      held: distinctFiles(tx),
      root: rootOfLeaves(tx, log.number, log.size),
      lastEventMs: id === 0 ? null : receivedAtMs,
    }
  } finally {
    db.close()
  }
}

/** A file is stored once, however many rows name it. */
function distinctFiles(tx: ReadTx): HeldFile[] {
  return [...new Map(heldFiles(tx, '').map((file) => [file.path, file])).values()]
}

type Writing = {
  readonly part: string
  readonly copy: string
  readonly ledger: CopiedLedger
  readonly keys: KeyFiles
  readonly room: TargetRoom
  readonly onStep: () => void
  readonly random: RandomBytes
}

function writeArchive(order: BackupOrder, { part, copy, ledger, keys, room, onStep, random }: Writing): BackupMade {
  const { dataDir, media, nowMs, sealed } = order
  const wanted = ledger.held.filter(({ kind }) => media || kind === 'document')
  const bytes = statSync(copy).size + wanted.reduce((sum, { path }) => sum + roomOf(join(dataDir, path)), 0)
  room.demand(bytes, media ? 'the backup with photos and clips' : undefined)
  const sealing = sealed ? { recoveryKey: loadRecoveryKey(dataDir, random), random } : undefined
  const writer = new ArchiveWriter(part, nowMs, onStep, sealing)
  try {
    writer.addFile(ledgerName, copy)
    addKeys(writer, keys, ledger)
    const settings = addSettings(writer, order)
    const missing: string[] = []
    const damaged: string[] = []
    for (const { path, sha256, isRemoved } of wanted) {
      const member = writer.addFile(path, join(dataDir, path))
      if (!member && !isRemoved) missing.push(path)
      if (member && member.sha256 !== sha256) damaged.push(path)
    }
    const mediaFiles = ledger.held.filter(({ kind, isRemoved }) => kind === 'media' && !isRemoved)
    const facts = {
      siteId: ledger.log.siteId,
      logId: ledger.log.logId,
      size: ledger.log.size,
      schema: ledger.schema,
      rootHash: ledger.root.toString('hex'),
      checkpoint: ledger.checkpoint.note,
      keys: [...ledger.keys],
      version: order.version,
      madeAt: isoTime(nowMs),
      lastEventAt: ledger.lastEventMs === null ? null : isoTime(ledger.lastEventMs),
      damaged,
      missing,
    }
    const files = [...writer.members]
    const list = mediaFiles.map(({ path, sha256 }) => ({ path, sha256 }))
    const manifest: Manifest = {
      format: backupFormat,
      ...facts,
      settings,
      media: { included: media, files: list },
      files,
    }
    writer.addBytes(manifestName, Buffer.from(JSON.stringify(manifest)))
    const sha256 = writer.finish()
    const held = mediaFiles.length
    return {
      ...facts,
      path: order.target,
      sizeBytes: writer.sizeBytes,
      sha256,
      files: files.length + 1,
      mediaFiles: media ? held - missing.length : 0,
      mediaLeftOut: media ? missing.length : held,
    }
  } finally {
    writer.close()
  }
}

/** The head must be the one of this copy: the box may have signed a larger one since. */
function addKeys(writer: ArchiveWriter, keys: KeyFiles, { log, checkpoint }: CopiedLedger): void {
  for (const [name, bytes] of keys) writer.addBytes(`keys/${name}`, bytes)
  const head = { logId: log.logId, size: checkpoint.size, root: checkpoint.root.toString('base64') }
  writer.addBytes(`keys/${keyFiles.head}`, Buffer.from(`${JSON.stringify(head)}\n`))
}

function addSettings(writer: ArchiveWriter, { dataDir, settings }: BackupOrder): Manifest['settings'] {
  for (const name of loneFiles) writer.addFile(name, join(dataDir, name))
  return settings.flatMap((path, n) => {
    const plain = path.slice(path.lastIndexOf('/') + 1).replaceAll(/[^\w.-]/g, '_')
    const name = `settings/${n + 1}-${plain}`.slice(0, 100)
    return writer.addFile(name, path) ? [{ name, path }] : []
  })
}

function roomOf(path: string): number {
  return tarredBytes(statSync(path, { throwIfNoEntry: false })?.size ?? 0)
}

/** Gives the whole file its name. */
function giveName(part: string, target: string): void {
  renameSync(part, target)
  syncFolder(dirname(target))
}

/** The disk that takes the backup. When it is the ledger's, the reserve of the ledger is left free. */
class TargetRoom {
  readonly #folder: string
  readonly #order: BackupOrder

  constructor(order: BackupOrder) {
    this.#folder = dirname(order.target)
    this.#order = order
  }

  /** Throws when the disk has no room for so many bytes more. */
  demand(bytes: number, what = 'the backup'): void {
    const left = freeSpace(this.#folder).bytes - this.#reserve()
    if (left >= bytes) return
    const kept = this.#reserve() > 0 ? `, beside the ${sizeWords(this.#reserve())} that are kept for the ledger` : ''
    throw new Error(
      `${this.#folder} has no room for ${what}: it needs ${sizeWords(bytes)}, and ${sizeWords(Math.max(left, 0))} are free${kept}`,
    )
  }

  /** Throws when the disk has become full meanwhile. */
  look(): void {
    this.demand(0)
  }

  /** Returns the error with a sentence for the admin. */
  explain(error: unknown): Error {
    const code = errorCode(error)
    const message = errorMessage(error)
    const folder = this.#folder
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL') {
      return new Error(`${folder} has no room for the backup`)
    }
    if (code === 'ENOENT' && !existsSync(folder)) return new Error(`the folder ${folder} is not there; make it first`)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'SQLITE_CANTOPEN') {
      return new Error(
        `${folder} cannot be written by the user of the gateway (${code}); choose a folder that it may write`,
      )
    }
    return error instanceof Error ? error : new Error(message ?? String(error))
  }

  #reserve(): number {
    const { dataDir, reserveBytes } = this.#order
    return statSync(dataDir).dev === statSync(this.#folder).dev ? reserveBytes : 0
  }
}
