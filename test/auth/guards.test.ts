import fc from 'fast-check'
import t from 'tap'
import { roleOfGroups } from '../../src/auth/config-names.ts'
import { normaliseInstance } from '../../src/auth/credentials.ts'
import { BasicBudget, type Standing, type TryEnd } from '../../src/auth/rates/basic-budget.ts'
import type { TryRecord } from '../../src/auth/rates/basic-tries.ts'
import { Recent } from '../../src/auth/rates/recent.ts'
import { Slowing } from '../../src/auth/rates/slowing.ts'
import { afterAnswer, beforeAsking, type Known } from '../../src/auth/storage/belief.ts'
import { admit, afterFailure, type Breaker, closedBreaker } from '../../src/flow/index.ts'
import { networkOf } from '../../src/platform/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const minuteMs = 60_000
const settings = { freshForMs: 5 * minuteMs, staleForMs: 12 * 60 * minuteMs }
/** Mostly outages: they must last until the known answer is too old. */
const answers = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('verified' as const, 'wrong' as const) },
  { weight: 3, arbitrary: fc.constant('unclear' as const) },
)
const gaps = fc.oneof(fc.integer({ min: 0, max: 20 * minuteMs }), fc.integer({ min: 0, max: 13 * 60 * minuteMs }))

t.test(
  'however the server answers, nobody is let in without a yes, after a no, or after too long a silence',
  async () => {
    const step = fc.record({ gap: gaps, answer: answers })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let known: Known | undefined
        let wrongUntilMs: number | undefined
        /** State of the model: the time of the server's last yes, and of a later no. */
        let lastYesMs: number | undefined
        let lastNoMs: number | undefined
        let nowMs = 0
        for (const { gap, answer } of steps) {
          nowMs += gap
          const before = beforeAsking(known, wrongUntilMs, nowMs, settings)
          if (before === 'believe') {
            if (lastYesMs === undefined || nowMs - lastYesMs >= settings.freshForMs) return false
            continue
          }
          if (before === 'refuse') {
            if (lastNoMs === undefined || nowMs - lastNoMs >= 10 * minuteMs) return false
            continue
          }
          const after = afterAnswer(known, answer, nowMs, settings)
          if (answer === 'verified') {
            if (after !== 'fresh') return false
            known = { username: 'otto', verifiedMs: nowMs, asBearer: true }
            lastYesMs = nowMs
            wrongUntilMs = undefined
          } else if (answer === 'wrong') {
            if (after !== 'wrong') return false
            known = undefined
            lastYesMs = undefined
            lastNoMs = nowMs
            wrongUntilMs = nowMs + 10 * minuteMs
          } else {
            const mayServe = lastYesMs !== undefined && nowMs - lastYesMs <= settings.staleForMs
            if (after !== (mayServe ? 'stale' : 'unknown')) return false
          }
        }
        return true
      }),
    )
  },
)

t.test(
  'a breaker lets at most three failures in a row through, then one at a time, and a success closes it',
  async () => {
    const step = fc.record({ gap: fc.integer({ min: 0, max: 30_000 }), fails: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let breaker: Breaker = closedBreaker
        let nowMs = 0
        let failures = 0
        let lastMs = 0
        for (const { gap, fails } of steps) {
          nowMs += gap
          const { may, next } = admit(breaker, nowMs)
          if (failures < 3 && !may) return false
          if (failures >= 3 && may && nowMs - lastMs < 5000) return false
          if (failures >= 3 && !may && nowMs - lastMs >= 60_000) return false
          if (!may) continue
          if (failures >= 3 && admit(next, nowMs).may) return false
          breaker = fails ? afterFailure(next, nowMs) : closedBreaker
          failures = fails ? failures + 1 : 0
          lastMs = nowMs
        }
        return true
      }),
    )
  },
)

t.test('what is still under way when a breaker opens makes it wait no longer', async (t) => {
  let breaker = closedBreaker
  for (let n = 0; n < 3; n += 1) breaker = afterFailure(breaker, 0)
  t.match(breaker, { state: 'open', openUntilMs: 5000 })
  for (let n = 0; n < 5; n += 1) breaker = afterFailure(breaker, 100)
  t.match(breaker, { state: 'open', openUntilMs: 5000 })
  t.match(afterFailure(admit(breaker, 5000).next, 5000, 20_000), { openUntilMs: 25_000 }, 'as the server asks')
  t.match(afterFailure(admit(breaker, 5000).next, 5000, 3_600_000), { openUntilMs: 65_000 }, 'but no hour')
})

