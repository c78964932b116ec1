import fc from 'fast-check'
import t from 'tap'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import {
  type ReplayedEvent,
  replayDiscrepancies,
  replayLocation,
  replaySlot,
  replayStays,
  replayUtilization,
  type When,
} from '../support/replay.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const labels = ['A', 'B', 'C']
const slotIds = [1, 2, 3]
const pallets = ['P1', 'P2', 'P3']
const startMs = Date.UTC(2026, 2, 2, 8)
const runs = 60

const slot_id = fc.integer({ min: 1, max: labels.length })
const asset_barcode = fc.constantFrom(...pallets)
/** How long before it arrives it happened; few values: many ties. */
const lateMs = fc.constantFrom(undefined, undefined, 0, 1, 60_000, 3_600_000, -60_000)
const event = fc.record({
  event_type: fc.constantFrom('PLACED', 'PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'),
  slot_id,
  asset_barcode,
  lateMs,
})
type Event = { event_type: string; slot_id: number; asset_barcode: string; lateMs: number | undefined }

/** An act of people on the floor; `afterMs` is the time since the act before. */
const act = fc.record({
  afterMs: fc.constantFrom(0, 0, 1, 60_000),
  act: fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('event' as const), event }), weight: 6 },
    {
      arbitrary: fc.record({
        kind: fc.constant('batch' as const),
        mode: fc.constantFrom('proceed', 'rollback'),
        events: fc.array(event, { minLength: 1, maxLength: 4 }),
        broken: fc.boolean(),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant('move' as const),
        asset_barcode,
        to_slot_id: slot_id,
        from_slot_id: fc.option(slot_id, { nil: undefined }),
        lateMs,
      }),
      weight: 2,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant('correct' as const),
        pick: fc.nat(),
        right: fc.oneof(fc.constant({ none: true }), fc.record({ slot_id }), fc.record({ slot_id, asset_barcode })),
      }),
      weight: 2,
    },
  ),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never
type Right = { none?: boolean; slot_id?: number; asset_barcode?: string }

t.test('whatever people do, the gateway and a plain replay of its history tell the same floor', async (t) => {
  const counts = { event: 0, batch: 0, move: 0, correct: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 20, size: 'max' }),
      fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      async (acts, picks) => {
        const gateway = await testGateway({ clock: new SimulatedClock(startMs) })
        try {
          await furnish(gateway, labels)
          let events: ReplayedEvent[] = []
          for (const { afterMs, act } of acts) {
            gateway.clock.advance(afterMs)
            if (await play(gateway, act, events)) counts[act.kind] += 1
            const now = await recorded(gateway)
            if (act.kind === 'correct') asIfBookedRight(events, now, act)
            events = now
          }
          for (const when of moments(events, picks)) await compare(gateway, events, when)
        } finally {
          gateway.end()
        }
      },
    ),
    { numRuns: runs },
  )
  for (const [kind, count] of Object.entries(counts)) t.ok(count > runs / 4, `${kind}: ${count} recorded`)
})

let photos = 0

/** Each placement has its own photo, so no correction that restates it may be reported as another use of it. */
function ownPhoto(): string {
  photos += 1
  return `https://photos.example/${photos}.jpg`
}

