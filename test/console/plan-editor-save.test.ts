import t, { type Test } from 'tap'
import { onceKeys } from '../../src/console/page/data/once-key.ts'
import type { Change, PlanSlot } from '../../src/console/page/plan/draft.ts'
import { saveAll } from '../../src/console/page/plan/save.ts'
import { furnish, people, signedIn, testGateway } from '../support/gateway.ts'

const by = people.ada
const labels = Array.from({ length: 205 }, (_, n) => `S-${n + 1}`)
const square = (x: number) => [
  { x, y: 0 },
  { x: x + 1, y: 0 },
  { x: x + 1, y: 1 },
  { x, y: 1 },
]

/** A hall with 205 slots, and the plan editor's line to its gateway. `trouble`: what it gets in place of an answer. */
async function editor(
  t: Test,
  trouble: (asked: number, answer: () => Promise<Response>) => Response | undefined | Promise<Response> = () =>
    undefined,
) {
  const gateway = await testGateway()
  const browsers = globalThis.fetch
  const asked: string[] = []
  globalThis.fetch = async (path, how) => {
    asked.push(`${how?.method} ${path}`)
    const headers = { ...signedIn(by), ...Object.fromEntries(new Headers(how?.headers)) }
    const answer = async () => gateway.api.request(String(path), { ...how, headers })
    return (await trouble(asked.length, answer)) ?? answer()
  }
  t.teardown(() => {
    globalThis.fetch = browsers
    gateway.end()
  })
  await furnish(gateway, labels)
  const read = async () => (await gateway.ask('GET', '/api/whms/slots', { by })).body.data as PlanSlot[]
  const shown: string[] = []
  const moved = (slots: readonly PlanSlot[]): Change[] =>
    slots.map((slot, n) => ({ slot, body: { floor_plan_polygon: square(n) } }))
  return { gateway, asked, shown, read, moved, tell: (words: string) => shown.push(words) }
}

const zone = {
  ...{ key: 'zone 1', label: 'S', path: '/api/whms/zones/1', version: 1 },
  body: { floor_plan_polygon: square(0) },
}

t.test('two hundred slots are saved in three requests, and one that somebody else changed is named', async (t) => {
  const { gateway, asked, shown, read, moved, tell } = await editor(t)
  const changes = moved(await read())
  await gateway.ask('PUT', '/api/whms/slots/S-150', { by, body: { retired: true } })
  const bad = { slot: changes[2]?.slot as PlanSlot, body: { zoneId: 77 } }
  const { stored, refused, isStopped } = await saveAll(changes.with(2, bad), [zone], onceKeys(), tell)
  const batch = 'POST /api/whms/slots/batch'
  t.strictSame(asked, [batch, batch, batch, 'PUT /api/whms/zones/1'])
  t.match(shown[1], '100')
  t.notOk(isStopped)
  t.match(refused, [
    { label: 'S-3', why: /no zone 77/ },
    { label: 'S-150', why: /somebody else changed it meanwhile/ },
  ])
  t.equal(refused.length, 2)
  t.equal(stored.size, 204, '203 slots and the outline')
  t.match(stored.get('slot 205'), { id: 205, version: 2, floor_plan_polygon: square(204) })
  const now = await read()
  t.match(now[149], { version: 2, floor_plan_polygon: changes[149]?.slot.floor_plan_polygon })
  t.match(now[204], { version: 2, floor_plan_polygon: square(204) })
})

t.test('when the gateway stops answering, what it stored counts and the rest is named', async (t) => {
  const failed = { success: false, error: { code: 'INTERNAL_ERROR', message: 'It failed' } }
  const { asked, read, moved, tell } = await editor(t, (n) =>
    n === 2 ? Response.json(failed, { status: 500 }) : undefined,
  )
  const { stored, refused, isStopped } = await saveAll(moved(await read()), [zone], onceKeys(), tell)
  t.ok(isStopped)
  t.equal(asked.length, 2, 'nothing is sent after it')
  t.equal(stored.size, 100)
  t.strictSame([refused[0], refused.length], [{ label: 'S-101', why: 'It failed' }, 100])
  t.equal((await read()).filter(({ version }) => version === 2).length, 100)
})

t.test('a batch that comes too soon for the rate limit is sent again', async (t) => {
  const tooMany = { success: false, error: { code: 'RATE_LIMITED', message: 'Too many' } }
  const { asked, shown, read, moved, tell } = await editor(t, (n) =>
    n === 1 ? Response.json(tooMany, { status: 429, headers: { 'Retry-After': '1' } }) : undefined,
  )
  const { stored, refused } = await saveAll(moved((await read()).slice(0, 2)), [], onceKeys(), tell)
  t.equal(asked.length, 2)
  t.match(shown, [/^Saving: 0 of 2/, /going on in 1 s/])
  t.strictSame([stored.size, refused.length], [2, 0])
})

t.test(
  'a batch whose answer got lost is sent again under its key, and is not refused for its own changes',
  async (t) => {
    const { asked, read, moved, tell } = await editor(t, async (n, answer) => {
      if (n !== 1) return answer()
      await answer()
      throw new TypeError('the line broke')
    })
    const [changes, once] = [moved((await read()).slice(0, 2)), onceKeys()]
    t.ok((await saveAll(changes, [], once, tell)).isStopped)
    const { stored, refused } = await saveAll(changes, [], once, tell)
    t.equal(asked.length, 2)
    t.strictSame([stored.size, refused], [2, []])
    t.match(stored.get('slot 1'), { version: 2 })
  },
)
