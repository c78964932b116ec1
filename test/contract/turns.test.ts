import t from 'tap'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { noteReads } from '../support/statements.ts'

/** Three slices of the list of assets. */
const pallets = 250
const atOnce = 20
const units = '/api/whms/transport-units'

const lists = [
  '/api/whms/assets?location=true',
  '/api/whms/discrepancies',
  '/api/whms/slots?limit=1000&offset=0',
  '/api/whms/events?asset_barcode=P-7',
]

t.test('however many reads one caller asks for at once, a turn of the event loop has one slice', async (t) => {
  const reads = noteReads()
  t.teardown(() => reads.stop())
  const gateway = await hall(t)
  const longestTurn = () => Math.max(...reads.taken().map(({ statements }) => statements.length))
  for (const path of lists) {
    const ask = () => gateway.ask('GET', path, { by: people.olga })
    await ask()
    reads.taken()
    t.equal((await ask()).status, 200)
    const alone = longestTurn()
    const answers = await Promise.all(Array.from({ length: atOnce }, ask))
    t.ok(answers.every(({ status }) => status === 200))
    // Each request also has a few reads before its first slice.
    t.ok(longestTurn() <= alone + 10 * atOnce, `${path}: ${alone} statements in the longest turn of one request`)
  }
})

t.test('a caller with one read waits for one slice of another caller at a time, not for all of them', async (t) => {
  const gateway = await hall(t)
  const done: string[] = []
  const ask = async (by: (typeof people)['olga' | 'vera']) => {
    await gateway.ask('GET', '/api/whms/assets?location=true', { by })
    done.push(by.username)
  }
  await Promise.all([...Array.from({ length: atOnce }, () => ask(people.olga)), ask(people.vera)])
  t.equal(done[0], 'vera', done.join(' '))
})

t.test('sixty receipts by link take one slice a turn, and a booking is done before them', async (t) => {
  const reads = noteReads()
  t.teardown(() => reads.stop())
  const gateway = await hall(t)
  const unit = { reference: 'CMR 4711', direction: 'inbound', warehouseId: 1 }
  const { body: made } = await gateway.ask('POST', units, { by: people.ada, body: unit })
  const placed = (n: number) => ({
    ...{ event_type: 'PLACED', slot_code: 'A-02', asset_barcode: `R-${n}`, work_order_ref: unit.reference },
    photo_url: `https://photos.example/r-${n}.jpg`,
  })
  const events = Array.from({ length: 60 }, (_, n) => placed(n))
  await gateway.ask('POST', '/api/whms/events/batch', { by: people.ada, body: { events } })
  const { body: link } = await gateway.ask('GET', `${units}/${made.id}/receipt-link`, { by: people.ada })
  const address = `${units}/${made.id}/receipt${new URL(link.url).search}`
  const longestTurn = () => Math.max(...reads.taken().map(({ statements }) => statements.length))
  const receipt = async () => (await gateway.ask('GET', address)).status
  t.equal(await receipt(), 200)
  reads.taken()
  await receipt()
  const alone = longestTurn()
  const done: string[] = []
  const all = Array.from({ length: 60 }, async () => {
    t.equal(await receipt(), 200)
    done.push('receipt')
  })
  await Promise.resolve()
  const body = { event_type: 'REMOVED', slot_code: 'A-02', asset_barcode: 'R-59' }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  done.push('booking')
  await Promise.all(all)
  t.equal(done[0], 'booking')
  t.ok(alone <= 150, `${alone} statements in the longest turn of one receipt`)
  t.ok(longestTurn() <= alone + 5 * 60, 'sixty have one slice a turn')
})

async function hall(t: { teardown(end: () => void): void }): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01', 'A-02'])
  for (let from = 0; from < pallets; from += 50) {
    const events = Array.from({ length: 50 }, (_, n) => ({
      ...{
        event_type: 'PLACED',
        slot_code: 'A-01',
        asset_barcode: `P-${from + n}`,
        photo_url: `https://photos.example/${from + n}.jpg`,
      },
    }))
    const { status, text } = await gateway.ask('POST', '/api/whms/events/batch', { by: people.ada, body: { events } })
    if (status >= 300) throw new Error(text)
  }
  return gateway
}
