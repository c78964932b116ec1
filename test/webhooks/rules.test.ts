import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { admit, lanesInAll, lanesPerEndpoint, type Queue } from '../../src/webhooks/admission.ts'
import { afterAttempt, type EndpointHealth, healthy } from '../../src/webhooks/delivery/endpoint-health.ts'
import {
  longestDelayMs,
  longestRetryAfterMs,
  nextAttempt,
  retryAfterMs,
} from '../../src/webhooks/delivery/retry-schedule.ts'
import { parseNetworks, refusalOf } from '../../src/webhooks/sending/address-guard.ts'
import { signatureOf } from '../../src/webhooks/sending/signature.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const documented = [0, 1, 5, 30, 120, 720].map((minutes) => minutes * 60_000)
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** Plays one delivery that always fails, and returns the times of its attempts. */
function playFailures(
  clock: SimulatedClock,
  scheduleMs: readonly number[],
  chances: number[],
  retryAfter: (string | undefined)[],
): number[] {
  const attemptsMs: number[] = []
  const attempt = () => {
    attemptsMs.push(clock.now())
    const n = attemptsMs.length
    const next = nextAttempt({
      scheduleMs,
      attempt: n,
      nowMs: clock.now(),
      chance: chances[n] ?? 0,
      retryAfter: retryAfter[n],
    })
    if (next.kind === 'retry') clock.after(next.atMs - clock.now(), attempt)
  }
  clock.after(scheduleMs[0] ?? 0, attempt)
  clock.advance(scheduleMs.length * longestDelayMs(scheduleMs) + 1000)
  return attemptsMs
}

t.test(
  'under any schedule a delivery is tried as often as the schedule is long, never early, and at most 5 % late',
  async (t) => {
    const schedule = fc.array(fc.integer({ min: 0, max: 48 * 3_600_000 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(schedule, fc.array(chance, { minLength: 13, maxLength: 13 }), (scheduleMs, chances) => {
        const attemptsMs = playFailures(new SimulatedClock(), scheduleMs, chances, [])
        t.equal(attemptsMs.length, scheduleMs.length)
        for (const [i, delayMs] of scheduleMs.entries()) {
          if (i === 0) continue
          const waitedMs = (attemptsMs[i] ?? 0) - (attemptsMs[i - 1] ?? 0)
          if (waitedMs < delayMs || waitedMs > delayMs * 1.05 + 1)
            throw new Error(`attempt ${i + 1} after ${waitedMs}, not ${delayMs}`)
        }
      }),
    )
  },
)

t.test('Retry-After lengthens a delay, to a day at most, and never shortens it', async () => {
  const seconds = fc.nat({ max: 10_000_000 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), seconds, fc.boolean(), chance, (attempt, asked, asDate, luck) => {
      const nowMs = Date.UTC(2026, 2, 2, 8)
      const retryAfter = asDate ? new Date(nowMs + asked * 1000).toUTCString() : String(asked)
      const next = nextAttempt({ scheduleMs: documented, attempt, nowMs, chance: luck, retryAfter })
      if (next.kind !== 'retry') return false
      const waitedMs = next.atMs - nowMs
      const least = Math.max(documented[attempt] ?? 0, Math.min(asked * 1000, longestRetryAfterMs))
      const most = Math.max((documented[attempt] ?? 0) * 1.05 + 1, least)
      return waitedMs >= least && waitedMs <= most
    }),
  )
})

t.test('Retry-After in every form that HTTP knows', async (t) => {
  const nowMs = Date.parse('1994-11-06T08:49:00Z')
  const rows: [string | undefined, number | undefined][] = [
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['Sun, 99 Nov 1994 08:49:37 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [value, expected] of rows) t.equal(retryAfterMs(value, nowMs), expected, String(value))
})

t.test(
  'an endpoint is healthy after any 2xx, failing after the sixth failed attempt of one delivery, disabled after a hundred in a row, and never better by failing',
  async () => {
    const attempt = fc.record({ delivered: fc.boolean(), attempt: fc.integer({ min: 1, max: 6 }) })
    const runs = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: attempt.map((a) => ({ ...a, delivered: false })) },
        { weight: 1, arbitrary: attempt },
      ),
      {
        maxLength: 260,
      },
    )
    const order = { active: 0, failing: 1, disabled: 2 }
    fc.assert(
      fc.property(runs, (attempts) => {
        let health: EndpointHealth = healthy
        let inARow = 0
        let sixth = false
        for (const { delivered, attempt } of attempts) {
          const before = health
          health = afterAttempt(health, delivered, { attempt, attempts: 6 })
          inARow = delivered ? 0 : inARow + 1
          sixth = !delivered && (sixth || attempt >= 6)
          const expected = inARow >= 100 ? 'disabled' : sixth ? 'failing' : 'active'
          if (health.status !== expected || health.consecutiveFailures !== inARow) return false
          if (!delivered && order[health.status] < order[before.status]) return false
        }
        return true
      }),
    )
  },
)

t.test('an endpoint that was switched off stays off through failures that were under way', async (t) => {
  t.strictSame(afterAttempt({ status: 'disabled', consecutiveFailures: 3 }, false, { attempt: 1, attempts: 6 }), {
    status: 'disabled',
    consecutiveFailures: 4,
  })
})

