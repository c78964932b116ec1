import t from 'tap'
import { Pace } from '../../src/hub/feed/pace.ts'

type Feed = { readonly atMs: number; readonly gateway: number }
type Taken = { readonly gateway: number; readonly queuedMs: number; readonly sinceMs: number; readonly pauseMs: number }

/** In the order of time. */
class Coming {
  readonly #feeds: Feed[] = []

  add(feed: Feed): void {
    this.#feeds.splice(this.#feeds.findLastIndex(({ atMs }) => atMs <= feed.atMs) + 1, 0, feed)
  }

  before(atMs: number): Feed[] {
    const end = this.#feeds.findIndex((feed) => feed.atMs > atMs)
    return this.#feeds.splice(0, end === -1 ? this.#feeds.length : end)
  }

  get nextMs(): number {
    return this.#feeds[0]?.atMs ?? Number.POSITIVE_INFINITY
  }
}

/**
 * Plays gateways that always have new leaves, and a head office that stores one feed after the other. The first feeds of all come
 * within a second, and each later one as soon as it may. Returns the feeds of the second half.
 */
function played(gateways: number, feedMs: (nth: number) => number, minutes: number): Taken[] {
  const pace = new Pace()
  const coming = new Coming()
  for (let gateway = 0; gateway < gateways; gateway += 1) coming.add({ atMs: (gateway / gateways) * 1000, gateway })
  const lastMs = Array.from({ length: gateways }, () => 0)
  const queue: Feed[] = []
  const taken: Taken[] = []
  const endMs = minutes * 60_000
  for (let nowMs = 0, nth = 0; nowMs < endMs; nth += 1) {
    queue.push(...coming.before(nowMs))
    if (queue.length === 0) {
      nowMs = coming.nextMs
      queue.push(...coming.before(nowMs))
    }
    const { atMs, gateway } = queue.shift() as Feed
    const queuedMs = nowMs - atMs
    nowMs += feedMs(nth)
    queue.push(...coming.before(nowMs))
    pace.ended(nowMs, queue.length > 0)
    const pauseMs = pace.next(nowMs, queuedMs) ?? 0
    coming.add({ atMs: Math.max(atMs + 1000, nowMs + pauseMs), gateway })
    if (nowMs > endMs / 2) taken.push({ gateway, queuedMs, sinceMs: nowMs - (lastMs[gateway] ?? 0), pauseMs })
    lastMs[gateway] = nowMs
  }
  return taken
}

const most = (all: readonly Taken[], of: (one: Taken) => number) => all.reduce((max, one) => Math.max(max, of(one)), 0)

t.test(
  'a thousand gateways at a head office that stores 200 feeds a second come every five seconds, and hardly queue',
  async (t) => {
    // Now faster, now slower, 5 ms in the mean.
    const all = played(1000, (nth) => 5 + 4 * Math.sin(nth / 30), 3)
    t.equal(new Set(all.map(({ gateway }) => gateway)).size, 1000)
    const seconds = 90
    t.ok(all.length > 0.95 * 200 * seconds, `it stores as many as it can: ${all.length}`)
    t.ok(most(all, ({ sinceMs }) => sinceMs) < 1.2 * 5000, 'no gateway has to wait much longer than the others')
    t.ok(most(all, ({ queuedMs }) => queuedMs) < 500, 'and leaves wait at their gateway, not in the queue')
  },
)

t.test('gateways that the head office keeps up with are asked for no pause', async (t) => {
  const all = played(100, () => 5, 2)
  t.equal(
    most(all, ({ pauseMs }) => pauseMs),
    0,
  )
  t.equal(most(all, ({ sinceMs }) => sinceMs) <= 1010, true)
})

t.test('when the head office is fast again, so are the gateways', async (t) => {
  // After a third of the time it stores ten times as many.
  const all = played(1000, (nth) => (nth < 12_000 ? 5 : 0.5), 3)
  t.ok(most(all.slice(-2000), ({ sinceMs }) => sinceMs) < 1100)
})

t.test('nobody is asked to wait for more than a minute', async (t) => {
  const pace = new Pace()
  pace.ended(0, true)
  pace.ended(90_000, true)
  t.equal(pace.next(90_000, 0), 60_000)
  t.equal(pace.next(90_000, 60_000), 60_000)
})

t.test('a feed that failed does not count for how long one takes', async (t) => {
  const pace = new Pace()
  pace.ended(0, true)
  pace.failed()
  pace.ended(90_000, true)
  t.equal(pace.next(90_000, 0), undefined)
})
