import type { PlacementEvent, TransportUnit } from '../data/shapes.ts'

export type BoardUnit = TransportUnit & {
  readonly sscc: string | null
  readonly nextStage: string | null
  readonly warehouseId: number
  readonly createdAt: string
  readonly completedAt: string | null
}

export type UnitStep = {
  readonly eventId: string
  readonly seq: number
  readonly action: string
  readonly fromStage: string | null
  readonly toStage: string
  readonly status: string
  readonly operator: string | null
  readonly timestamp: string
  readonly reason: string | null
  readonly note: string | null
  readonly photos: number
  readonly scaleReading: number | null
}

export type UnitRecord = BoardUnit & {
  readonly history: readonly UnitStep[]
  readonly evidence: {
    readonly scaleReading: number | null
    readonly items: readonly {
      readonly eventId: string
      readonly kind: 'photo' | 'weight'
      readonly sha256: string | null
      readonly photoEvidence: 'held' | 'claimed' | null
    }[]
  }
}

/** Returns when the unit came to the stage that it is in. */
export const inStageSince = ({ history, createdAt }: Pick<UnitRecord, 'history' | 'createdAt'>): string =>
  history.findLast(({ fromStage, toStage, action }) => action === 'created' || fromStage !== toStage)?.timestamp ??
  createdAt

/** Returns why a unit is on hold, in the words of who held it; null when no reason was written. */
export function whyHeld({ history }: Pick<UnitRecord, 'history'>): string | null {
  const held = history.findLast(({ action }) => action === 'held')
  return held?.reason ?? held?.note ?? null
}

export type Column<T> = { readonly stage: string; readonly isKnown: boolean; readonly units: readonly T[] }

/** Returns the columns of the board: every stage of the workflow in its order, then stages that left it but have units. */
export function columnsOf<T extends Pick<BoardUnit, 'stage' | 'status' | 'updatedAt'>>(
  stages: readonly string[],
  units: readonly T[],
): readonly Column<T>[] {
  const gone = [...new Set(units.map(({ stage }) => stage))].filter((stage) => !stages.includes(stage))
  return [...stages, ...gone].map((stage) => ({
    stage,
    isKnown: stages.includes(stage),
    units: units
      .filter((unit) => unit.stage === stage)
      .toSorted((a, b) => heldFirst(a) - heldFirst(b) || a.updatedAt.localeCompare(b.updatedAt)),
  }))
}

const heldFirst = ({ status }: Pick<BoardUnit, 'status'>) => (status === 'on_hold' ? 0 : 1)

type Move = Pick<PlacementEvent, 'asset_barcode' | 'work_order_ref'>

/** Counts the pallets of each unit: those of which a move names the unit, by its id, or by a reference that only it has. */
export function palletsOf(
  units: readonly Pick<BoardUnit, 'id' | 'reference'>[],
  moves: readonly Move[],
): ReadonlyMap<string, number> {
  const found = new Map<string, Set<string>>()
  for (const { work_order_ref: ref, asset_barcode } of moves) {
    const named = units.filter(({ id, reference }) => ref === id || ref === reference)
    const unit = named.find(({ id }) => id === ref) ?? (named.length === 1 ? named[0] : undefined)
    if (unit) found.set(unit.id, (found.get(unit.id) ?? new Set()).add(asset_barcode))
  }
  return new Map([...found].map(([id, pallets]) => [id, pallets.size]))
}

/** Tells whether a unit is looked for: by reference, number, carrier or vehicle. */
export const isLike = (unit: BoardUnit, text: string): boolean =>
  [unit.reference, unit.sscc, unit.carrier, unit.vehicle].some((value) =>
    value?.toLowerCase().includes(text.trim().toLowerCase()),
  )

type Shown = BoardUnit & { readonly record: UnitRecord | undefined }

/** Says whether a record tells what a board shows of the unit: since when it is in its stage, and why it is held. Pure. */
export const isCurrent = (record: UnitRecord | undefined, { stage, status, updatedAt }: BoardUnit): boolean =>
  record?.stage === stage && (status !== 'on_hold' || record.updatedAt === updatedAt)

/**
 * Returns a unit with what the stream says of it. Undefined when that is not all that a board shows: a unit that is held has a reason.
 * Pure.
 *
 * @param stages of the workflow, in their order
 */
export function afterNews<T extends Shown>(
  unit: T,
  { stage, status }: Pick<BoardUnit, 'stage' | 'status'>,
  stages: readonly string[],
  nowMs: number,
): T | undefined {
  const { record } = unit
  const isOver = status === 'completed'
  if (!record || unit.status === 'completed' || !(status === 'active' || isOver) || !stages.includes(stage))
    return undefined
  const timestamp = new Date(nowMs).toISOString()
  const now = {
    stage,
    status,
    updatedAt: timestamp,
    completedAt: isOver ? timestamp : null,
    nextStage: isOver ? null : (stages[stages.indexOf(stage) + 1] ?? null),
  }
  if (stage === unit.stage) return { ...unit, ...now, record: { ...record, ...now } }
  const step: UnitStep = {
    eventId: '',
    seq: record.history.length,
    action: 'advanced',
    fromStage: unit.stage,
    toStage: stage,
    status,
    operator: null,
    timestamp,
    reason: null,
    note: null,
    photos: 0,
    scaleReading: null,
  }
  return { ...unit, ...now, record: { ...record, ...now, history: [...record.history, step] } }
}

/** Returns the newest moves with one more, at most so many. Pure. */
export function withMove<T extends { readonly data: readonly Move[]; readonly hasMore: boolean }>(
  moves: T,
  move: T['data'][number],
  most: number,
): T {
  const data = [move, ...moves.data]
  return { ...moves, data: data.slice(0, most), hasMore: moves.hasMore || data.length > most }
}