/** Does it through the API. Returns whether anything was recorded. */
async function play(gateway: TestGateway, act: Act['act'], events: readonly ReplayedEvent[]): Promise<boolean> {
  const timestamp = (late: number | undefined) =>
    late === undefined ? undefined : new Date(gateway.clock.now() - late).toISOString()
  const body = ({ lateMs: late, ...one }: Event) => ({
    ...one,
    timestamp: timestamp(late),
    ...(one.event_type === 'PLACED' && { photo_url: ownPhoto() }),
  })
  const post = async (path: string, sent: unknown, ...expected: number[]) => {
    const answer = await gateway.ask('POST', `/api/whms/${path}`, { by: people.sven, body: sent })
    if (!expected.includes(answer.status)) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  if (act.kind === 'event') {
    const { body: given } = await post('events', body(act.event), 201)
    // The slot in the answer equals the replayed floor at that moment.
    same(flags(given.slot), replaySlot(await recorded(gateway), given.slot_id), 'the answer')
    return true
  }
  if (act.kind === 'batch') {
    const broken = act.broken
      ? [{ event_type: 'PLACED', slot_code: 'nowhere', asset_barcode: 'P1', photo_url: ownPhoto() }]
      : []
    const refused = act.broken && act.mode === 'rollback'
    const sent = { mode: act.mode, events: [...act.events.map(body), ...broken] }
    const status = refused ? 400 : act.mode === 'rollback' ? 201 : 200
    await post('events/batch', sent, status)
    const more = (await recorded(gateway)).length - events.length
    if (more !== (refused ? 0 : act.events.length)) throw new Error(`a batch recorded ${more} of ${act.events.length}`)
    return !refused
  }
  if (act.kind === 'move') {
    const { kind: _, lateMs: late, ...move } = act
    const { body: given } = await post('moves', { ...move, timestamp: timestamp(late), photo_url: ownPhoto() }, 201)
    if (given.removed && given.removed.timestamp >= given.placed.timestamp) throw new Error('a move is not in order')
    return true
  }
  const wrong = events[act.pick % Math.max(events.length, 1)]
  if (!wrong) return false
  const { status } = await post(`events/${wrong.id}/correct`, { ...act.right, reason: 'wrong' }, 201, 400)
  return status === 201
}

async function recorded(gateway: TestGateway): Promise<ReplayedEvent[]> {
  const { body } = await gateway.ask('GET', '/api/whms/events?after_seq=0&limit=500', { by: people.sven })
  return body.data.map((e: Record<string, string>) => ({
    id: e['id'],
    eventType: e['event_type'],
    slotId: e['slot_id'],
    assetBarcode: e['asset_barcode'],
    assetKey: e['asset_key'],
    timestampMs: Date.parse(e['timestamp'] ?? ''),
    receivedAtMs: Date.parse(e['received_at'] ?? ''),
    corrects: e['corrects_event_id'] ?? null,
  }))
}

/**
 * After a correction, the floor equals that of a ledger in which the event was booked right from the start. Slots about
 * which this ledger contradicts itself at that time are left out, because no event could express that.
 */
function asIfBookedRight(before: readonly ReplayedEvent[], after: readonly ReplayedEvent[], act: Act['act']): void {
  if (act.kind !== 'correct' || before.length === after.length) return
  const wrong = before[act.pick % before.length]
  if (!wrong || (wrong.eventType !== 'PLACED' && wrong.eventType !== 'REMOVED')) return
  // A correction comes behind all of its millisecond, as the room's README says.
  if (before.some((e) => e.id > wrong.id && e.timestampMs === wrong.timestampMs)) return
  const right: Right = act.right
  const replaced: ReplayedEvent = {
    ...wrong,
    slotId: right.slot_id ?? wrong.slotId,
    assetKey: right.asset_barcode ?? wrong.assetKey,
    assetBarcode: right.asset_barcode ?? wrong.assetBarcode,
  }
  const wished = before.flatMap((e) => (e.id !== wrong.id ? [e] : right.none ? [] : [replaced]))
  const then = { atMs: wrong.timestampMs }
  const plain = slotIds.filter((id) => agrees(wished, id, then))
  const times = [wrong.timestampMs, ...before.map((e) => e.timestampMs).filter((ms) => ms > wrong.timestampMs)]
  for (const atMs of times) {
    for (const key of pallets) {
      const place = (events: readonly ReplayedEvent[]) => replayLocation(events, key, { atMs })?.slotId ?? null
      same(place(after), place(wished), `${key} at ${atMs} after correcting ${wrong.id}`)
    }
    for (const id of plain) {
      const occupant = (events: readonly ReplayedEvent[]) => replaySlot(events, id, { atMs }).assetBarcode
      same(occupant(after), occupant(wished), `slot ${id} at ${atMs} after correcting ${wrong.id}`)
    }
  }
}

/** Whether the slot shows the one pallet whose location it is. */
function agrees(events: readonly ReplayedEvent[], slotId: number, when: When): boolean {
  const { assetBarcode } = replaySlot(events, slotId, when)
  const standing = pallets.filter((key) => replayLocation(events, key, when)?.slotId === slotId)
  return JSON.stringify(standing) === JSON.stringify(assetBarcode === null ? [] : [assetBarcode])
}

/** Now, and pasts at and beside the times of events: as known now, and as known then. */
function moments(events: readonly ReplayedEvent[], picks: readonly number[]): When[] {
  const pick = (times: number[], n = 0) => times[n % times.length] ?? startMs
  const happened = events.flatMap((e) => [e.timestampMs, e.timestampMs - 1])
  const received = events.flatMap((e) => [e.receivedAtMs, e.receivedAtMs - 1])
  return [
    {},
    { atMs: pick(happened, picks[0]) },
    { knownAtMs: pick(received, picks[1]) },
    { atMs: pick(happened, picks[2]), knownAtMs: pick(received, picks[3]) },
  ]
}

async function compare(gateway: TestGateway, events: readonly ReplayedEvent[], when: When): Promise<void> {
  const query = new URLSearchParams({
    ...(when.atMs !== undefined && { at: new Date(when.atMs).toISOString() }),
    ...(when.knownAtMs !== undefined && { known_at: new Date(when.knownAtMs).toISOString() }),
  })
  const get = async (path: string) => gateway.ask('GET', `${path}?${query}`, { by: people.vera })
  const list = (await get('/api/whms/slots')).body.data
  for (const slotId of slotIds) {
    const one = (await get(`/api/whms/slots/${slotId}`)).body
    for (const slot of [one, list[slotId - 1]])
      same(flags(slot), replaySlot(events, slotId, when), `slot ${slotId} ${query}`)
    const { body } = await get(`/api/whms/slots/${slotId}/history`)
    same(body.data.map(stayOf), replayStays(events, { slotId }, when), `history of slot ${slotId} ${query}`)
  }
  const listed = await locations(gateway, query)
  for (const pallet of pallets) {
    const { status, body } = await get(`/api/whms/assets/${pallet}/location`)
    const found = status === 404 ? undefined : locationOf(body)
    const expected = replayLocation(events, pallet, when)
    same(found, expected, `${pallet} ${query}`)
    // The slot of a location always holds that asset.
    if (body.slot) {
      const { isOccupied, assetBarcode } = list[body.slot.id - 1]
      same({ isOccupied, assetBarcode }, { isOccupied: true, assetBarcode: pallet }, `the slot of ${pallet} ${query}`)
      same(flags(body.slot), replaySlot(events, body.slot.id, when), `the slot with ${pallet} ${query}`)
    }
    const known = replayLocation(events, pallet)
    const now = known && (listed.get(pallet)?.now ?? 'not listed')
    same(now, known, `${pallet} in the list of assets`)
    if (expected && query.size > 0) same(listed.get(pallet)?.past, expected, `${pallet} in the list of assets ${query}`)
    const { matches } = (await gateway.ask('GET', `/api/whms/scan/${pallet}`, { by: people.vera })).body
    const scanned = matches.find(({ kind }: { kind: string }) => kind === 'asset')
    same(scanned && locationOf(scanned.location), known, `a scan of ${pallet}`)
    const history = await get(`/api/whms/assets/${pallet}/history`)
    const stays = history.status === 404 ? [] : history.body.data.map(stayOf)
    same(stays, replayStays(events, { assetKey: pallet }, when), `history of ${pallet} ${query}`)
  }
  const { totalSlots, occupiedSlots, pendingVerifications } = (await get('/api/whms/dashboard/utilization')).body
  same(
    { totalSlots, occupiedSlots, pendingVerifications },
    replayUtilization(events, slotIds, when),
    `utilization ${query}`,
  )
  const discrepancies = (await get('/api/whms/discrepancies')).body.data
    .map((d: { kind: string; slot: { id: number }; eventIds: number[] }) => `${d.kind} ${d.slot.id}: ${d.eventIds}`)
    .toSorted()
  same(discrepancies, replayDiscrepancies(events, slotIds, when), `discrepancies ${query}`)
}

type Located = { slot: { id: number } | null; lastSlot: { id: number } | null; endedBy: number | null }

const locationOf = ({ slot, lastSlot, endedBy }: Located) => ({
  slotId: slot?.id ?? null,
  lastSlotId: lastSlot?.id ?? null,
  endedBy,
})

/** Returns the locations in the list of assets: the current one, and the one at the time of the query. */
async function locations(gateway: TestGateway, query: URLSearchParams) {
  const { body } = await gateway.ask('GET', `/api/whms/assets?location=true&${query}`, { by: people.vera })
  type Asset = { asset_id: string; location: Located; locationThen?: Located }
  return new Map(
    (body.data as Asset[]).map(({ asset_id, location, locationThen }) => [
      asset_id,
      { now: locationOf(location), past: locationThen && locationOf(locationThen) },
    ]),
  )
}

type ListedStay = { placed: { id: number }; ended: { id: number } | null; judgements: { id: number }[] }

const stayOf = ({ placed, ended, judgements }: ListedStay) => ({
  placedId: placed.id,
  endedId: ended?.id ?? null,
  judgedBy: judgements.map(({ id }) => id),
})

function flags({ isOccupied, assetBarcode, isVerified, isDisputed }: Record<string, unknown>) {
  return { isOccupied, assetBarcode, isVerified, isDisputed }
}

function same(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`${what}: the gateway says ${JSON.stringify(found)}, the replay ${JSON.stringify(expected)}`)
}
