import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  atOneMoment,
  type Cell,
  databaseFile,
  executor,
  openReader,
  type ReadTx,
  readRows,
  sizeOfDatabase,
  tableShapes,
} from '../../database/index.ts'
import { heldFiles, heldKeys, LogSigner } from '../../evidence/index.ts'
import { headOf } from '../../ledger/index.ts'
import { erasuresAfter, type KnownLog, knownLogs, newestCheckpoint } from '../../log/index.ts'
import {
  freeSpace,
  isoTime,
  type RandomBytes,
  readFileIfThere,
  sizeWords,
  writeFileDurably,
} from '../../platform/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { Pace, stepBack } from '../pace.ts'
import { loadRecoveryKey } from '../recovery-key.ts'
import { type LogReach, membersOfLog } from './leaves.ts'
import { keysName, newSeries, segmentName, seriesFolder } from './names.ts'
import { type Member, packSegment, type SegmentHeader, segmentFormat } from './payload.ts'
import { RowsBehind } from './rows-behind.ts'
import { Seal } from './seal.ts'
import { keysContent } from './sealed-keys.ts'
import { type EarlierSeries, proposeState, readState, type SeriesState } from './state.ts'

export type SegmentsOrder = {
  readonly dataDir: string
  readonly siteId: string
  /** Absolute folder under which the files are written; for an upload one of the data folder. */
  readonly root: string
  /** Tells one target from another: a series goes to one. */
  readonly target: string
  /** Files of the config, absolute. */
  readonly settings: readonly string[]
  /** Bytes to leave free where the files are written. */
  readonly reserveBytes: number
  readonly version: string
  readonly nowMs: number
  /** Whether to write although nothing has changed. */
  readonly evenIfSame: boolean
  /** Whether to begin a series with everything, because the existing one cannot be restored. */
  readonly beginsSeries: boolean
}

/** A file that was written; `path` is below the source. */
export type WrittenFile = {
  readonly kind: 'segment' | 'snapshot'
  readonly path: string
  readonly sha256: string
  readonly sizeBytes: number
}

export type SegmentsMade = {
  readonly files: readonly WrittenFile[]
  readonly logId: string
  readonly series: string
  readonly isNewSeries: boolean
  /** Leaves of the growing log that are in the series. */
  readonly size: number
}

/** Contents of a file before compression, about. */
const fileBytes = 16 * 1024 * 1024

/**
 * Writes what a ledger has got since the newest segment of its series: leaves, rows, keys and settings. All files are of one
 * moment; the last one is marked as whole. Proposes the state that follows, for `acceptState`. Returns undefined when nothing
 * has changed. Runs beside a gateway that writes. Throws an Error with a sentence for the admin.
 */
export function writeSegments(order: SegmentsOrder, random: RandomBytes): SegmentsMade | undefined {
  stepBack()
  if (!existsSync(order.root)) throw new Error(`the folder ${order.root} is not there; make it first, or mount it`)
  for (let round = 1; ; round += 1) {
    const made = writeMoment(order, random)
    if (made !== 'other keys') return made
    if (round === momentsDuringRotation) throw new Error('the keys of the log are being rotated; try again')
  }
}

const momentsDuringRotation = 3

/** Writes one moment. Writes nothing when keys or settings changed while it began: they may not be those of its ledger. */
function writeMoment(order: SegmentsOrder, random: RandomBytes): SegmentsMade | 'other keys' | undefined {
  const keyFiles = keysContent(order)
  const { schema } = sizeOfDatabase(databaseFile(order.dataDir))
  const db = openReader(databaseFile(order.dataDir))
  try {
    return atOneMoment(db, () => {
      const moment = momentOf(order, db, schema, new Seal(loadRecoveryKey(order.dataDir, random)))
      if (!keysContent(order).equals(keyFiles)) return 'other keys'
      const known = stateOf(order, moment)
      const shapes = tableShapes(db)
      const rows = (from: SeriesState | undefined) => new RowsBehind(db, shapes, from)
      const isErased = known !== undefined && rows(known).hasErasures()
      const state = order.beginsSeries || isErased || isLong(known) ? undefined : known
      const behind = rows(state)
      if (!order.evenIfSame && state && !behind.hasChanges() && state.reach.size === moment.log.size) return undefined
      return new Writing(order, { ...moment, keyFiles }, state, random).run(behind)
    })
  } finally {
    db.close()
  }
}

/** A series is followed by another when it is long and would take long to read. */
function isLong(state: SeriesState | undefined): boolean {
  if (!state) return false
  return state.number >= 10_000 || (state.number >= 1440 && state.laterBytes > state.baseBytes)
}

