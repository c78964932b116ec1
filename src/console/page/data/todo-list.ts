import { discrepancyWords } from '../i18n/discrepancy-words.ts'
import { gatewayWords } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'
import { todoTexts } from '../i18n/todo-texts.ts'
import type { Heard } from './heard.ts'
import type { Alert, Camera, Discrepancy, Permission, SignedIn, TransportUnit } from './shapes.ts'

/** A unit without a record for so long stands still. */
export const stillMs = 4 * 3_600_000
/** Things of one kind that are listed one by one. */
const mostOfOneKind = 20

export type Urgency = 'now' | 'today' | 'later'

type Place = { readonly id: number; readonly label: string }

/**
 * Act on a task; `open` opens a view, the others change something.
 *
 * - `remove`: the pallet is taken out now
 * - `removeBefore`: it was taken out before a time; `placedBy` is the event that had placed it there
 * - `takeBack`: the event that placed it there did not happen
 * - `keep`: it is there, and was placed there last, so the event that took it out of another slot did not happen
 * - `register`: a form opens
 * - `resolve`: a form opens, and its note ends the dispute
 */
export type Remedy =
  | { readonly act: 'open'; readonly words: string; readonly to: string }
  | { readonly act: 'remove'; readonly slot: Place; readonly barcode: string; readonly placedBy: number | undefined }
  | RemovalBefore
  | { readonly act: 'takeBack'; readonly slot: Place; readonly eventId: number }
  | Keeping
  | { readonly act: 'register'; readonly barcode: string }
  | { readonly act: 'acknowledge'; readonly alertId: number }
  | Resolving

/** `id`: of the discrepancy. */
export type Resolving = { readonly act: 'resolve'; readonly slot: Place; readonly id: string }

export type RemovalBefore = {
  readonly act: 'removeBefore'
  readonly slot: Place
  readonly barcode: string
  readonly before: string
  readonly placedBy: number
}

export type Keeping = {
  readonly act: 'keep'
  readonly slot: Place
  readonly barcode: string
  readonly other: Place
  readonly eventId: number
}

export type Task = {
  readonly key: string
  readonly kind: string
  readonly urgency: Urgency
  readonly what: string
  readonly todo: string
  /** Note of a supervisor. */
  readonly note?: string
  readonly since: string | null
  readonly remedies: readonly Remedy[]
}

export type Known = {
  readonly discrepancies: readonly Discrepancy[]
  /** Placements that no one has verified or disputed. */
  readonly pending: number
  readonly units: readonly TransportUnit[]
  readonly cameras: readonly Camera[]
  readonly alerts: readonly OpenAlert[]
}

/** Alerts that are listed at most. */
const mostAlerts = 100

/** Returns the tasks' data after a message of the stream; undefined when it must be requested. Pure. */
export function withNews(known: Known, heard: Heard, nowMs: number): Known | undefined {
  switch (heard.kind) {
    case 'alert': {
      const { id, acknowledgedAt } = heard.data
      const others = known.alerts.filter((one) => one.id !== id)
      // One more may wait behind a full list.
      if (known.alerts.length >= mostAlerts) return undefined
      return { ...known, alerts: acknowledgedAt === null ? [heard.data, ...others] : others }
    }
    case 'camera': {
      const before = known.cameras.find(({ id }) => id === heard.data.id)
      if (!before) return undefined
      return { ...known, cameras: known.cameras.map((one) => (one === before ? { ...one, ...heard.data } : one)) }
    }
    case 'unit': {
      const { id, stage, status } = heard.data
      const before = known.units.find((one) => one.id === id)
      // A new unit that advances has no task yet; it is read with all the others.
      if (!before) return status === 'on_hold' ? undefined : known
      const now = { ...before, stage, status, updatedAt: new Date(nowMs).toISOString() }
      return { ...known, units: known.units.map((one) => (one === before ? now : one)) }
    }
    default:
      return undefined
  }
}