/** A record without a file. */
const record: TryRecord = { markOf: (login) => login, earlier: () => [], begun: () => 0, over: () => {} }

t.test('the server never counts more than ten wrong Basic passwords in half an hour, whoever gets in', async () => {
  const step = fc.record({
    gap: fc.integer({ min: 0, max: 5 * minuteMs }),
    address: fc.integer({ min: 1, max: 40 }),
    login: fc.constantFrom('otto', 'selma', 'adele', 'gast'),
    standing: fc.constantFrom<Standing>('right-before', 'known-name', 'stranger'),
    ends: fc.array(fc.constantFrom<TryEnd>('right', 'wrong', 'wrong', 'maybe-counted', 'not-counted'), {
      minLength: 1,
      maxLength: 6,
    }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new SimulatedClock()
      const budget = new BasicBudget({ clock, record })
      /** Model of the server: it counts an attempt when it is asked, and forgets it after a successful sign-in. */
      let counted: { atMs: number; login: string }[] = []
      for (const { gap, address, login, standing, ends } of steps) {
        clock.advance(gap)
        const attempt = { address: `10.0.0.${address}`, login, standing }
        const answers: (() => void)[] = []
        const asked = ends.map((end) =>
          budget.run(
            attempt,
            () => {
              const atMs = clock.monotonic()
              if (end === 'wrong' || end === 'maybe-counted') counted.push({ atMs, login })
              if (end === 'right') counted = counted.filter((one) => one.login !== login)
              return new Promise<TryEnd>((answer) => answers.push(() => answer(end)))
            },
            (answer) => answer,
          ),
        )
        let isOver = false
        const all = Promise.all(asked).then((results) => {
          isOver = true
          return results
        })
        while (!isOver) {
          answers.shift()?.()
          await new Promise(setImmediate)
        }
        for (const result of await all) if ('spent' in result && result.spent.waitMs <= 0) return false
        counted = counted.filter(({ atMs }) => atMs > clock.monotonic() - 30 * minuteMs)
        if (counted.length > 10) return false
      }
      return true
    }),
    { numRuns: 60 },
  )
})

t.test(
  'one guesser uses up what is one’s own, and leaves room for names and secrets that were right before',
  async (t) => {
    const clock = new SimulatedClock()
    const budget = new BasicBudget({ clock, record })
    const attempt = async (address: string, login: string, standing: Standing, end: TryEnd = 'not-counted') => {
      const result = await budget.run(
        { address, login, standing },
        async () => end,
        (answer) => answer,
      )
      return 'spent' in result ? result.spent : 'asked'
    }
    for (let n = 0; n < 5; n += 1) await attempt('10.0.0.1', 'otto', 'stranger', 'wrong')
    const own = { waitMs: 30 * minuteMs, isOwnFault: true }
    t.same(await attempt('10.0.0.1', 'otto', 'stranger'), own)
    t.same(await attempt('10.0.0.1', 'otto', 'known-name'), own)
    t.equal(await attempt('10.0.0.1', 'otto', 'right-before'), 'asked')
    t.equal(await attempt('10.0.0.1', 'selma', 'stranger'), 'asked', 'a colleague behind the same address')
    t.equal(await attempt('10.0.0.2', 'otto', 'stranger'), 'asked', 'from elsewhere')
    for (let n = 0; n < 2; n += 1) await attempt(`10.0.1.${n}`, 'gast', 'stranger', 'maybe-counted')
    const ofAll = { waitMs: 30 * minuteMs, isOwnFault: false }
    t.same(await attempt('10.0.2.1', 'adele', 'stranger'), ofAll, 'what got no answer counts as well')
    t.equal(await attempt('10.0.2.1', 'adele', 'known-name'), 'asked')
    for (let n = 0; n < 2; n += 1) await attempt('10.0.2.1', 'adele', 'known-name', 'wrong')
    t.same(await attempt('10.0.2.2', 'selma', 'known-name'), ofAll)
    t.equal(await attempt('10.0.2.2', 'selma', 'right-before'), 'asked')
    t.equal(await attempt('10.0.0.3', 'otto', 'right-before', 'right'), 'asked')
    t.equal(await attempt('10.0.0.1', 'otto', 'stranger'), 'asked', 'who gets in has the own failures forgotten')
    clock.advance(30 * minuteMs)
    t.equal(await attempt('10.0.2.1', 'adele', 'stranger'), 'asked')
    budget.lockedOut()
    t.match(await attempt('10.0.2.1', 'adele', 'right-before'), { waitMs: 5 * minuteMs }, 'as the server says')
  },
)

