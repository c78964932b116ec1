import fc from 'fast-check'
import t from 'tap'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { type ReplayedEvent, replayLocation, replaySlot, replayUtilization } from '../support/replay.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const labels = ['A', 'B', 'C']
const pallets = ['P1', 'P2', 'P3']
const startMs = Date.UTC(2026, 2, 2, 8)

/** One scan: what, where, whose, how long after the one before it was received, and how late. Few values: many ties. */
const scan = fc.record({
  event_type: fc.constantFrom('PLACED', 'PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'),
  slot_id: fc.integer({ min: 1, max: labels.length }),
  asset_barcode: fc.constantFrom(...pallets),
  afterMs: fc.constantFrom(0, 0, 1, 60_000),
  lateMs: fc.constantFrom(undefined, undefined, 0, 1, 60_000, 3_600_000, -60_000),
})
type Scan = { event_type: string; slot_id: number; asset_barcode: string; afterMs: number; lateMs: number | undefined }

t.test('whatever the scanners send, the gateway and a plain replay of its history tell the same floor', async (t) => {
  let played = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(scan, { minLength: 1, maxLength: 25 }),
      fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      async (scans, picks) => {
        const gateway = await testGateway({ clock: new SimulatedClock(startMs) })
        try {
          await furnish(gateway, labels)
          const events = await play(gateway, scans)
          if (events.length !== scans.length) throw new Error(`${scans.length} sent, ${events.length} recorded`)
          for (const when of moments(events, picks)) await compare(gateway, events, when)
          played += 1
        } finally {
          gateway.end()
        }
      },
    ),
    { numRuns: 60 },
  )
  t.equal(played, 60, 'all histories were compared')
})

async function play(gateway: TestGateway, scans: readonly Scan[]): Promise<ReplayedEvent[]> {
  const photo_url = await heldPhoto(gateway)
  const events: ReplayedEvent[] = []
  for (const { afterMs, lateMs, ...event } of scans) {
    gateway.clock.advance(afterMs)
    const timestamp = lateMs === undefined ? undefined : new Date(gateway.clock.now() - lateMs).toISOString()
    const { status, body } = await gateway.ask('POST', '/api/whms/events', {
      by: people.sven,
      body: { ...event, timestamp, ...(event.event_type === 'PLACED' && { photo_url }) },
    })
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
    events.push({
      id: body.id,
      eventType: body.event_type,
      slotId: body.slot_id,
      assetBarcode: body.asset_barcode,
      assetKey: body.asset_key,
      timestampMs: Date.parse(body.timestamp),
      receivedAtMs: Date.parse(body.received_at),
    })
    // What the answer says of the slot is the floor as of then.
    const { isOccupied, assetBarcode, isVerified, isDisputed } = body.slot
    same({ isOccupied, assetBarcode, isVerified, isDisputed }, replaySlot(events, body.slot_id), 'the answer')
  }
  return events
}

type When = { atMs?: number; knownAtMs?: number }

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
  for (const slotId of [1, 2, 3]) {
    const one = (await get(`/api/whms/slots/${slotId}`)).body
    for (const slot of [one, list[slotId - 1]]) {
      const { isOccupied, assetBarcode, isVerified, isDisputed } = slot
      same(
        { isOccupied, assetBarcode, isVerified, isDisputed },
        replaySlot(events, slotId, when),
        `slot ${slotId} ${query}`,
      )
    }
  }
  for (const pallet of pallets) {
    const { status, body } = await get(`/api/whms/assets/${pallet}/location`)
    const found = status === 404 ? undefined : { slotId: body.slot?.id ?? null }
    same(found, replayLocation(events, pallet, when), `${pallet} ${query}`)
  }
  const { totalSlots, occupiedSlots, pendingVerifications } = (await get('/api/whms/dashboard/utilization')).body
  same(
    { totalSlots, occupiedSlots, pendingVerifications },
    replayUtilization(events, [1, 2, 3], when),
    `utilization ${query}`,
  )
}

function same(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`${what}: the gateway says ${JSON.stringify(found)}, the replay ${JSON.stringify(expected)}`)
}
