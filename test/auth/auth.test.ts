import fc from 'fast-check'
import t from 'tap'
import { Authenticator, hashSecret, LocalAccounts, Slowing } from '../../src/auth/index.ts'
import { checkSecret } from '../../src/auth/secret-hash.ts'
import { permissionsOf } from '../../src/config/index.ts'
import type { AppError } from '../../src/errors/index.ts'
import { FairTurns, SlidingWindow } from '../../src/flow/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { cheapHash } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.test('no minute, wherever it begins, holds more requests than the limit, and Retry-After is enough', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 20 }),
      (gaps, limit) => {
        const clock = new SimulatedClock()
        const window = new SlidingWindow({ clock })
        const passed: number[] = []
        for (const gap of gaps) {
          clock.advance(gap)
          const wait = window.take('k', limit)
          if (wait === 0) passed.push(clock.monotonic())
          else {
            if (!Number.isInteger(wait) || wait < 1 || wait > 60) return false
            clock.advance(wait * 1000)
            if (window.take('k', limit) !== 0) return false
            passed.push(clock.monotonic())
          }
        }
        return passed.every((at, i) => at - (passed[i - limit] ?? Number.NEGATIVE_INFINITY) >= 60_000)
      },
    ),
  )
})

t.test('a secret is right for its own hash only', async (t) => {
  const hash = await hashSecret('correct horse', systemRandom)
  t.match(hash, /^scrypt:16384:8:1:[\w-]+:[\w-]+$/)
  t.equal(await checkSecret('correct horse', hash, { address: 'here' }), true)
  t.equal(await checkSecret('correct horsf', hash, { address: 'here' }), false)
  t.notSame(hash, await hashSecret('correct horse', systemRandom), 'salted')
  for (const bad of ['', 'scrypt', 'plain:1:1:1:a:b', 'scrypt:2:1:1::'])
    t.equal(await checkSecret('x', bad, { address: 'here' }), false, bad)
})

t.test('a changed or removed account counts at once, whatever was believed before', async (t) => {
  const clock = new SimulatedClock()
  let secretHash: string | undefined = cheapHash('one')
  const accounts = new LocalAccounts({
    accounts: (username) => (secretHash && username === 'ada' ? { username, role: 'admin', secretHash } : undefined),
    settings: () => ({ siteUrl: 'https://gate.example', freshForMs: 300_000 }),
    clock,
    slowing: new Slowing({ clock }),
    random: systemRandom,
  })
  const authenticator = new Authenticator({ verifiers: [accounts], instances: () => ['https://gate.example'] })
  const verify = async (secret: string, instance = 'https://GATE.example:443/') => {
    const presented = { scheme: 'bearer', secret, instance, username: 'ada' } as const
    return (await authenticator.verify(presented, 'here')).caller
  }
  t.match(await verify('one'), { username: 'ada', role: 'admin', authMode: 'local', instance: 'https://gate.example' })
  secretHash = cheapHash('two')
  await t.rejects(verify('one'), { code: 'INVALID_CREDENTIALS' })
  t.match(await verify('two'), { username: 'ada' })
  secretHash = undefined
  await t.rejects(verify('two'), { code: 'INVALID_CREDENTIALS' })
  await t.rejects(verify('two', 'https://gate.example/other'), { code: 'STORAGE_INSTANCE_NOT_ALLOWED' })
})

t.test('each role has what the one below it has', async (t) => {
  const ladder = (['viewer', 'operator', 'supervisor', 'admin'] as const).map(permissionsOf)
  for (const [i, role] of ladder.entries()) {
    const below = ladder[i - 1]
    if (below) t.ok(below.isSubsetOf(role) && below.size < role.size)
  }
})

t.test(
  'a flood of guesses from one address takes no turn from another, and is turned away beyond its own queue',
  async (t) => {
    const turns = new FairTurns({ atOnce: 2, waitingOfLane: 3, waiting: 100 }, 'Too many sign-ins at once')
    const done: string[] = []
    const ends: (() => void)[] = []
    const check = (lane: string, name: string) =>
      turns.run(lane, async () => {
        await new Promise<void>((end) => ends.push(end))
        done.push(name)
      })
    const flood = Array.from({ length: 6 }, (_, i) =>
      check('stranger', `guess ${i}`).then(
        () => 'done',
        (error: AppError) => error.code,
      ),
    )
    const others = [check('colleague', 'colleague'), check('third', 'third')]
    const all = Promise.all([...flood, ...others])
    const finish = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      ends.shift()?.()
    }
    for (let turn = 0; turn < 6; turn += 1) await finish()
    t.strictSame((await all).slice(0, 6), ['done', 'done', 'done', 'done', 'NOT_READY', 'NOT_READY'])
    t.ok(done.indexOf('third') <= 3, `nobody waits for the flood: ${done.join(', ')}`)
  },
)

t.test('320 guesses from 40 networks keep no first sign-in of another network or another name out', async (t) => {
  const turns = new FairTurns({ atOnce: 2, waitingOfLane: 8, waiting: 256 }, 'Too many sign-ins at once')
  const ends: (() => void)[] = []
  let looked = 0
  const check = (lane: string, who: string) =>
    turns
      .run(lane, () => new Promise<void>((end) => ends.push(end)), who)
      .then(
        () => {
          looked += 1
          return looked
        },
        (error: AppError) => error.code,
      )
  const guesses = Array.from({ length: 320 }, (_, n) => check(`network ${n % 40}`, 'ada'))
  const olga = check('network 99', 'olga')
  const sven = check('network 0', 'sven')
  let isOver = false
  const all = Promise.all([olga, sven, ...guesses]).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    ends.shift()?.()
  }
  const [first, second, ...others] = await all
  t.ok(Number(first) <= 45, `each network has its turn: ${first}`)
  t.ok(Number.isInteger(second), 'the other name of a network that guesses')
  t.ok(others.includes('NOT_READY'), 'guesses were turned away instead')
})
