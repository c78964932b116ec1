import type { HubTx } from '../store/database.ts'
import { type Begun, begunOf, type ChainedLog, chainsOf, endsIn, type Position, type Sites } from './store.ts'

/** Where an asset is at one box. `placedMs`: when it was placed last; null: never. */
export type Stay = Position & { readonly placedMs: number | null }

/**
 * Returns the locations of assets, for each box that knows them, by the rule of the gateway (`ledger/derive/location.ts`). The
 * newest PLACED of the asset begins a stay. The next PLACED or REMOVED in that slot, of any asset, ends it. The logs of a box are
 * one history.
 */
export async function staysOf(db: HubTx, keys: readonly string[], sites: Sites): Promise<Stay[]> {
  const begun = await begunOf(db, keys, sites)
  const logs = begun.length === 0 ? [] : await chainsOf(db, [...new Set(begun.map(({ siteId }) => siteId))])
  const boxes = Map.groupBy(logs, newestIn(logs))
  const boxOf = new Map([...boxes.values()].flatMap((box) => box.map(({ log_id }) => [log_id, box] as const)))
  const inBox = (stay: Begun) => boxOf.get(stay.logId) ?? []
  const stays = newestByBox(begun, inBox)
  const ends = await endsOf(
    db,
    stays.filter(({ letter }) => letter === 'P'),
    inBox,
  )
  return stays.map((stay) => {
    const end = ends.get(stay)
    return { ...stay, placedMs: stay.letter === 'P' ? stay.atMs : null, ...(end && { ...end, letter: 'R' }) }
  })
}

type Box = readonly ChainedLog[]
type Moment = { readonly atMs: number; readonly seq: number }

function newestByBox(begun: readonly Begun[], inBox: (stay: Begun) => Box): Begun[] {
  const order = (stay: Begun) => inBox(stay).findIndex(({ log_id }) => log_id === stay.logId)
  const begunLast = (one: Begun, other: Begun) =>
    Number(other.letter === 'P') - Number(one.letter === 'P') ||
    other.atMs - one.atMs ||
    order(other) - order(one) ||
    other.seq - one.seq
  const byBox = Map.groupBy(begun, (stay) => `${inBox(stay).at(-1)?.log_id}\0${stay.assetKey}`)
  return [...byBox.values()].flatMap((ofAsset) => ofAsset.toSorted(begunLast).slice(0, 1))
}

/** Returns the end of each stay, in any log of its box: one statement for each log, whatever the number of stays. */
async function endsOf(db: HubTx, stays: readonly Begun[], inBox: (stay: Begun) => Box): Promise<Map<Begun, Moment>> {
  const asked = new Map<ChainedLog, { readonly stay: Begun; readonly seq: number }[]>()
  for (const stay of stays) {
    const box = inBox(stay)
    const own = box.findIndex(({ log_id }) => log_id === stay.logId)
    for (const [i, log] of box.entries()) {
      // At one moment, the events of an earlier log were recorded before it, and those of a later log behind it.
      const seq = i === own ? stay.seq : i < own ? Number.MAX_SAFE_INTEGER : -1
      const places = asked.get(log) ?? []
      places.push({ stay, seq })
      asked.set(log, places)
    }
  }
  const ends = new Map<Begun, Moment>()
  const found = [...asked].map(async ([log, places]) => {
    const inLog = await endsIn(
      db,
      log,
      places.map(({ stay, seq }) => ({ slotId: stay.slotId, atMs: stay.atMs, seq })),
    )
    return places.map(({ stay }, i) => ({ stay, end: inLog[i] }))
  })
  for (const { stay, end } of (await Promise.all(found)).flat()) {
    const known = ends.get(stay)
    if (end && (!known || end.atMs < known.atMs)) ends.set(stay, end)
  }
  return ends
}

/** Returns a function that names the last of the logs that continue a log, which all logs of one box have in common. */
export function newestIn(logs: readonly Pick<ChainedLog, 'log_id' | 'superseded_by'>[]) {
  const followers = new Map(logs.map(({ log_id, superseded_by }) => [log_id, superseded_by]))
  return ({ log_id }: Pick<ChainedLog, 'log_id'>): string => logs.reduce((id) => followers.get(id) ?? id, log_id)
}
