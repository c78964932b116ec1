import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, executor, newestSchema, openReader, openWriter } from '../../database/index.ts'
import { keyFolder, writeHeadFileNow } from '../../evidence/index.ts'
import { knownLogs, newestCheckpoint } from '../../log/index.ts'
import { writeFileDurably } from '../../platform/index.ts'
import type { ComingFacts } from '../manifest.ts'
import { recoveryKeyFile } from '../recovery-key.ts'
import { BackupFault } from '../unpack.ts'
import { type Chain, type ChainAsked, findChain, opening, openSegment } from './chain.ts'
import { seriesFolder } from './names.ts'
import { Rebuild } from './rebuild.ts'
import { readKeysContent } from './sealed-keys.ts'

/** A data folder that was made of segments, before it is verified. */
export type StagedSegments = {
  readonly chain: Chain
  readonly facts: ComingFacts
}

export type StageOptions = ChainAsked & {
  readonly recoveryKey: Uint8Array
  /** An empty folder. */
  readonly into: string
  readonly nowMs: number
  /** Called behind each segment. */
  readonly onSegment?: () => void
}

class DamagedSegment extends Error {
  readonly series: string
  readonly number: number
  readonly fault: BackupFault

  constructor(series: string, number: number, fault: BackupFault) {
    super(fault.message)
    this.series = series
    this.number = number
    this.fault = fault
  }
}

/**
 * Makes a data folder of the newest moment that a source has: ledger, keys, settings and documents. Throws BackupFault; files that
 * were written by then stay for the caller to remove.
 */
export async function stageSegments(options: StageOptions): Promise<StagedSegments> {
  const before = new Map(options.before)
  const erased = new Map<string, Chain['erased'][number]>()
  for (;;) {
    const chain = await findChain({ ...options, before })
    // A series that is dropped for a damaged segment has still named the erased people.
    for (const one of chain.erased) erased.set(JSON.stringify([one.mark, one.commitment]), one)
    try {
      return await stageChain({ ...chain, erased: [...erased.values()] }, options)
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      if (!options.asFarAsWhole) throw error.fault
      before.set(error.series, error.number)
      rmSync(options.into, { recursive: true, force: true })
      mkdirSync(options.into, { mode: 0o700 })
    }
  }
}

async function stageChain(chain: Chain, options: StageOptions): Promise<StagedSegments> {
  const { header } = chain
  const { into, nowMs } = options
  refuseNewer(header)
  const rebuild = new Rebuild(into, header.schema, nowMs)
  try {
    let previous: string | null = null
    for (const file of chain.files) {
      try {
        const segment = await openSegment(options, chain, file)
        if (segment.header.previous !== previous) {
          throw new BackupFault(`${file.name} goes on from ${segment.header.previous}, and ${previous} is there`)
        }
        rebuild.take(segment, file.name)
      } catch (error) {
        if (error instanceof BackupFault) throw new DamagedSegment(chain.series, file.number, error)
        throw error
      }
      previous = file.name
      options.onSegment?.()
    }
    rebuild.finish()
  } finally {
    rebuild.close()
  }
  const settings = await putKeys(chain, options)
  openWriter({ dataDir: into, nowMs }).close()
  const { siteId, logId, keys, madeAt, version, lastEventAt } = header
  const facts = { siteId, logId, size: header.to, keys, madeAt, version, lastEventAt, settings }
  return { chain, facts: { ...facts, checkpoint: headOf(into, logId) } }
}

function refuseNewer({ version, schema }: { version: string; schema: number }): void {
  if (schema <= newestSchema) return
  throw new BackupFault(
    `the segments were written by gatehouse ${version} with schema ${schema}, and this gatehouse knows schema ${newestSchema}; restore them with that version or a later one`,
  )
}

/** Puts keys and settings into the folder. Returns where the settings were. */
async function putKeys(
  chain: Chain,
  { source, siteId, seal, into, recoveryKey }: StageOptions,
): Promise<ComingFacts['settings']> {
  const path = `${seriesFolder(siteId, chain)}/${chain.header.keysFile}`
  const { files } = await opening(
    path,
    () => source.read(path),
    (bytes) => readKeysContent(seal.open(bytes, path)),
  )
  for (const { name, base64 } of files) writeFileDurably(join(into, name), Buffer.from(base64, 'base64'), 0o600)
  writeFileDurably(join(keyFolder(into), recoveryKeyFile), recoveryKey, 0o600)
  return files.flatMap(({ name, path: was }) => (was === undefined ? [] : [{ name, path: was }]))
}

/** Writes the head that was signed last beside the keys. Returns its signed note. */
function headOf(into: string, logId: string): string {
  const db = openReader(databaseFile(into))
  try {
    const tx = executor(db)
    const log = knownLogs(tx).at(-1)
    const checkpoint = log && newestCheckpoint(tx, log.number)
    if (log?.logId !== logId || !checkpoint) throw new BackupFault(`the segments have no checkpoint of log ${logId}`)
    writeHeadFileNow(into, { logId, size: checkpoint.size, root: checkpoint.root })
    return checkpoint.note
  } finally {
    db.close()
  }
}
