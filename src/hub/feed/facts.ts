/** PLACED, REMOVED, VERIFIED, DISPUTED, as the tables keep them. */
const letters = { PLACED: 'P', REMOVED: 'R', VERIFIED: 'V', DISPUTED: 'D' } as const
export type EventLetter = (typeof letters)[keyof typeof letters]
const isEventType = (value: unknown): value is keyof typeof letters =>
  typeof value === 'string' && Object.hasOwn(letters, value)

/** An event of the floor, as its leaf states it. `atMs`: in milliseconds. */
export type PlacementFact = {
  readonly seq: number
  readonly atMs: number
  readonly slotId: number
  readonly slotCode: string
  readonly letter: EventLetter
  readonly assetKey: string
}

/** A step of a transport unit. */
export type UnitFact = {
  readonly seq: number
  readonly unitId: string
  /** No step of the unit is in a leaf before. */
  readonly isFirst: boolean
  readonly atMs: number
  readonly status: string
  readonly stage: string
  readonly direction: string | null
  readonly sscc: string | null
  readonly reference: string | null
}

/** The first leaf of a log that continues another one. */
export type ForkFact = { readonly parentLogId: string; readonly parentSize: number; readonly parentRoot: string }

/** A change of the keys that sign the log: vkeys before and after. */
export type HandOverFact = { readonly previousKeys: readonly string[]; readonly keys: readonly string[] }

/** Facts that the head office takes out of a leaf. The leaf itself is kept whole. */
export type LeafFacts = {
  readonly logId: string
  readonly siteId: string
  readonly seq: number
  readonly placement: PlacementFact | undefined
  readonly unit: UnitFact | undefined
  readonly fork: ForkFact | undefined
  readonly handOver: HandOverFact | undefined
  /** It is of a kind that is read here, but cannot be read: kept as evidence, shown nowhere. */
  readonly isOdd: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a leaf; undefined when it is no JSON object with logId, siteId and seq. Keys and kinds that are not known are left alone. */
export function readLeaf(bytes: Uint8Array): LeafFacts | undefined {
  const fields = parse(bytes)
  if (!fields) return undefined
  const { logId, siteId, seq, kind } = fields
  if (typeof logId !== 'string' || typeof siteId !== 'string' || typeof seq !== 'number') return undefined
  const placement = kind === 'placement' ? placementOf(fields, seq) : undefined
  const fork = kind === 'log-fork' ? forkOf(fields) : undefined
  const handOver = kind === 'log-key' ? handOverOf(fields) : undefined
  const unit = kind === 'unit-history' ? unitOf(fields, seq) : undefined
  const isOdd =
    (kind === 'placement' && !placement) ||
    (kind === 'unit-history' && !unit) ||
    (kind === 'log-fork' && !fork) ||
    (kind === 'log-key' && !handOver)
  return { logId, siteId, seq, placement, unit, fork, handOver, isOdd }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parse(bytes: Uint8Array): Fields | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

function placementOf(fields: Fields, seq: number): PlacementFact | undefined {
  const { eventType, slotId, slotCode, assetKey } = fields
  const atMs = timeOf(fields['timestamp'])
  const letter = isEventType(eventType) ? letters[eventType] : null
  if (atMs === undefined || letter === null) return undefined
  if (!isText(slotCode) || !isText(assetKey) || !isRowId(slotId)) return undefined
  return { seq, atMs, slotId, slotCode, letter, assetKey }
}

function unitOf(fields: Fields, seq: number): UnitFact | undefined {
  const { unitId, action, status, toStage: stage, direction, sscc, reference } = fields
  const atMs = timeOf(fields['timestamp'])
  if (atMs === undefined || !isText(unitId) || !isText(status) || !isText(stage)) return undefined
  const said = (value: unknown) => (isText(value) ? value : null)
  return {
    seq,
    unitId,
    isFirst: action === 'created',
    atMs,
    status,
    stage,
    direction: said(direction),
    sscc: said(sscc),
    reference: said(reference),
  }
}

function forkOf({ parentLogId, parentSize, parentRoot }: Fields): ForkFact | undefined {
  if (typeof parentLogId !== 'string' || typeof parentSize !== 'number' || typeof parentRoot !== 'string')
    return undefined
  if (!isLogId.test(parentLogId)) return undefined
  return Number.isSafeInteger(parentSize) && parentSize >= 0 ? { parentLogId, parentSize, parentRoot } : undefined
}

const isLogId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function handOverOf({ previousKeys, keys }: Fields): HandOverFact | undefined {
  return isTexts(previousKeys) && isTexts(keys) ? { previousKeys, keys } : undefined
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.length <= 4 && value.every((one) => typeof one === 'string')

const largestRowId = 2_147_483_647
const isRowId = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(value as number) <= largestRowId
/** Twice what a gateway takes in. An entry of an index has room for 2,700 bytes. */
const longestText = 512
/** PostgreSQL's text can hold neither a zero character nor half of a surrogate pair. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= longestText && !value.includes('\0') && value.isWellFormed()

/** The years that both JavaScript's and PostgreSQL's times can be formatted in. */
const earliestMs = Date.UTC(1900, 0, 1)
const latestMs = Date.UTC(9999, 11, 31)

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return ms >= earliestMs && ms <= latestMs ? ms : undefined
}
