import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { Pace, stepBack } from '../backup/index.ts'
import {
  atOneMoment,
  columnNotes,
  databaseFile,
  executor,
  openReader,
  type ReadTx,
  tableShapes,
} from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { type ExportedLog, heldFiles, wholeLog } from '../evidence/index.ts'
import { csvHead, csvLines } from '../exchange/index.ts'
import { type EventPlace, headOf, type PlacementEvent, toPlacementEvent, walk } from '../ledger/index.ts'
import { errorCode } from '../platform/faults.ts'
import { freeSpace, isoTime, sizeWords } from '../platform/index.ts'
import { ExportFolder } from './folder.ts'
import { importLists, listFiles } from './lists.ts'
import { commandOf, type DescribedTable, readme } from './readme.ts'
import { rowObjects } from './rows.ts'
import { treatments } from './treatments.ts'

export const exportFormat = 'gatehouse-export/1'

export type ExportOrder = {
  readonly dataDir: string
  /** Absolute path of a folder that is new or empty. */
  readonly target: string
  readonly site: { readonly id: string; readonly url: string }
  readonly version: string
  readonly nowMs: number
  /** Bytes to leave free on the disk of the ledger. */
  readonly reserveBytes: number
  /** Whether a gateway serves meanwhile. */
  readonly beside: boolean
}

/** A file that a row names and that is not in the export, or is there with other bytes. */
type Lacking = { readonly name: string; readonly why: string }

export type Exported = {
  readonly path: string
  readonly files: number
  /** Rows of all files that have rows. */
  readonly rows: number
  readonly logs: readonly ExportedLog[]
  readonly lacking: readonly Lacking[]
}

/**
 * Copies all data of a box to a folder in open formats: tables, events and lists of one moment, then the log, photos and clips. The
 * log must have a checkpoint. Blocks the thread. Memory does not grow with the rows. Throws ExitError with a sentence for the admin;
 * the folder is empty or gone then.
 */
export function exportEverything(order: ExportOrder): Exported {
  const { dataDir, target, beside } = order
  if (beside) stepBack()
  const db = openReader(databaseFile(dataDir))
  let folder: ExportFolder | undefined
  try {
    folder = new ExportFolder(target, watchfulPace(order))
    return writeAllOf(order, db, folder)
  } catch (error) {
    // A folder that was not taken keeps its files.
    folder?.discard()
    throw explained(error, target)
  } finally {
    db.close()
  }
}

function writeAllOf(order: ExportOrder, db: Database, folder: ExportFolder): Exported {
  const { dataDir, target, site, version, nowMs } = order
  const tx = executor(db)
  const madeAt = isoTime(nowMs)
  folder.begin({ format: exportFormat, version, site, madeAt })
  const { tables, commands } = atOneMoment(db, () => {
    const written = writeTables(db, folder)
    writeEvents(tx, folder)
    return { tables: written, commands: writeLists(db, folder) }
  })
  const { logs, files } = wholeLog(tx, dataDir)
  for (const { name, pieces } of files) folder.write(`log/${name}`, pieces())
  const lacking = copyFiles(tx, dataDir, folder)
  const leftOut = Object.fromEntries(
    Object.entries(treatments).flatMap(([name, treatment]) =>
      treatment.how === 'rows' ? [] : [[name, treatment.why]],
    ),
  )
  folder.write('README.txt', [readme({ siteId: site.id, madeAt, tables, commands, leftOut })])
  folder.finish({ logs, leftOut, lacking })
  return { path: target, ...folder.counts, logs, lacking }
}

