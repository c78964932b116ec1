import fc from 'fast-check'
import t from 'tap'
import { joined, pass } from '../support/fed-gateway.ts'
import { furnish, heldPhoto, people, type TestGateway } from '../support/gateway.ts'
import { askAs, headOffice } from '../support/head-office.ts'
import type { TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

type Move = { readonly event: 'PLACED' | 'REMOVED' | 'VERIFIED'; readonly slot: number; readonly asset: number }
/** A move, so many minutes after those before it; below 0 it is recorded late. */
type Timed = Move & { readonly minutes: number }

const startMs = Date.UTC(2026, 1, 2, 6)

/** A gateway with slots of these numbers, and the head office that it feeds. */
async function yard(t: Parameters<typeof headOffice>[0]) {
  const hub = await headOffice(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const photo_url = await heldPhoto(gateway, 1)
  let stories = 0
  /** Plays a history in its slots and with its pallets. Returns their places by the gateway and by the head office. */
  const play = async (history: readonly Timed[]) => {
    stories += 1
    const slot = (n: number) => `X${stories}-${n}`
    const asset = (n: number) => `Q${stories}-${n}`
    await furnish(gateway, [1, 2, 3].map(slot))
    let atMs = startMs
    for (const { event, slot: n, asset: m, minutes } of history) {
      atMs += Math.max(minutes, 0) * 60_000
      const timestamp = new Date(atMs + Math.min(minutes, 0) * 60_000).toISOString()
      const body = { event_type: event, slot_code: slot(n), asset_barcode: asset(m), photo_url, timestamp }
      const { status, text } = await gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
      if (status !== 201) throw new Error(`${JSON.stringify(body)} was answered with ${text}`)
    }
    await pass(gateway, 60_000)
    const assets = [...new Set(history.map((one) => asset(one.asset)))].toSorted()
    const there = await Promise.all(assets.map((one) => atGateway(gateway, one)))
    return { gateway: there, hub: await Promise.all(there.map((one) => atHub(hub, one))) }
  }
  return { hub, gateway, play }
}

async function atGateway(gateway: TestGateway, asset: string) {
  const { body } = await gateway.ask('GET', `/api/whms/assets/${asset}/location`, { by: people.ada })
  return { asset, slot: body.slot?.slot_id ?? null, since: body.since ?? null }
}

/** The gateway gives no time for a pallet that was placed nowhere. The head office gives the time of its newest move. */
async function atHub(hub: TestHub, { asset, since }: { readonly asset: string; readonly since: string | null }) {
  const [found] = (await askAs(hub, `/api/hub/search?code=${asset}`)).body.data
  return { asset, slot: found?.slot ?? null, since: since === null ? null : found?.since }
}

const { play } = await yard(t)
const moved = (event: Move['event'], slot: number, asset: number, minutes = 10): Timed => ({
  event,
  slot,
  asset,
  minutes,
})

t.test(
  'a pallet whose slot another one was placed in is in no slot, at the head office as at its gateway',
  async (t) => {
    const { hub, gateway } = await play([moved('PLACED', 1, 1), moved('PLACED', 1, 2)])
    t.match(hub, [{ slot: null }, { slot: /-1$/ }])
    t.same(hub, gateway)
  },
)

t.test('a removal from another slot takes a pallet out of none, at the head office as at its gateway', async (t) => {
  const { hub, gateway } = await play([moved('PLACED', 1, 1), moved('PLACED', 2, 1), moved('REMOVED', 1, 1)])
  t.match(hub, [{ slot: /-2$/ }])
  t.same(hub, gateway)
})

t.test('an event that is recorded late changes both answers alike', async (t) => {
  const { hub, gateway } = await play([moved('PLACED', 1, 1), moved('PLACED', 2, 1, 60), moved('PLACED', 2, 2, -5)])
  t.match(hub, [{ slot: /-2$/ }, { slot: null }])
  t.same(hub, gateway)
})

const move = fc.record({
  event: fc.constantFrom('PLACED', 'PLACED', 'REMOVED', 'VERIFIED'),
  slot: fc.integer({ min: 1, max: 3 }),
  asset: fc.integer({ min: 1, max: 3 }),
  // Some come late, and some at one moment.
  minutes: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -90, max: 0 })),
})

t.test('whatever happened, the head office and the gateway say the same of where each pallet is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 14 }), async (history) => {
      const { hub, gateway } = await play(history as Timed[])
      return JSON.stringify(hub) === JSON.stringify(gateway)
    }),
    { numRuns: 40 },
  )
})
