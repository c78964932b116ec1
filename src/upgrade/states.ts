import { createHash } from 'node:crypto'
import { databaseFile, executor, type Migration, openAsItIs, type ReadTx } from '../database/index.ts'
import { contradictionsAround } from '../floor/index.ts'
import {
  assetLocation,
  findEvent,
  headOf,
  lastIdReceivedBy,
  slotState,
  slotStates,
  type When,
} from '../ledger/index.ts'
import { isoTime } from '../platform/index.ts'
import { labelOf, wholeSight } from '../warehouse/index.ts'

export type StatesAsked = {
  /** The folder of a copy of the ledger; the copy is only read. */
  readonly folder: string
  /** Events received from then on. */
  readonly sinceMs: number
  /** So many events at the most, the newest ones. */
  readonly most: number
  /** For tests: the steps that the program is supposed to know. */
  readonly migrations?: readonly Migration[]
}

/** Answer of a version to one question: the question in words, then the answer as JSON. */
export type StateLine = { readonly question: string; readonly answer: Readonly<Record<string, unknown>> }

/** The question of the first line, which the version itself answers. A version that does not know this form is not compared. */
export const statesForm = 'gatehouse states 1'

/**
 * Parts that earlier versions answer by another rule, and the name under which this version answers by its own. A part whose
 * rule changes gets a new name here: the same name would stop every upgrade on which the two rules differ.
 */
export const renamedParts: ReadonlyMap<string, string> = new Map([
  ['location', 'locationByStay'],
  ['discrepancies', 'contradictions'],
])

/** Moments at which the whole floor is asked, besides now. */
const floorMoments = 24

/**
 * Computes the state of the floor from the ledger. It covers each occupied slot now, and the whole floor at moments of the
 * requested time. At each event it covers the slot and the asset that the event names, as known then and as known now. Yields one
 * answer at a time, newest events first. Throws ExitError when this program cannot work with the database.
 */
export function* derivedStates({ folder, sinceMs, most, migrations }: StatesAsked): Generator<StateLine> {
  const db = openAsItIs(databaseFile(folder), migrations)
  try {
    const tx = executor(db)
    const lastId = headOf(tx).id
    const firstId = Math.max(lastIdReceivedBy(tx, sinceMs - 1), lastId - most) + 1
    yield* now(tx)
    yield* floors(tx, firstId, lastId)
    for (let id = lastId; id >= firstId; id -= 1) yield* aroundEvent(tx, id)
  } finally {
    db.close()
  }
}

function* now(tx: ReadTx): Generator<StateLine> {
  for (const [slotId, state] of slotStates(tx)) {
    yield { question: `slot ${slotId} (${labelOf(tx, slotId)}) now`, answer: { ...state } }
  }
}

function* floors(tx: ReadTx, firstId: number, lastId: number): Generator<StateLine> {
  const step = Math.max(Math.ceil((lastId - firstId + 1) / floorMoments), 1)
  for (let id = lastId; id >= firstId; id -= step) {
    const event = findEvent(tx, id)
    if (!event) continue
    const states = slotStates(tx, { atMs: event.timestamp_ms, knownAtMs: event.received_at_ms })
    const hash = createHash('sha256')
    for (const [slotId, state] of [...states].sort(([a], [b]) => a - b)) hash.update(JSON.stringify([slotId, state]))
    const answer = { occupied: states.size, sha256: hash.digest('hex') }
    yield { question: `the whole floor at event ${id}, as known then`, answer }
  }
}

function* aroundEvent(tx: ReadTx, id: number): Generator<StateLine> {
  const event = findEvent(tx, id)
  if (!event) return
  const { slot_id, slot_code, asset_key, asset_barcode, timestamp_ms: atMs, received_at_ms: knownAtMs } = event
  const about = `event ${id} (${slot_code}, ${asset_barcode}, ${isoTime(atMs)})`
  const answerAt = (when: When) => ({
    ...slotState(tx, slot_id, when),
    locationByStay: assetLocation(tx, asset_key, wholeSight, when).slotId,
    contradictions: contradictionsAround(tx, slot_id, asset_key, when).map(
      ({ kind, slotId, eventIds }) => `${kind} in slot ${slotId} by ${eventIds.join(' and ')}`,
    ),
  })
  yield { question: `${about}, as known then`, answer: answerAt({ atMs, knownAtMs }) }
  yield { question: `${about}, as known now`, answer: answerAt({ atMs }) }
}

/** Writes an answer as a line. */
export const lineOf = ({ question, answer }: StateLine): string => `${question}\t${JSON.stringify(answer)}`

/** Reads a line; undefined when it is none. */
export function readLine(line: string): StateLine | undefined {
  const tab = line.indexOf('\t')
  if (tab < 0) return undefined
  try {
    return { question: line.slice(0, tab), answer: JSON.parse(line.slice(tab + 1)) as StateLine['answer'] }
  } catch {
    return undefined
  }
}