function writeTables(db: Database, folder: ExportFolder): DescribedTable[] {
  const shapes = tableShapes(db)
  const forgotten = [...shapes.keys()].find((name) => !Object.hasOwn(treatments, name))
  if (forgotten !== undefined) throw new Error(`the table ${forgotten} has no treatment`)
  return Object.entries(treatments).flatMap(([name, treatment]) => {
    const shape = shapes.get(name)
    if (!shape || treatment.how === 'leftOut') return []
    const file = `tables/${shape.name}.jsonl`
    folder.writeLines(file, rowObjects(db, shapes, shape, treatment))
    const { withheld } = treatment
    return [
      { file, columns: columnNotes(executor(db), name).filter((column) => !withheld.includes(column.name)), withheld },
    ]
  })
}

/** Rows of one read. */
const eventsAtOnce = 500

function writeEvents(tx: ReadTx, folder: ExportFolder): void {
  folder.writeLines('events/events.jsonl', eventsOf(tx))
  let rows = 0
  function* csv() {
    yield csvHead()
    for (const event of eventsOf(tx)) {
      rows += 1
      yield csvLines([event])
    }
  }
  folder.write('events/events.csv', csv(), () => rows)
}

/** Yields all events, oldest first. */
function* eventsOf(tx: ReadTx): Generator<PlacementEvent> {
  const lastId = headOf(tx).id
  let place: EventPlace | undefined
  do {
    const step = walk(tx, { lastId }, place, eventsAtOnce)
    for (const row of step.rows) yield toPlacementEvent(row)
    place = step.place
  } while (place)
}

/** Writes the lists for an import elsewhere. Returns the commands that take them. */
function writeLists(db: Database, folder: ExportFolder): string[] {
  const commands: string[] = []
  for (const list of importLists({ db, shapes: tableShapes(db) })) {
    const { kind, warehouse } = list
    if (warehouse)
      commands.push(commandOf('warehouse', 'add', '--name', warehouse.name, '--timezone', warehouse.timezone))
    let count = 0
    for (const { rows, text } of listFiles(list)) {
      count += 1
      const which = [kind, ...(warehouse ? [warehouse.id] : []), ...(count > 1 ? [count] : [])].join('-')
      const file = `import/${which}.csv`
      folder.write(file, [text], () => rows)
      const into = warehouse ? ['--warehouse', warehouse.name, '--create-zones'] : []
      commands.push(commandOf('import', kind, file, ...into))
    }
  }
  return commands
}

/** Copies every file that a row names, and the continuous video. */
function copyFiles(tx: ReadTx, dataDir: string, folder: ExportFolder): Lacking[] {
  const lacking: Lacking[] = []
  const held = new Map(heldFiles(tx, '').map((file) => [file.path, file]))
  for (const { path, sha256, isRemoved } of held.values()) {
    const name = `files/${path}`
    const copied = folder.copy(name, join(dataDir, path))
    if (!copied && !isRemoved) lacking.push({ name, why: 'it is not there' })
    if (copied && copied.sha256 !== sha256) lacking.push({ name, why: 'it has other bytes than its row says' })
  }
  // The oldest go while others are copied.
  for (const name of filesIn(join(dataDir, 'history')))
    folder.copy(`files/history/${name}`, join(dataDir, 'history', name))
  return lacking
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).toSorted()
}

/** Returns what is done after each MiB: rest beside a gateway, and stop before the room that is kept for the ledger. */
function watchfulPace({ dataDir, target, beside, reserveBytes }: ExportOrder): () => void {
  const pace = new Pace(beside)
  let isShared: boolean | undefined
  return () => {
    isShared ??= statSync(target).dev === statSync(dataDir).dev
    if (isShared && freeSpace(target).bytes < reserveBytes) {
      const kept = sizeWords(reserveBytes)
      throw new ExitError(
        1,
        `${target}: only the ${kept} are left that are kept for the ledger; name a folder on another disk`,
      )
    }
    pace.rest()
  }
}

function explained(error: unknown, target: string): unknown {
  const code = errorCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ExitError(1, `${target}: the disk is full; nothing of the export is left there`, error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const message = `${target} cannot be written by the user of the gateway (${code}); name a folder that it may write`
    return new ExitError(1, message, error)
  }
  return error
}