t.test(
  'whoever guesses waits longer each time; the right secret, another name and another address do not',
  async (t) => {
    const clock = new SimulatedClock()
    const slowing = new Slowing({ clock })
    const look = async (address: string, username: string) => {
      let seen = false
      const done = slowing.check(address, username, async () => {
        seen = true
      })
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
      let waitedMs = 0
      for (; !seen && waitedMs < 60_000; waitedMs += 250) {
        clock.advance(250)
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
      }
      await done
      return waitedMs
    }
    const waits: number[] = []
    for (let n = 0; n < 16; n += 1) {
      waits.push(await look('10.0.0.1', 'otto'))
      slowing.wrong('10.0.0.1', 'otto', `guess ${n}`)
    }
    t.strictSame(waits, [...Array(10).fill(0), 250, 500, 1000, 2000, 4000, 4000])
    t.equal(await look('10.0.0.2', 'otto'), 0)
    t.equal(await look('10.0.0.1', 'selma'), 0)
    const same = new Slowing({ clock })
    for (let n = 0; n < 100; n += 1) same.wrong('10.0.0.1', 'otto', 'the old password of a handheld')
    t.equal(await (async () => same.check('10.0.0.1', 'otto', async () => 'at once'))(), 'at once')
    clock.advance(15 * minuteMs)
    t.equal(await look('10.0.0.1', 'otto'), 0, 'forgotten')
  },
)

t.test('a /64 of IPv6 is one place, however many addresses somebody takes in it', async (t) => {
  t.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:2:ffff:1:2:3'))
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  t.equal(networkOf('::ffff:10.0.0.7'), networkOf('10.0.0.7'))
  t.not(networkOf('10.0.0.7'), networkOf('10.0.0.8'))
  t.equal(networkOf('unknown'), 'unknown')
})

t.test('a memory with a limit forgets what was not used for longest', async (t) => {
  const recent = new Recent<number>(100)
  recent.set('colleague', 1)
  recent.set('once', 1)
  for (let n = 0; n < 1000; n += 1) {
    recent.set(`stranger ${n}`, n)
    t.equal(recent.get('colleague'), 1)
    t.ok(recent.size <= 100)
  }
  t.equal(recent.get('once'), undefined)
  t.equal(recent.get('stranger 999'), 999)
  recent.delete('colleague')
  t.equal(recent.get('colleague'), undefined)
})

t.test('of several groups the highest role counts, and a group by the name of a built-in is none', async (t) => {
  const site = {
    siteUrl: 'https://gate.example',
    instances: ['https://cloud.example'],
    defaultRole: 'operator',
  } as const
  const rules = { ...site, groupRoles: { a: 'operator', b: 'supervisor', c: 'viewer' } as const }
  const role = (...groups: string[]) => roleOfGroups(groups, 'https://cloud.example', rules)
  t.equal(role('a', 'b', 'x'), 'supervisor')
  t.equal(role('c'), 'viewer', 'what is written counts, also below the default')
  t.equal(role('constructor', '__proto__'), 'operator')
})

t.test('two spellings of an instance are one by host, port and final slash alone', async (t) => {
  const one = normaliseInstance('https://cloud.example/nc')
  for (const same of ['https://CLOUD.example/nc/', 'https://cloud.example:443/nc', 'HTTPS://cloud.example/nc//'])
    t.equal(normaliseInstance(same), one, same)
  for (const other of [
    'https://cloud.example/NC',
    'https://cloud.example./nc',
    'https://cloud.example:8443/nc',
    'http://cloud.example/nc',
    'https://user@cloud.example/nc',
    'https://cloud.example/nc?',
    'https://cloud.example/nc#',
    ' https://cloud.example/nc',
    'https:\\\\cloud.example\\nc',
    'https://cloud.example/nc\t',
    'cloud.example/nc',
  ])
    t.not(normaliseInstance(other), one, other)
})