type Moment = {
  readonly tx: ReadTx
  readonly schema: number
  readonly seal: Seal
  readonly logs: readonly KnownLog[]
  readonly log: KnownLog
  readonly reach: LogReach
  /** The rows of the logs, by their columns. */
  readonly identities: readonly Record<string, Cell>[]
  readonly keys: readonly string[]
  readonly lastEventMs: number | null
}

function momentOf({ dataDir }: SegmentsOrder, db: ReturnType<typeof openReader>, schema: number, seal: Seal): Moment {
  const tx = executor(db)
  const shape = tableShapes(db).get('log_identity') ?? { name: '', columns: [] }
  const logs = knownLogs(tx)
  const log = logs.at(-1)
  const checkpoint = log && newestCheckpoint(tx, log.number)
  if (!log || !checkpoint) throw new Error('the log has no signed checkpoint yet')
  const { id, receivedAtMs } = headOf(tx)
  return {
    tx,
    schema,
    seal,
    logs,
    log,
    identities: [...readRows(db, shape, { orderBy: 'id' })].map((row) =>
      Object.fromEntries(shape.columns.map((column, i) => [column, row[i] ?? null])),
    ),
    reach: { signed: checkpoint.size, size: log.size },
    keys: [...new LogSigner(originOfLog(log), heldKeys(tx, dataDir, log).pairs).vkeys],
    lastEventMs: id === 0 ? null : receivedAtMs,
  }
}

/** Returns the state of the series, if it is one of this log, schema, target and key. */
function stateOf({ dataDir, siteId, target }: SegmentsOrder, { log, schema, seal }: Moment): SeriesState | undefined {
  const state = readState(dataDir)
  const isOurs =
    state?.siteId === siteId &&
    state.logId === log.logId &&
    state.target === target &&
    state.schema === schema &&
    state.keyMark === seal.mark
  return isOurs ? state : undefined
}

type MomentWithKeys = Moment & {
  /** Keys and settings of that moment, as they are sealed. */
  readonly keyFiles: Buffer
}

/** Writes the files of one moment. */
class Writing {
  readonly #order: SegmentsOrder
  readonly #moment: MomentWithKeys
  readonly #state: SeriesState | undefined
  readonly #random: RandomBytes
  readonly #series: string
  readonly #files: WrittenFile[] = []
  readonly #pace = new Pace(true)
  #number: number
  #previous: string | null
  readonly #documentsThere: Set<string>
  #keysFile = ''
  #keysHash = ''
  #members: Member[] = []
  #lines: string[] = []
  #bytes = 0

  constructor(order: SegmentsOrder, moment: MomentWithKeys, state: SeriesState | undefined, random: RandomBytes) {
    this.#order = order
    this.#moment = moment
    this.#state = state
    this.#random = random
    this.#series = state?.series ?? newSeries(order.nowMs, random(4))
    this.#number = state?.number ?? 0
    this.#documentsThere = new Set(state?.documents)
    this.#previous = state?.newest ?? null
  }

