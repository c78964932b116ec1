import { AppError } from '../../errors/index.ts'
import { Status } from '../../feed/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import { gtin14, readBarcode } from '../../warehouse/index.ts'
import type { StoredRoots } from '../feed/stored-tree.ts'
import { offerStateOf, type SiteNow, type SiteOffer } from '../offers/stages.ts'
import type { HubDatabase } from '../store/database.ts'
import {
  type AlertPlace,
  type AlertRow,
  alertSlice,
  alertsOf,
  closeAlert,
  findSiteOfAlert,
  openAlertsOf,
} from './alerts-store.ts'
import { sitesBehind } from './behind.ts'
import { type CheckpointPage, checkpointsOf } from './checkpoints.ts'
import { differing, usualSections } from './drift.ts'
import { entryOf } from './entry.ts'
import { forksOf } from './forks.ts'
import { type PalletOfLot, palletsOfLot } from './lots.ts'
import { operatorsOf } from './names.ts'
import { locate, type Pallet, palletOf } from './pallets.ts'
import { problemsOf, standingOf } from './problems.ts'
import { seenLog } from './seen-log.ts'
import { newestIn } from './stays.ts'
import {
  assetsWithSscc,
  type Lot,
  logsOf,
  type Move,
  type PlanRow,
  type Position,
  planOf,
  type SiteLog,
  type Sites,
  type SlotRow,
  slotsOf,
  ssccsOnAsset,
  trailOf,
  type UnitStep,
} from './store.ts'
import { ssccIn } from './whereabouts.ts'

type AskNeeds = {
  readonly db: HubDatabase
  readonly roots: StoredRoots
  readonly clock: Pick<Clock, 'now'>
  /** Verifier key of the head office as a witness. */
  readonly vkey: string
  /** never: no name is looked for, which takes a bundle a move. */
  readonly openings: 'never' | 'names'
  /** Sites of each region. */
  readonly regions: Readonly<Record<string, readonly string[]>>
  /** The version offered to a site; undefined: nothing. */
  readonly offerFor: (siteId: string) => Promise<SiteOffer | undefined>
}

/** Answers questions over all sites, as far as a caller may see them. */
export class AskService {
  readonly #needs: AskNeeds

  constructor(needs: AskNeeds) {
    this.#needs = needs
  }

