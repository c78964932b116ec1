import t from 'tap'
import { MemoryStore, type NewItem, type Photo } from '../../src/console/page/scan/items.ts'
import type { Outcome } from '../../src/console/page/scan/outcome.ts'
import { outcomeOf, runOutcomeOf } from '../../src/console/page/scan/outcome.ts'
import { type QueueState, ScanQueue } from '../../src/console/page/scan/queue.ts'
import { waitUntil } from '../support/waiting.ts'

const fault = { success: false, error: { code: 'INTERNAL_ERROR', message: 'The gateway failed' } }
const item = (id: string, asset_barcode: string, slot_code: string): NewItem => ({
  ...{ id, by: 'olga', title: id, path: '/api/whms/events', at: '2026-03-02T08:00:00Z' },
  body: { event_type: 'PLACED', asset_barcode, slot_code },
})

/** A queue whose gateway fails at the items in `broken`; `sent` are those that it took. */
function queueWith(broken: Set<string>, { store = new MemoryStore(), photoMs = 0 } = {}) {
  const sent: string[] = []
  let state: QueueState | undefined
  let [nowMs, asked] = [0, 0]
  const answer = async (id: string): Promise<Outcome> => {
    asked += 1
    if (broken.has(id)) return outcomeOf(500, fault, null)
    sent.push(id)
    return outcomeOf(201, { success: true }, null)
  }
  const answerTo = async (ids: readonly string[]) => {
    asked += 1
    if (ids.some((id) => broken.has(id))) return runOutcomeOf(500, fault, null, ids.length)
    sent.push(...ids)
    const results = ids.map((_, index) => ({ index, status: 201, event: {} }))
    return runOutcomeOf(200, { success: true, results }, null, ids.length)
  }
  let isBusy = 0
  const queue = new ScanQueue({
    store,
    send: ({ id }) => answer(id),
    sendRun: (run) => answerTo(run.map(({ id }) => id)),
    hasPhoto: async () => true,
    sendPhoto: () => {
      nowMs += photoMs
      return answer('photo')
    },
    tell: (next) => {
      state = next
    },
    onRefused: () => {},
    alone: async (work) => {
      isBusy += 1
      await work().finally(() => {
        isBusy -= 1
      })
    },
    nowMs: () => nowMs,
  })
  const settle = async () => {
    const before = asked
    queue.wake()
    await waitUntil('all is sent that can be', () => isBusy === 0 && (asked > before || broken.size === 0))
  }
  return { queue, sent, settle, state: () => state, pass: (ms: number) => (nowMs += ms) }
}

t.test(
  'a scan at which the gateway fails each time is set aside in sight, and the others pass in their order',
  async (t) => {
    const broken = new Set(['first'])
    const { queue, sent, settle, state, pass } = queueWith(broken)
    await queue.take(item('first', 'P-1', 'A-01'), undefined)
    await queue.take(item('same pallet', 'P-1', 'A-02'), undefined)
    await queue.take(item('same slot', 'P-2', 'a-01'), undefined)
    await queue.take(item('after what waits', 'P-2', 'A-05'), undefined)
    await queue.take(item('another', 'P-3', 'A-03'), undefined)
    for (let n = 0; n < 6 && state()?.aside.size === 0; n += 1) await settle()
    await waitUntil('the other one is sent', () => sent.length > 0)
    await waitUntil('nothing rests', () => state()?.rests === '')
    t.strictSame(sent, ['another'], 'what is about the same pallet or slot waits behind it')
    t.strictSame([...(state()?.aside.values() ?? [])], ['The gateway failed'])
    t.strictSame(
      state()?.items.map(({ id }) => id),
      ['first', 'same pallet', 'same slot', 'after what waits'],
      'and all of it stays in sight',
    )
    broken.clear()
    queue.wake()
    pass(5 * 60_000 + 1)
    queue.wake()
    await waitUntil('all are sent', () => sent.length === 5)
    t.strictSame(sent, ['another', 'first', 'same pallet', 'same slot', 'after what waits'])
    await waitUntil('nothing is aside', () => state()?.aside.size === 0 && state()?.items.length === 0)
  },
)

t.test('what says nothing about a scan sets none aside', async (t) => {
  for (const status of [503, 429, 409, 408]) {
    t.notOk((outcomeOf(status, fault, null) as { isFault?: boolean }).isFault, `${status}`)
  }
  t.notOk((outcomeOf(500, undefined, null) as { isFault?: boolean }).isFault, 'a page of a proxy')
  t.ok((outcomeOf(500, fault, null) as { isFault?: boolean }).isFault)
})

t.test(
  'events do not wait for all photos: those that are ready go after a megabyte or ten seconds of photos',
  async (t) => {
    for (const { bytes, photoMs } of [
      { bytes: 600_000, photoMs: 0 },
      { bytes: 60, photoMs: 6000 },
    ]) {
      const store = new MemoryStore()
      const photo: Photo = { bytes: new ArrayBuffer(bytes), type: 'image/jpeg' }
      for (const id of ['a', 'b', 'c']) await store.add(item(id, `P-${id}`, `A-${id}`), photo)
      const { queue, sent, state } = queueWith(new Set(), { store, photoMs })
      await queue.start()
      await waitUntil('all is sent', () => state()?.items.length === 0)
      t.strictSame(sent, ['photo', 'photo', 'a', 'b', 'photo', 'c'])
    }
  },
)

t.test('a refused scan that is sent again sends its photo again', async (t) => {
  const store = new MemoryStore()
  const photo: Photo = { bytes: new ArrayBuffer(60), type: 'image/jpeg' }
  const { n } = await store.add(item('a', 'P-1', 'A-01'), photo)
  await store.photoSent(n, { url: '/photo', sha256: '00' })
  const [sentBefore] = await store.items()
  if (!sentBefore) throw new Error('it is not stored')
  await store.settle([{ item: sentBefore, refusal: 'no such slot' }])
  const { queue, sent, state } = queueWith(new Set(), { store })
  await queue.start()
  await queue.sendAgain(sentBefore)
  await waitUntil('all is sent', () => state()?.items.length === 0)
  t.strictSame(sent, ['photo', 'a'])
})
