import { useEffect, useState } from 'preact/hooks'
import { printable } from '../codes/scan-place.ts'
import { get } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import type { Count, CountSlot } from '../data/count-data.ts'
import type { Heard } from '../data/heard.ts'
import type { Asset, Page, Slot, Zone } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { boxAround, middleOf } from '../hall/geometry.ts'
import { exactTime } from '../i18n/words.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { Scroller } from '../kit/scroller.tsx'
import { safeColor } from '../kit/slot-marks.tsx'
import { aroundTexts as words } from './around-texts.ts'

/** A zone with more slots is drawn by its outline: a handheld would wait for the list. */
const mostSlots = 1500
/** The most pallets of a recall that are listed here. */
const mostAlike = 100
const mostCounts = 5

/** Loads something beside the story, again when `changes` differs. A failure is ignored: the story does not need it. */
function useBeside<T>(load: () => Promise<T>, changes: unknown): T | undefined {
  const [answer, setAnswer] = useState<T | undefined>(undefined)
  useEffect(() => {
    let isWanted = true
    load().then(
      (next) => isWanted && setAnswer(next),
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [changes])
  return answer
}

type Surroundings = { readonly slot: Slot; readonly beside: readonly Slot[]; readonly zones: readonly Zone[] }

async function around(slotId: number): Promise<Surroundings> {
  const [slot, zones] = await Promise.all([get('/api/whms/slots/{id}', { id: slotId }), get('/api/whms/zones', {})])
  const own = zones.data.find(({ id }) => id === slot.zoneId)
  const isFew = own !== undefined && own.slotCount <= mostSlots
  const beside = isFew ? (await get('/api/whms/zones/{id}/slots', { id: own.id })).data : [slot]
  return { slot, beside, zones: zones.data.filter(({ warehouseId }) => warehouseId === slot.warehouseId) }
}

const pathOf = (points: Slot['floor_plan_polygon']): string => `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}Z`

/** A small plan with the place of a slot marked: the slots of its zone, and the zones that somebody drew. */
export const SmallPlan = ({ slotId }: { slotId: number }) => {
  const found = useBeside(() => around(slotId), slotId)
  if (!found || found.slot.id !== slotId) return null
  const { slot, beside, zones } = found
  const drawn = zones.filter(({ floor_plan_polygon: points }) => points !== null)
  const box = boxAround([
    ...beside.flatMap(({ floor_plan_polygon: points }) => points),
    ...drawn.flatMap(({ floor_plan_polygon: points }) => points ?? []),
  ])
  const own = boxAround(slot.floor_plan_polygon)
  const side = Math.max(box.width, box.height) || 1
  const edge = side * 0.07
  const { x, y } = middleOf(own)
  const size = Math.max(own.width, own.height)
  const radius = Math.max(size * 0.8, side * 0.045)
  const color = safeColor(zones.find(({ id }) => id === slot.zoneId)?.color)
  return (
    <figure class="card small-plan">
      <a class="small-link" href={`/?slot=${slot.id}`} onClick={follow}>
        <svg
          class="small-drawing"
          viewBox={`${box.x - edge} ${box.y - edge} ${box.width + 2 * edge} ${box.height + 2 * edge}`}
          role="img"
          aria-label={words.onFloor(slot.slot_id)}
          focusable="false"
        >
          {drawn.map(({ id, color: of, floor_plan_polygon: points }) => (
            <path key={id} class="small-zone" fill={safeColor(of)} stroke={safeColor(of)} d={pathOf(points ?? [])} />
          ))}
          <path class="small-slots" stroke={color} d={beside.map((one) => pathOf(one.floor_plan_polygon)).join('')} />
          <path class="small-own" d={pathOf(slot.floor_plan_polygon)} />
          {size < side / 5 ? <circle class="small-ring" cx={x} cy={y} r={radius} /> : null}
        </svg>
      </a>
      <figcaption class="small-caption">{words.inZone(slot.slot_id, slot.zone)}</figcaption>
    </figure>
  )
}

type Alike = Asset & {
  readonly location: {
    readonly slot: { readonly id: number; readonly slot_id: string } | null
    readonly since: string | null
  } | null
}

/** Whether a message of the gateway moves one of these pallets. */
const movesOne = (heard: Heard, known: Page<Alike> | undefined): boolean =>
  heard.kind === 'event' &&
  (known?.data ?? []).some(({ asset_id }) => asset_id === heard.data.asset_barcode || asset_id === heard.data.asset_key)

type AlikeProps = { asset: Asset; timeZone: string | undefined }

/** Scope of a recall of the same goods: every pallet with this GTIN and lot, with its place. */
export const SameGoods = ({ asset: { asset_id, gtin, lot }, timeZone }: AlikeProps) => {
  const query = new URLSearchParams({ gtin: gtin ?? '', ...(lot !== null && { lot }), location: 'true' })
  const { answer } = useLive(
    () => ask<Page<Alike>>(`/api/whms/assets?${query}&limit=${mostAlike}`),
    ['event'],
    () => {},
    { isAbout: movesOne, isUrgent: true },
  )
  if (!answer) return null
  const { data, pagination } = answer
  const others = data.filter((one) => one.asset_id !== asset_id)
  const total = (pagination.total ?? data.length) - (data.length - others.length)
  const here = others.filter(({ location }) => location?.slot).length
  return (
    <section class="card" aria-labelledby="alike-title">
      <h2 id="alike-title">{words.alike}</h2>
      <p>
        {total === 0 ? words.noneAlike(lot !== null) : words.countAlike(total, here, lot !== null, pagination.hasMore)}
      </p>
      {others.length === 0 ? null : (
        <Scroller name={words.alike}>
          <table class="alike">
            <thead>
              <tr>
                <th class="alike-cell" scope="col">
                  {words.pallet}
                </th>
                <th class="alike-cell" scope="col">
                  {words.place}
                </th>
                <th class="alike-cell" scope="col">
                  {words.since}
                </th>
              </tr>
            </thead>
            <tbody>
              {others.map(({ asset_id: code, location }) => (
                <tr key={code}>
                  <th class="alike-cell" scope="row">
                    <a class="code" href={pageOfCode(code)} onClick={follow}>
                      {printable(code)}
                    </a>
                  </th>
                  <td class="alike-cell">
                    {location?.slot ? (
                      <a href={`/?slot=${location.slot.id}`} onClick={follow}>
                        {location.slot.slot_id}
                      </a>
                    ) : location === null ? (
                      words.hidden
                    ) : (
                      words.nowhere
                    )}
                  </td>
                  <td class="alike-cell">{location?.since ? exactTime(location.since, timeZone) : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
    </section>
  )
}

type CountHere = { readonly count: Count; readonly state: CountSlot['state'] }

async function countsOver(slotId: number): Promise<readonly CountHere[]> {
  const { data } = await get('/api/whms/counts', {})
  const open = data.filter(({ state }) => state === 'open' || state === 'counting').slice(0, mostCounts)
  const found = await Promise.all(
    open.map(async (count) => {
      const slots = await get('/api/whms/counts/{id}/slots', { id: count.id })
      const slot = slots.data.find(({ slot_id }) => slot_id === slotId)
      return slot ? [{ count, state: slot.state }] : []
    }),
  )
  return found.flat()
}

/** The counts that are under way over this slot: until they are approved its pallet may turn out to be another one. */
export const CountsHere = ({ slotId, label, changes }: { slotId: number; label: string; changes: unknown }) => {
  const found = useBeside(() => countsOver(slotId), changes)
  if (!found || found.length === 0) return null
  return (
    <section class="card" aria-labelledby="counts-title">
      <h2 id="counts-title">{words.counts}</h2>
      <ul>
        {found.map(({ count, state }) => (
          <li key={count.id}>
            <a href={`/counts/${count.id}`} onClick={follow}>
              {words.count(count.reference ?? count.id)}
            </a>
            {': '}
            {words.counted[state](label)}
          </li>
        ))}
      </ul>
    </section>
  )
}