const urgencies: readonly Urgency[] = ['now', 'today', 'later']
/** The permission to register a pallet. */
export const toRegister = 'whms:write'
/** Where somebody may stand under a pallet that is too heavy, or look for one that is not there. */
const atOnce = new Set(['overweight', 'overheight', 'asset_in_two_slots', 'removed_elsewhere', 'two_in_one_slot'])
const later = new Set(['unregistered_asset', 'judged_while_empty', 'retired_slot_occupied'])
/** Kinds that a supervisor settles by looking at photo and film. */
const judged = new Set(['disputed', 'scan_mismatch', 'photo_reused', 'verified_mismatch'])

/** Returns the open tasks, the most urgent first, with the acts of this caller. Pure. */
export function tasksOf(known: Known, caller: SignedIn, nowMs: number): Task[] {
  const may = (permission: Permission) => caller.permissions.includes(permission)
  const all = [
    ...known.discrepancies.map((one) => ofDiscrepancy(one, may)),
    ...ofAlerts(known.alerts, may),
    ...ofCameras(known.cameras),
    ...ofUnits(known.units, nowMs),
    ...ofPending(known.pending, may),
  ]
  const rank = ({ urgency, since }: Task) => [urgencies.indexOf(urgency), since ?? '9'] as const
  return bounded(
    all.toSorted((a, b) => {
      const [[ua, sa], [ub, sb]] = [rank(a), rank(b)]
      return ua - ub || (sa < sb ? -1 : sa > sb ? 1 : 0)
    }),
  )
}

/** Keeps the first ones of each kind, and says of the rest how many they are. */
function bounded(tasks: readonly Task[]): Task[] {
  const counts = new Map<string, number>()
  const kept: Task[] = []
  const over = new Map<string, { count: number; urgency: Urgency }>()
  for (const task of tasks) {
    const count = (counts.get(task.kind) ?? 0) + 1
    counts.set(task.kind, count)
    if (count <= mostOfOneKind) kept.push(task)
    else over.set(task.kind, { count: count - mostOfOneKind, urgency: task.urgency })
  }
  const rest = [...over].map(([kind, { count, urgency }]): Task => {
    const todo = tasks.find((task) => task.kind === kind)?.todo ?? ''
    return { key: `${kind} more`, kind, urgency, what: todoTexts.more(count), todo, since: null, remedies: [] }
  })
  return urgencies.flatMap((urgency) => [...kept, ...rest].filter((task) => task.urgency === urgency))
}

type OpenAlert = Pick<Alert, 'id' | 'message' | 'createdAt'>
type May = (permission: Permission) => boolean

function ofDiscrepancy(one: Discrepancy, may: May): Task {
  const { id, kind, note, since, slot, assetBarcode } = one
  const { what, todo } = discrepancyWords(one)
  const mayRegister = may(toRegister)
  const subject = [texts.slot(slot.slot_id), ...(assetBarcode === null ? [] : [texts.pallet(assetBarcode)])]
  return {
    key: id,
    kind,
    ...(note && { note }),
    since,
    todo: kind === 'unregistered_asset' && !mayRegister ? todoTexts.registerOther : todo,
    urgency: atOnce.has(kind) ? 'now' : later.has(kind) ? 'later' : 'today',
    what: `${subject.join(', ')}: ${what}`,
    remedies: [
      ...(judged.has(kind) && may('events:verify') ? [opening(todoTexts.toVerify, `/verify?slot=${slot.id}`)] : []),
      ...(kind === 'disputed' && may('events:verify') ? [{ act: 'resolve', slot: placeOf(slot), id } as const] : []),
      ...(kind === 'unregistered_asset' && mayRegister && assetBarcode !== null
        ? [{ act: 'register', barcode: assetBarcode } as const]
        : []),
      ...(may('events:create') ? removalsOf(one) : []),
      ...(one.countId === null ? [] : [opening(todoTexts.toCount(one.countId), `/counts/${one.countId}`)]),
      opening(todoTexts.toSlot(slot.slot_id), `/?slot=${slot.id}`),
      ...(assetBarcode === null ? [] : [opening(todoTexts.toStory, `/find/${encodeURIComponent(assetBarcode)}`)]),
    ],
  }
}