  run(behind: RowsBehind): SegmentsMade {
    const { log, reach } = this.#moment
    this.#writeKeys()
    for (const member of this.#everyMember(behind)) {
      this.#members.push(member)
      this.#grew(member.bytes.length, behind)
    }
    for (const line of behind.lines()) {
      this.#lines.push(line)
      this.#grew(line.length, behind)
    }
    this.#write(behind, true)
    const written = this.#files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const { siteId, target, nowMs, dataDir } = this.#order
    proposeState(dataDir, {
      siteId,
      logId: log.logId,
      series: this.#series,
      target,
      keyMark: this.#moment.seal.mark,
      schema: this.#moment.schema,
      number: this.#number,
      newest: this.#previous ?? '',
      madeAt: isoTime(nowMs),
      baseBytes: this.#state?.baseBytes ?? written,
      laterBytes: this.#state ? this.#state.laterBytes + written : 0,
      reach,
      last: behind.last,
      counted: behind.counted,
      chunks: behind.chunks,
      keysFile: this.#keysFile,
      keysHash: this.#keysHash,
      earlier: this.#earlier(),
      documents: [...this.#documentsThere],
    })
    return {
      files: this.#files,
      logId: log.logId,
      series: this.#series,
      size: reach.size,
      isNewSeries: this.#state === undefined,
    }
  }

  *#everyMember(behind: RowsBehind): Generator<Member> {
    const { tx, logs, log, reach } = this.#moment
    for (const one of logs) {
      const note = newestCheckpoint(tx, one.number)
      const isGrowing = one === log
      // Earlier logs grow no more.
      if (!isGrowing && this.#state) continue
      if (!this.#state)
        yield {
          name: `${one.logId}/identity`,
          bytes: Buffer.from(JSON.stringify(this.#moment.identities[one.number - 1])),
        }
      const before = (isGrowing && this.#state?.reach) || { signed: 0, size: 0 }
      const now = isGrowing ? reach : { signed: note?.size ?? 0, size: one.size }
      if (now.size > before.size || now.signed > before.signed || !this.#state) {
        yield* membersOfLog(tx, { log: one, before, now, note: note?.note })
      }
    }
    yield* this.#documents(behind)
  }

  /** Reports and lists: few, small, and named by rows that only grow. */
  *#documents(behind: RowsBehind): Generator<Member> {
    if (this.#state && !behind.grew('report') && !behind.grew('opening_list')) return
    for (const { path, kind, sha256 } of heldFiles(this.#moment.tx, '')) {
      if (kind !== 'document' || this.#documentsThere.has(path)) continue
      const bytes = readFileIfThere(join(this.#order.dataDir, path))
      if (!bytes || hash('sha256', bytes) !== sha256) continue
      this.#documentsThere.add(path)
      yield { name: `files/${path}`, bytes }
    }
  }

  #grew(bytes: number, behind: RowsBehind): void {
    this.#bytes += bytes
    if (this.#bytes >= fileBytes) this.#write(behind, false)
  }

  /** Returns the series before this one, and those before it that are still at the target. */
  #earlier(): readonly EarlierSeries[] {
    const { nowMs, dataDir } = this.#order
    const old = readState(dataDir)
    const before = old?.earlier ?? []
    if (this.#state || !old) return before
    return [...before, { logId: old.logId, series: old.series, endedAt: isoTime(nowMs) }]
  }

  #writeKeys(): void {
    const { keyFiles } = this.#moment
    this.#keysHash = hash('sha256', keyFiles)
    this.#keysFile = this.#state?.keysFile ?? ''
    if (this.#state?.keysHash === this.#keysHash) return
    this.#keysFile = keysName(this.#number + 1, this.#random(4))
    this.#put('snapshot', this.#keysFile, keyFiles)
  }

  #write(behind: RowsBehind, isWhole: boolean): void {
    const { siteId, nowMs, version } = this.#order
    const { log, reach, schema, keys, lastEventMs, tx } = this.#moment
    const members = [...this.#members]
    if (this.#lines.length > 0) members.push({ name: 'rows', bytes: Buffer.from(this.#lines.join('')) })
    this.#number += 1
    const from = this.#state?.reach.size ?? 0
    const header: Omit<SegmentHeader, 'members'> = {
      format: segmentFormat,
      siteId,
      logId: log.logId,
      series: this.#series,
      number: this.#number,
      from,
      to: reach.size,
      previous: this.#previous,
      keysFile: this.#keysFile,
      isWhole,
      madeAt: isoTime(nowMs),
      version,
      schema,
      lastEventAt: lastEventMs === null ? null : isoTime(lastEventMs),
      keys: [...keys],
      erased: erasuresAfter(tx, -1),
      earlier: [...this.#earlier()],
      columns: { ...behind.columns },
    }
    const name = segmentName({ number: this.#number, from, to: reach.size }, this.#random(4))
    this.#put('segment', name, packSegment(header, members))
    this.#previous = name
    this.#members = []
    this.#lines = []
    this.#bytes = 0
    this.#pace.rest()
  }

  #put(kind: WrittenFile['kind'], name: string, plain: Buffer): void {
    const { root, siteId } = this.#order
    const { log, seal } = this.#moment
    const path = `${seriesFolder(siteId, { logId: log.logId, series: this.#series })}/${name}`
    const sealed = seal.seal(plain, path, this.#random)
    this.#demandRoom(sealed.length)
    writeFileDurably(join(root, path), sealed, 0o600)
    this.#files.push({ kind, path, sha256: hash('sha256', sealed), sizeBytes: sealed.length })
  }

  #demandRoom(bytes: number): void {
    const { root, reserveBytes } = this.#order
    const left = freeSpace(root).bytes - reserveBytes
    if (left >= bytes) return
    throw new Error(
      `${root} has no room for a segment of ${sizeWords(bytes)}: ${sizeWords(Math.max(left, 0))} are free`,
    )
  }
}