t.test('failed attempts of different deliveries are counted, and leave an endpoint active', async (t) => {
  let health: EndpointHealth = healthy
  for (let n = 0; n < 99; n += 1) health = afterAttempt(health, false, { attempt: (n % 5) + 1, attempts: 6 })
  t.strictSame(health, { status: 'active', consecutiveFailures: 99 })
})

t.test('a schedule of less than six attempts ends in failing, one of more goes on after the sixth', async (t) => {
  const afterFailed = (attempt: number, attempts: number) => afterAttempt(healthy, false, { attempt, attempts }).status
  t.strictSame([afterFailed(2, 3), afterFailed(3, 3)], ['active', 'failing'])
  t.strictSame([afterFailed(5, 8), afterFailed(6, 8)], ['active', 'failing'])
})

t.test('admission keeps every bound and every order, and gives each endpoint its turn', async () => {
  const lanes = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 1 }), fc.nat({ max: 6 }), fc.nat({ max: 6 }))
  fc.assert(
    fc.property(fc.array(lanes, { maxLength: 60 }), (endpoints) => {
      const queues: Queue[] = endpoints.map(([firstsUnderWay, retriesUnderWay, firsts, retries], e) => ({
        firstsUnderWay,
        retriesUnderWay,
        firsts: Array.from({ length: firsts }, (_, i) => `${e} first ${i}`),
        retries: Array.from({ length: retries }, (_, i) => `${e} retry ${i}`),
      }))
      const admitted = admit(queues)
      const before = queues.reduce((sum, q) => sum + q.firstsUnderWay + q.retriesUnderWay, 0)
      if (new Set(admitted).size !== admitted.length) return false
      if (before + admitted.length > Math.max(lanesInAll, before)) return false
      return queues.every((queue, e) =>
        keepsItsRules(
          queue,
          admitted.filter((id) => id.startsWith(`${e} `)),
        ),
      )
    }),
  )
})

function keepsItsRules(queue: Queue, mine: string[]): boolean {
  const firsts = mine.filter((id) => id.includes('first'))
  const retries = mine.filter((id) => id.includes('retry'))
  const inOrder = firsts.every((id, i) => id === queue.firsts[i]) && retries.every((id, i) => id === queue.retries[i])
  const inAll = queue.firstsUnderWay + queue.retriesUnderWay + mine.length
  const bounded = mine.length === 0 || inAll <= lanesPerEndpoint
  return inOrder && bounded && (retries.length === 0 || queue.retriesUnderWay + retries.length <= 2)
}

t.test('endpoints that hang on all their lanes leave lanes to every other', async (t) => {
  const hung: Queue = { firstsUnderWay: 4, retriesUnderWay: 0, firsts: ['x'], retries: [] }
  const fresh = (id: string): Queue => ({
    firstsUnderWay: 0,
    retriesUnderWay: 0,
    firsts: [id, `${id} second`],
    retries: [],
  })
  const others = Array.from({ length: 64 }, (_, i) => fresh(`other ${i}`))
  const admitted = admit([...Array.from({ length: 16 }, () => hung), ...others])
  t.strictSame(
    admitted,
    others.map((queue) => queue.firsts[0]),
  )
})

t.test('a retry gets a lane beside a stream of first attempts, and they beside a pile of retries', async (t) => {
  const ids = (what: string) => [1, 2, 3, 4, 5, 6].map((n) => `${what} ${n}`)
  const both = admit([{ firstsUnderWay: 0, retriesUnderWay: 0, firsts: ids('first'), retries: ids('retry') }])
  t.strictSame(both, ['first 1', 'first 2', 'first 3', 'retry 1'])
  const pile = admit([{ firstsUnderWay: 0, retriesUnderWay: 0, firsts: [], retries: ids('retry') }])
  t.strictSame(pile, ['retry 1', 'retry 2'])
})

t.test('no IPv6 form of a forbidden IPv4 address is open', async (t) => {
  const octet = fc.nat({ max: 255 })
  fc.assert(
    fc.property(octet, octet, octet, (b, c, d) => {
      const hex = (high: number, low: number) => ((high << 8) | low).toString(16)
      const [high, low] = [hex(10, b), hex(c, d)]
      const forms = [
        `::ffff:${high}:${low}`,
        `::${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `::ffff:0:${high}:${low}`,
        `2002:${high}:${low}::1`,
      ]
      const networks = parseNetworks(['64:ff9b::/96', '2002::/16', '::ffff:0:0/96', '::ffff:0:0:0/96'])
      return forms.every((form) => refusalOf(form, []) !== undefined && refusalOf(form, networks) !== undefined)
    }),
  )
  t.equal(refusalOf('no address', []), 'not an address')
})

t.test('the signature is the one of the document', async (t) => {
  const body = Buffer.from('{"id":"1","name":"Grün"}', 'utf8')
  const expected = createHmac('sha256', Buffer.from('schlüssel', 'utf8')).update(body).digest('hex')
  t.equal(signatureOf(body, 'schlüssel'), `sha256=${expected}`)
  // RFC 4231, test case 2.
  t.equal(
    signatureOf(Buffer.from('what do ya want for nothing?'), 'Jefe'),
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})