/**
 * After each remedy the ledger has the pallet where it is, or nowhere when it is not here and was taken out elsewhere. A pallet in
 * two slots left the older one before it came to the newer one: a removal of now would contradict its location. If a pallet was
 * placed elsewhere since and taken out there, undoing that removal would put it there, not here. It needs a placement here.
 */
function removalsOf({ kind, since, slot, otherSlot, assetBarcode, lastPlacedHere, eventIds }: Discrepancy): Remedy[] {
  if (assetBarcode === null) return []
  const here = { slot: placeOf(slot), barcode: assetBarcode }
  const [placedBy, newer] = eventIds
  if (kind === 'removed_elsewhere')
    return [
      { act: 'remove', ...here, placedBy },
      ...(lastPlacedHere === true && otherSlot && newer !== undefined
        ? [{ act: 'keep', ...here, other: placeOf(otherSlot), eventId: newer } as const]
        : []),
    ]
  if (kind !== 'asset_in_two_slots' || placedBy === undefined || newer === undefined) return []
  return [
    { act: 'removeBefore', ...here, before: since, placedBy },
    ...(otherSlot ? [{ act: 'takeBack', slot: placeOf(otherSlot), eventId: newer } as const] : []),
  ]
}

const placeOf = ({ id, slot_id }: Discrepancy['slot']): Place => ({ id, label: slot_id })

const opening = (words: string, to: string): Remedy => ({ act: 'open', words, to })

const ofAlerts = (alerts: readonly OpenAlert[], may: May): Task[] =>
  alerts.map(({ id, message, createdAt }) => ({
    ...{
      key: `alert ${id}`,
      kind: 'alert',
      urgency: 'now',
      what: gatewayWords(message),
      todo: todoTexts.alertTodo,
      since: createdAt,
    },
    // One that the disk has not taken yet has no id.
    remedies: may('alerts:manage') && id > 0 ? [{ act: 'acknowledge', alertId: id }] : [],
  }))

const ofCameras = (cameras: readonly Camera[]): Task[] =>
  cameras
    .filter(({ enabled, online, state }) => enabled && !online && state !== 'off')
    .map(({ id, name, problem, lastFrameAt }) => ({
      key: `camera ${id}`,
      kind: 'camera',
      urgency: 'now',
      what: todoTexts.camera(name),
      todo: problem === null ? todoTexts.cameraTodo : gatewayWords(problem),
      since: lastFrameAt,
      remedies: [opening(todoTexts.toCamera, `/cameras/${id}`)],
    }))

const ofUnits = (units: readonly TransportUnit[], nowMs: number): Task[] =>
  units.flatMap(({ id, reference, stage, status, updatedAt }): Task[] => {
    const isStill = status === 'active' && nowMs - Date.parse(updatedAt) > stillMs
    if (!isStill && status !== 'on_hold') return []
    const [what, todo] = isStill
      ? [todoTexts.standing(reference, stage), todoTexts.standingTodo]
      : [todoTexts.held(reference), todoTexts.heldTodo]
    const to = `/units/${encodeURIComponent(id)}`
    return [
      {
        key: `unit ${id}`,
        kind: 'unit',
        urgency: 'today',
        what,
        todo,
        since: updatedAt,
        remedies: [opening(todoTexts.toUnit, to)],
      },
    ]
  })

function ofPending(pending: number, may: May): Task[] {
  if (pending === 0) return []
  const isVerifier = may('events:verify')
  return [
    {
      key: 'unverified',
      kind: 'unverified',
      urgency: 'later',
      since: null,
      what: todoTexts.unverified(pending),
      todo: isVerifier ? todoTexts.unverifiedTodo : todoTexts.unverifiedOther,
      remedies: isVerifier ? [opening(todoTexts.verifyAll, '/verify')] : [],
    },
  ]
}
