import type { OpenedRow } from '../ledger/index.ts'
import { type EvidenceState, erasedName } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Discrepancy } from './schema.ts'

/** Discrepancies that the file lists; above that it has only their number. */
const listedDiscrepancies = 10_000

/** Warnings that ledger and floor contradict each other, that a rule of a slot is broken, or that a proof fits something else. */
export const contradictions: ReadonlySet<string> = new Set([
  'SLOT_ALREADY_OCCUPIED',
  'SLOT_EMPTY',
  'ASSET_ELSEWHERE',
  'ASSET_MISMATCH',
  'TYPE_NOT_ALLOWED',
  'OVERWEIGHT',
  'OVERHEIGHT',
  'SLOT_RETIRED',
  'SCAN_MISMATCH',
  'PHOTO_REUSED',
])

export type StateOf = (row: Pick<OpenedRow, 'log_id' | 'leaf_seq'>) => EvidenceState['state']

/** `id`: of a row since version 2 that is not erased; `name`: of an older row. */
export type Met = {
  readonly id: number | null
  readonly name: string | null
  selfVerified: number
  isOperator: boolean
}

function metIn(row: OpenedRow, as: 'operator' | 'actor'): Pick<Met, 'id' | 'name'> {
  if (row.leaf_version === 1) return { id: null, name: row[as] ?? erasedName(row[`${as}_commitment`]) }
  return { id: row[`${as}_id`], name: null }
}

export class EventTally {
  readonly #byType = noCounts()
  readonly #byQuality = noCounts()
  readonly #photos = noCounts()
  readonly #warnings = noCounts()
  readonly #byCode = noCounts()
  readonly #selfVerifications: { eventId: number; person: string }[] = []
  readonly #people = new Map<string, Met>()
  readonly #listed: Discrepancy[] = []
  readonly #states = noCounts()
  readonly #stateOf: StateOf
  #oldestUnsigned: OpenedRow | undefined
  #total = 0
  #corrections = 0
  #discrepancies = 0

  constructor(stateOf: StateOf) {
    this.#stateOf = stateOf
  }

  take(row: OpenedRow): void {
    this.#total += 1
    this.#secure(row)
    add(this.#byType, row.event_type)
    add(this.#byQuality, row.time_quality)
    if (row.photo_evidence !== null) add(this.#photos, row.photo_evidence)
    if (row.corrects_event_id !== null) this.#corrections += 1
    this.#meet(row, 'operator').isOperator = true
    const codes = JSON.parse(row.warnings) as string[]
    for (const code of codes) add(this.#warnings, code)
    if (codes.includes('SELF_VERIFIED')) this.#selfVerification(row)
    for (const code of codes) if (contradictions.has(code)) this.#discrepancy(code, row)
    if (row.event_type === 'DISPUTED') this.#discrepancy('DISPUTED', row)
  }

  result() {
    const { held = 0, claimed = 0 } = this.#photos
    return {
      counts: {
        total: this.#total,
        byType: sorted(this.#byType),
        late: this.#warnings['LATE_EVENT'] ?? 0,
        unsynced: this.#byQuality['unsynced'] ?? 0,
        corrected: this.#byQuality['corrected'] ?? 0,
        corrections: this.#corrections,
        photos: { held, claimed },
      },
      states: { ...this.#states },
      oldestUnsigned: this.#oldestUnsigned
        ? {
            eventId: this.#oldestUnsigned.id,
            seq: this.#oldestUnsigned.leaf_seq,
            timestamp: isoTime(this.#oldestUnsigned.timestamp_ms),
          }
        : null,
      warnings: this.#warnings,
      byCode: this.#byCode,
      selfVerifications: this.#selfVerifications,
      people: [...this.#people.values()],
      discrepancies: this.#discrepancies,
      listed: this.#listed,
    }
  }

  #secure(row: OpenedRow): void {
    const state = this.#stateOf(row)
    add(this.#states, state)
    if (state !== 'recorded') return
    if (!this.#oldestUnsigned || row.timestamp_ms < this.#oldestUnsigned.timestamp_ms) this.#oldestUnsigned = row
  }

  #selfVerification(row: OpenedRow): void {
    this.#meet(row, 'actor').selfVerified += 1
    if (this.#selfVerifications.length >= listedDiscrepancies) return
    this.#selfVerifications.push({ eventId: row.id, person: row.actor_commitment })
  }

  #meet(row: OpenedRow, as: 'operator' | 'actor'): Met {
    const who = metIn(row, as)
    const key = `${who.id ?? ''} ${who.name ?? ''}`
    const known = this.#people.get(key) ?? { ...who, selfVerified: 0, isOperator: false }
    this.#people.set(key, known)
    return known
  }

  #discrepancy(code: string, row: OpenedRow): void {
    add(this.#byCode, code)
    this.#discrepancies += 1
    if (this.#listed.length >= listedDiscrepancies) return
    this.#listed.push({
      code,
      eventId: row.id,
      slotId: row.slot_id,
      slot: row.slot_code,
      assetBarcode: row.asset_barcode,
      timestamp: isoTime(row.timestamp_ms),
    })
  }
}

/** Returns an object without a prototype: a category may be called `valueOf`. */
export const noCounts = (): Record<string, number> => Object.create(null)

export function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}

/** Sorts by key, so that the order does not depend on the rows; the canonical form sorts too. */
export function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
}