  /**
   * Returns where a scanned code is, at each site that knows it, and its moves over all sites, oldest first. An SSCC finds the
   * assets that it is printed on, too. The caller may see the people of the sites in `named`; null: all sites.
   * - behindFork: moves that a restore lost; they are evidence and count for nothing else.
   * - unit: the transport unit with which it is on its way.
   */
  async search(code: string, sites: Sites, named: Sites) {
    const pallet = await this.#palletOf(code, sites)
    const [[found], trail] = await Promise.all([
      locate(this.#needs.db, [pallet], sites),
      trailOf(this.#needs.db, pallet.names, sites),
    ])
    const operators = await operatorsOf(
      this.#needs.db,
      this.#needs.openings === 'never' ? [] : trail.filter(({ siteId }) => named === null || named.includes(siteId)),
    )
    const namedMove = moveWith(operators)
    return {
      unit: found?.unit ? unitOut(found.unit) : null,
      data: (found?.places ?? []).map((one) => ({
        ...{ siteId: one.siteId, asset_barcode: one.assetKey, slot: one.letter === 'P' ? one.slotCode : null },
        ...{ slot_id: one.letter === 'P' ? one.slotId : null, since: isoTime(one.atMs) },
        ...{ isVerified: one.letter === 'P' && one.verdict === 'V', state: one.state },
      })),
      trail: trail.filter(({ isBehind }) => !isBehind).map(namedMove),
      behindFork: trail.filter(({ isBehind }) => isBehind).map(namedMove),
    }
  }

  /** Sites have separate ledgers. The head office matches by today's reading of a barcode. */
  async #palletOf(code: string, sites: Sites): Promise<Pallet> {
    const read = readBarcode(code)
    const onLabel = await ssccsOnAsset(this.#needs.db, read.key, sites)
    const own = ssccIn(read.key)
    const ssccs = own === undefined ? onLabel : [...onLabel, own]
    return palletOf(read.key, onLabel, await assetsWithSscc(this.#needs.db, ssccs, sites))
  }

  /** Returns a page of the stored signed history of a log. Throws NOT_FOUND for a log of a site that the caller may not see. */
  async checkpoints(logId: string, page: CheckpointPage, sites: Sites) {
    const log = await seenLog(this.#needs.db, logId, sites, this.#needs.vkey)
    return { log, data: await checkpointsOf(this.#needs.db, log, page) }
  }

  /** Returns where a log has shown two histories, with both sides, a page of them. Throws as `checkpoints` does. */
  async forks(logId: string, page: { readonly cursor: string; readonly limit: number }, sites: Sites) {
    const log = await seenLog(this.#needs.db, logId, sites, this.#needs.vkey)
    return { log, ...(await forksOf(this.#needs.db, log, page)) }
  }

  /** Returns a leaf with its proof. Throws NOT_FOUND for one that is not stored, or of a site that the caller may not see. */
  entry(place: { readonly logId: string; readonly seq: number }, sites: Sites) {
    return entryOf(this.#needs, place, sites, this.#needs.vkey)
  }

  /**
   * Returns the present locations of the pallets of an item, of a lot, or of a lot of an item. They come item by item: the first
   * 10,000 behind `cursor`. More follow behind `nextCursor`. Sites in `behind` may have done something that the head office does
   * not know. Throws VALIDATION_ERROR for a GTIN or cursor that is none, and without item and lot.
   */
  async recall({ gtin, lot, cursor }: Lot & { readonly cursor: string }, sites: Sites) {
    if (gtin === null && lot === null) throw AppError.field('lot', 'send gtin, lot or both')
    const item = gtin === null ? null : gtin14(gtin)
    if (item === undefined) throw AppError.field('gtin', 'expected 8, 12, 13 or 14 digits with a right check digit')
    // Before the pallets: a site that catches up in between is named rather than believed.
    const current = (await logsOf(this.#needs.db, sites)).filter(isCurrent)
    const behind = sitesBehind(current, this.#needs.clock.now()).map(({ fedAtMs, ...site }) => ({
      ...site,
      fedAt: fedAtMs === null ? null : isoTime(fedAtMs),
    }))
    const { pallets, nextCursor } = await palletsOfLot(this.#needs.db, { gtin: item, lot }, cursor, sites)
    const items = [...Map.groupBy(pallets, ({ gtin }) => gtin).values()]
    return { behind, data: items.flatMap((ofItem) => ofItem.flatMap(recalled).toSorted(inOrderOfRecall)), nextCursor }
  }

  /**
   * Returns the sites, each with its health as it reports it, and its open alerts here.
   * - leavesBehind: log entries that its gateway has signed and that are not here yet.
   * - unendedLogs: logs besides the newest that still fill slots.
   * - config: the sections in which a box differs from most, and those of the last change of its config.
   * - mayAt: the caller's permissions at a site.
   */
  async sites(sites: Sites, mayAt: (siteId: string) => readonly string[]) {
    const [logs, alerts] = await Promise.all([logsOf(this.#needs.db, sites), openAlertsOf(this.#needs.db, sites)])
    const nowMs = this.#needs.clock.now()
    const usual = usualSections(
      logs
        .filter(isCurrent)
        .map(({ status }) => sectionsOf(status))
        .filter((one) => one !== undefined),
    )
    const offered = await this.#offers(logs)
    return [...Map.groupBy(logs, ({ site_id }) => site_id).values()].flatMap((ofSite) => {
      const now = ofSite.findLast(isCurrent) ?? ofSite.at(-1)
      if (!now) return []
      const fedAtMs = now.fed_at?.getTime() ?? null
      // Rows of earlier versions have more than this one would store.
      const { health, version, troubles, fleet } = Status.parse(now.status)
      const facts = {
        ...{ state: now.retired_at === null ? now.state : ('retired' as const), health, fleet },
        lagSeconds: fedAtMs === null ? null : Math.max(0, Math.round((nowMs - fedAtMs) / 1000)),
        leavesBehind: Math.max(0, Number(now.witnessed_size) - Number(now.size)),
        openAlerts: alerts.get(now.site_id) ?? 0,
        // A box that has just joined has not reported yet which log it continues.
        unendedLogs:
          now.fed_at === null ? [] : ofSite.filter((one) => one !== now && isFilling(one)).map(({ log_id }) => log_id),
      }
      const differsIn = differing(sectionsOf(now.status), usual)
      const silentMs = fedAtMs && nowMs - fedAtMs
      return [
        {
          ...{ siteId: now.site_id, name: now.name, timezone: now.timezone, logId: now.log_id, size: Number(now.size) },
          earlierLogs: ofSite.filter((one) => one !== now).map(({ log_id }) => log_id),
          ...{ ...facts, logs: ofSite.length, version, troubles },
          fedAt: fedAtMs === null ? null : isoTime(fedAtMs),
          ...{ standing: standingOf(facts), problems: problemsOf({ ...facts, differsIn }, nowMs) },
          regions: this.#regionsOf(now.site_id),
          ...offerOut(facts.state === 'retired' ? undefined : offered.get(now.site_id), {
            ...{ version, health, troubles, silentMs },
          }),
          permissions: [...mayAt(now.site_id)],
          config: {
            differsIn,
            changedAt: now.config_changed_at === null ? null : isoTime(now.config_changed_at.getTime()),
            changed: differing(now.config_before, sectionsOf(now.status)),
          },
        },
      ]
    })
  }

  #regionsOf(siteId: string): string[] {
    return Object.keys(this.#needs.regions)
      .filter((region) => this.#needs.regions[region]?.includes(siteId))
      .toSorted()
  }

  /** The sites are shown, whether the offer can be read or not. */
  async #offers(logs: readonly SiteLog[]): Promise<ReadonlyMap<string, SiteOffer>> {
    const found = new Map<string, SiteOffer>()
    for (const siteId of new Set(logs.map(({ site_id }) => site_id))) {
      const offer = await this.#needs.offerFor(siteId).catch(() => undefined)
      if (offer) found.set(siteId, offer)
    }
    return found
  }

  /** Returns the slots of a site that any event has named, now or at a time. Throws NOT_FOUND for a site that is not seen. */
  async floor(siteId: string, atMs: number | undefined, sites: Sites) {
    const isSeen = !siteId.includes('\0') && (sites === null || sites.includes(siteId))
    const known = isSeen ? await logsOf(this.#needs.db, [siteId]) : []
    if (known.length === 0) throw AppError.notFound('Site')
    const logs = logsAt(known, atMs)
    const order = new Map(logs.map(({ log_id }, i) => [log_id, i]))
    const rows = await slotsOf(this.#needs.db, logs, atMs)
    const newest = new Map<number, SlotRow>()
    const isLater = (one: SlotRow, other: SlotRow) =>
      one.at.getTime() - other.at.getTime() || (order.get(one.log_id) ?? 0) - (order.get(other.log_id) ?? 0)
    for (const row of rows) {
      const known = newest.get(row.slot_id)
      if (!known || isLater(row, known) > 0) newest.set(row.slot_id, row)
    }
    const counting = logs.filter(({ ends_at }) => ends_at !== '0').map(({ log_id }) => log_id)
    const plans = (await planOf(this.#needs.db, counting)).toSorted(
      (a, b) => (order.get(a.log_id) ?? 0) - (order.get(b.log_id) ?? 0),
    )
    // The newest log of the site has the newest plan.
    const planned = new Map(plans.map((row) => [row.slot_id, row]))
    const isInPlan = isInNewestPlan(plans, known)
    const moved = [...newest.values()]
      .filter((row) => atMs !== undefined || row.event_type === 'P' || planned.get(row.slot_id)?.is_retired !== true)
      .map(slotOut(atMs !== undefined, planned))
    const untouched = [...planned.values()]
      .filter((row) => !row.is_retired && !newest.has(row.slot_id) && isInPlan(row))
      .map(emptyOut)
    // Whether a slot without events was there at a past time, no leaf says.
    const all = atMs === undefined ? [...moved, ...untouched] : moved
    return all.toSorted((a, b) => (a.slot < b.slot ? -1 : 1))
  }

  /** Returns alerts, open ones first, of each the newest first: 500 at most, behind `cursor`. Throws VALIDATION_ERROR for a cursor that is none. */
  async alerts(cursor: string, sites: Sites) {
    const rows = await alertsOf(this.#needs.db, sites, readAlertCursor(cursor))
    const shown = rows.slice(0, alertSlice)
    const last = shown.at(-1)
    const data = shown.map((row) => ({
      ...{ siteId: row.site_id, logId: row.log_id, id: row.alert_id, type: row.type, severity: row.severity },
      openedAt: isoTime(row.opened_at.getTime()),
      closedAt: row.closed_at === null ? null : isoTime(row.closed_at.getTime()),
      closedBy: row.closed_by,
      detail: row.detail,
    }))
    return { data, nextCursor: rows.length > shown.length && last ? alertCursor(last) : null }
  }

  /** Closes an alert that somebody has looked at; closing it again changes nothing. Throws NOT_FOUND for one of a site that is not theirs. */
  async closeAlert(
    { logId, id }: { readonly logId: string; readonly id: string },
    name: string,
    sites: Sites,
  ): Promise<void> {
    const siteId = await findSiteOfAlert(this.#needs.db, logId, id)
    if (siteId === undefined || !(sites === null || sites.includes(siteId))) throw AppError.notFound('Alert')
    await closeAlert(this.#needs.db, logId, id, { atMs: this.#needs.clock.now(), name })
  }
}

/** Whether a log says how its box is now. One that a later restore cut off does not. */
export const isCurrent = ({ superseded_by, retired_at, ends_at }: SiteLog): boolean =>
  superseded_by === null && retired_at === null && ends_at !== '0'

const isFilling = (log: SiteLog): boolean => isCurrent(log) && Number(log.size) > 0

/**
 * Returns the logs that state the content of a site's slots, now or at a time. They are those of the box that the site had then.
 * Boxes number slots anew.
 */
function logsAt(logs: readonly SiteLog[], atMs: number | undefined): readonly SiteLog[] {
  if (atMs === undefined) return logs.filter(isUnended)
  // A branch that a second restore cut off is no separate box.
  const there = logs.filter(
    ({ retired_at, ends_at }) => (retired_at === null || retired_at.getTime() > atMs) && ends_at !== '0',
  )
  const boxes = [...Map.groupBy(there, newestIn(logs)).values()]
  // Somebody retires the old box when the new one has worked for days.
  const newest = boxes.findLast(([root]) => root !== undefined && root.enrolled_at.getTime() <= atMs)
  return newest ?? boxes[0] ?? []
}

/**
 * Returns whether a row is of the newest plan of its box. A restore has lost rows that only an earlier log has. The oldest log is
 * first in `plans`.
 */
function isInNewestPlan(plans: readonly PlanRow[], logs: readonly SiteLog[]) {
  const boxes = new Map(logs.map((log) => [log.log_id, newestIn(logs)(log)]))
  const newest = new Map(plans.map(({ log_id }) => [boxes.get(log_id), log_id]))
  return ({ log_id }: PlanRow): boolean => newest.get(boxes.get(log_id)) === log_id
}

const isUnended = ({ retired_at }: SiteLog): boolean => retired_at === null

const sectionsOf = (status: SiteLog['status']) => Status.parse(status).fleet?.configSections

function offerOut(offer: SiteOffer | undefined, now: Omit<SiteNow, 'siteId'>) {
  if (!offer) return { offered: null, offerState: null, offerWaits: false }
  const offerState = offerStateOf(offer.version, now)
  return { offered: offer.version, offerState, offerWaits: offer.hasNext && offerState !== 'runs' }
}

const unitOut = ({ siteId, unitId, atMs, status, stage, direction, reference }: UnitStep) => ({
  ...{ siteId, unitId, reference, direction, status, stage, since: isoTime(atMs) },
})

/** Each place at which a pallet is; of one that is nowhere, the site that it left last. */
function recalled({ key, gtin, lots, places, unit }: PalletOfLot) {
  const standing = places.filter(({ letter }) => letter === 'P')
  return (standing.length > 0 ? standing : places.slice(0, 1)).map((one) => ({
    ...{ siteId: one.siteId, asset_barcode: key, gtin, lots, slot: one.letter === 'P' ? one.slotCode : null },
    ...{ since: isoTime(one.atMs), state: one.state, unit: one.state === 'in_transit' && unit ? unitOut(unit) : null },
  }))
}

type Recalled = ReturnType<typeof recalled>[number]
const ranks = { here: 0, two_places: 0, in_transit: 1, left: 2 } as const

function inOrderOfRecall(one: Recalled, other: Recalled): number {
  const placeOf = ({ siteId, slot, asset_barcode }: Recalled) => `${siteId}\0${slot ?? ''}\0${asset_barcode}`
  return ranks[one.state] - ranks[other.state] || (placeOf(one) < placeOf(other) ? -1 : 1)
}

const moveWith = (operators: ReadonlyMap<Move, string>) => (one: Move) => ({
  ...moveOut(one),
  ...(operators.has(one) && { operator: operators.get(one) }),
})

const moveOut = (one: Move) => ({
  ...{ siteId: one.siteId, logId: one.logId, seq: one.seq, asset_barcode: one.assetKey },
  ...{ slot: one.slotCode, slot_id: one.slotId, event_type: eventTypeOf(one), timestamp: isoTime(one.atMs) },
})

const eventTypeOf = ({ letter }: Position) => (letter === 'P' ? 'PLACED' : 'REMOVED')

const placeOut = (row: PlanRow | undefined) => ({ zone: row?.zone ?? null, warehouse: row?.warehouse ?? null })

const emptyOut = (row: PlanRow) => ({
  ...placeOut(row),
  ...{ slot: row.slot_code, slot_id: row.slot_id, isOccupied: false, assetBarcode: null, since: null },
})

/** Whether a slot was verified at a past time is not read. */
const slotOut = (isPast: boolean, planned: ReadonlyMap<number, PlanRow>) => (row: SlotRow) => {
  const isOccupied = row.event_type === 'P'
  return {
    ...placeOut(planned.get(row.slot_id)),
    ...{ slot: row.slot_code, slot_id: row.slot_id, isOccupied, assetBarcode: isOccupied ? row.asset_key : null },
    ...(isOccupied && !isPast && { isVerified: row.verdict === 'V', isDisputed: row.verdict === 'D' }),
    since: isoTime(row.at.getTime()),
  }
}

/** Returns the cursor behind an alert, opaque to the client. Pure. */
function alertCursor({ closed_at, opened_at, log_id, alert_id }: AlertRow): string {
  const state = closed_at === null ? 'open' : 'closed'
  return Buffer.from(`${state} ${isoTime(opened_at.getTime())} ${log_id} ${alert_id}`).toString('base64url')
}

/** Returns the place in a cursor made by `alertCursor`; undefined for an empty one. Throws VALIDATION_ERROR. Pure. */
function readAlertCursor(cursor: string): AlertPlace | undefined {
  if (cursor === '') return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const [, state, openedAt, logId, id] = /^(open|closed) (\S{20,40}) ([0-9a-f-]{36}) ([^\0]+)$/.exec(text) ?? []
  const isPlace =
    openedAt !== undefined &&
    Number.isFinite(Date.parse(openedAt)) &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(logId ?? '')
  if (!isPlace || logId === undefined || id === undefined)
    throw AppError.field('cursor', 'is not a cursor of this list')
  return { isOpen: state === 'open', openedAt: isoTime(Date.parse(openedAt)), logId, id }
}
