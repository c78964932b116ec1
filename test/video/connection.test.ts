import fc from 'fast-check'
import t from 'tap'
import { type Problem, plainWords, problemOf } from '../../src/video/problems.ts'
import {
  type Connection,
  type ConnectionEvent,
  dueMs,
  hasProcess,
  newConnection,
  step,
  times,
} from '../../src/video/stream/connection.ts'

/** A connection with the process it would have, on a clock that is moved by hand. */
class Bench {
  connection: Connection = newConnection
  nowMs = 0
  spawned = 0
  readonly commands: string[] = []
  readonly #chance: number

  constructor(chance = 0.5) {
    this.#chance = chance
  }

  get kind(): string {
    return this.connection.phase.kind
  }

  give(event: ConnectionEvent): this {
    const { connection, commands } = step(this.connection, event, this.nowMs, this.#chance)
    this.connection = connection
    this.commands.push(...commands)
    this.spawned += commands.filter((command) => command === 'spawn').length
    return this
  }

  pass(ms: number): this {
    const endMs = this.nowMs + ms
    for (let due = dueMs(this.connection); due !== undefined && due <= endMs; due = dueMs(this.connection)) {
      this.nowMs = Math.max(due, this.nowMs)
      this.give({ kind: 'tick' })
    }
    this.nowMs = endMs
    return this
  }

  live(): this {
    return this.give({ kind: 'start' }).pass(2000).give({ kind: 'picture', agoMs: 0 })
  }

  /** Time from this failure to the next attempt. */
  failAndWait(problem: Problem): number {
    this.give({ kind: 'ended', problem })
    const { phase } = this.connection
    const waitMs = (phase.kind === 'backing-off' ? phase.untilMs : Number.NaN) - this.nowMs
    this.pass(waitMs)
    return waitMs
  }
}

t.test('a camera that never answers is tried again after 1, 2, 5, 10 and then every 30 seconds', async (t) => {
  const bench = new Bench().give({ kind: 'start' })
  const waits = Array.from({ length: 7 }, () => bench.failAndWait('unreachable'))
  t.same(waits, [1000, 2000, 5000, 10_000, 30_000, 30_000, 30_000])
  t.equal(bench.spawned, 8)
})

t.test('delays are spread by a fifth to either side', async (t) => {
  t.equal(new Bench(0).give({ kind: 'start' }).failAndWait('unreachable'), 800)
  t.equal(Math.round(new Bench(0.9999999).give({ kind: 'start' }).failAndWait('unreachable')), 1200)
})

t.test('a stream that was steady is back soon, one that dies at once is not tried faster and faster', async (t) => {
  const bench = new Bench().live()
  for (let i = 0; i < 12; i += 1) bench.pass(1000).give({ kind: 'picture', agoMs: 0 })
  t.equal(bench.failAndWait('closed'), 1000)
  t.equal(bench.pass(1000).give({ kind: 'picture', agoMs: 0 }).failAndWait('closed'), 2000)
  t.equal(bench.pass(1000).give({ kind: 'picture', agoMs: 0 }).failAndWait('closed'), 5000)
})

t.test('the first picture may take 20 seconds, a later one 5', async (t) => {
  const slow = new Bench().give({ kind: 'start' }).pass(19_999)
  t.equal(slow.kind, 'connecting')
  t.match(slow.pass(1).connection.phase, { kind: 'stalled', problem: 'no-picture' })

  const frozen = new Bench().live().pass(4999)
  t.equal(frozen.kind, 'live')
  t.match(frozen.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' })
  t.same(frozen.commands, ['spawn', 'terminate'])
  frozen.pass(5000)
  t.same(frozen.commands, ['spawn', 'terminate', 'kill'], 'one that does not end is killed after 5 seconds')
  frozen.give({ kind: 'ended', problem: 'closed' })
  t.match(frozen.connection.phase, { kind: 'backing-off', problem: 'frozen' }, 'why it was ended is what is told')
})

/** A camera that sends a picture every eight seconds, of which nothing came in the time of a usual attempt. */
function slow(problem: Problem = 'no-picture'): Bench {
  const bench = new Bench().give({ kind: 'start' })
  if (problem === 'no-picture') bench.pass(20_000)
  else {
    bench.failAndWait(problem)
    bench.give({ kind: 'ended', problem }).pass(1000).give({ kind: 'knocked', answered: true })
  }
  bench.failAndWait(problem)
  return bench.pass(8 * 9000).give({ kind: 'picture', agoMs: 0 })
}

/** Plays some seconds of pictures, one every `everyMs`. */
function plays(bench: Bench, everyMs: number, seconds: number): Bench {
  for (let ms = 0; ms < seconds * 1000; ms += everyMs) bench.pass(everyMs).give({ kind: 'picture', agoMs: 0 })
  return bench
}

t.test(
  'a camera that gives no picture at first is given time, so that one that sends few is live and stays so',
  async (t) => {
    for (const problem of ['no-picture', 'unreachable'] as const) {
      const bench = plays(slow(problem), 8000, 300)
      t.equal(bench.kind, 'live', problem)
      t.match(bench.pass(23_999).kind, 'live', 'three pictures may be missing')
      t.match(bench.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' })
      bench.failAndWait('closed')
      t.equal(bench.pass(8 * 9000).kind, 'connecting', 'it is known to be slow')
    }
    const silent = slow().pass(24_999)
    t.equal(silent.kind, 'live')
    t.match(silent.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' }, 'one picture, and no more')
  },
)

t.test('a slow camera that sometimes pauses for longer stays live, also with another password', async (t) => {
  const bench = slow().give({ kind: 'credentials' })
  for (let i = 0; i < 20; i += 1) plays(bench, 2000, 12).pass(8000).give({ kind: 'picture', agoMs: 0 })
  t.equal(bench.kind, 'live')
  t.equal(bench.give({ kind: 'credentials' }).pass(23_999).kind, 'live')
})

t.test('a usual camera that gave no picture once is frozen after five seconds again, within a minute', async (t) => {
  const bench = plays(slow(), 40, 61)
  t.match(bench.pass(5000).connection.phase, { kind: 'stalled', problem: 'frozen' })
  bench.failAndWait('closed')
  t.match(bench.pass(20_000).connection.phase, { kind: 'stalled', problem: 'no-picture' }, 'nor does it get more time')
})

t.test('an attempt for a slow camera that gives nothing either is followed by a usual one', async (t) => {
  const bench = new Bench().give({ kind: 'start' }).pass(20_000)
  bench.failAndWait('no-picture')
  t.equal(bench.pass(99_999).kind, 'connecting')
  t.equal(bench.pass(1).kind, 'stalled')
  bench.failAndWait('no-picture')
  t.equal(bench.pass(20_000).kind, 'stalled')
  const away = new Bench().give({ kind: 'start' })
  for (let i = 0; i < 3; i += 1) away.failAndWait('unreachable')
  t.equal(away.pass(20_000).kind, 'stalled', 'one that nothing answers for gets no more time')
})

t.test('credentials that never worked are tried three times, then every half hour, until somebody acts', async (t) => {
  const bench = new Bench().give({ kind: 'start' })
  const waits = Array.from({ length: 4 }, () => bench.failAndWait('refused'))
  t.same(waits, [1000, 2000, times.refusedMs, times.refusedMs])
  bench.give({ kind: 'ended', problem: 'refused' }).pass(60_000)
  t.equal(bench.kind, 'backing-off')
  t.equal(bench.give({ kind: 'start' }).kind, 'connecting', 'the start button ends the wait')
  t.equal(bench.failAndWait('refused'), 1000)
  bench.failAndWait('refused')
  bench.give({ kind: 'ended', problem: 'refused' })
  t.equal(bench.give({ kind: 'reconfigured' }).kind, 'connecting', 'so does another password')
})

t.test('credentials that worked before are tried again soon: the camera may have too many viewers', async (t) => {
  const bench = new Bench().live()
  const waits = Array.from({ length: 8 }, () => bench.failAndWait('refused'))
  t.same(waits, [5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
  bench.give({ kind: 'reconfigured' })
  bench.pass(2000).give({ kind: 'ended', problem: 'closed' }).pass(1000)
  bench.failAndWait('refused')
  bench.failAndWait('refused')
  t.equal(bench.failAndWait('refused'), times.refusedMs, 'other credentials have to prove themselves anew')
})

t.test('another password ends the wait, is no reason to end a live stream, and has to prove itself', async (t) => {
  const waiting = new Bench().give({ kind: 'start' })
  for (const _ of [1, 2, 3]) waiting.failAndWait('refused')
  waiting.give({ kind: 'ended', problem: 'refused' })
  t.equal(waiting.give({ kind: 'credentials' }).kind, 'connecting')
  t.equal(waiting.failAndWait('refused'), 1000, 'its tries are counted anew')
  const live = new Bench().live().give({ kind: 'credentials' })
  t.equal(live.kind, 'live')
  t.same(live.commands, ['spawn'])
  live.failAndWait('closed')
  live.failAndWait('refused')
  live.failAndWait('refused')
  t.equal(live.failAndWait('refused'), times.refusedMs)
})

t.test('stop and start while the process is ending leave one process', async (t) => {
  const bench = new Bench().live().give({ kind: 'stop' }).give({ kind: 'start' })
  t.equal(bench.kind, 'stopping')
  t.equal(bench.spawned, 1)
  bench.give({ kind: 'ended', problem: 'closed' })
  t.equal(bench.kind, 'connecting')
  t.equal(bench.spawned, 2)
  bench.give({ kind: 'stop' }).give({ kind: 'ended', problem: 'closed' })
  t.equal(bench.kind, 'offline')
  t.equal(dueMs(bench.connection), undefined)
})

t.test('a thread that was held up listens anew before it calls a camera frozen or without a picture', async (t) => {
  const asleep = new Bench().live()
  asleep.nowMs += 9000
  t.equal(asleep.give({ kind: 'tick' }).kind, 'live', 'its own timer is four seconds late')
  t.equal(asleep.pass(4999).kind, 'live')
  t.match(asleep.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' }, 'nothing came in five seconds')

  const first = new Bench().live()
  first.nowMs += 9000
  first.give({ kind: 'tick' }).pass(1000).give({ kind: 'ended', problem: 'unreachable' })
  t.match(first.connection.phase, { kind: 'backing-off', problem: 'frozen' }, 'ffmpeg gave up the silent camera first')

  const bench = new Bench().live()
  bench.nowMs += 5500
  t.equal(bench.give({ kind: 'overslept' }).give({ kind: 'tick' }).kind, 'live', 'another timer was late')
  bench.pass(4000).give({ kind: 'picture', agoMs: 0 }).pass(4999)
  t.equal(bench.kind, 'live')
  t.match(bench.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' }, 'after a picture all is as before')

  const connecting = new Bench().give({ kind: 'start' })
  connecting.nowMs += 25_000
  t.equal(connecting.give({ kind: 'tick' }).pass(4999).kind, 'connecting')
  t.match(connecting.pass(1).connection.phase, { kind: 'stalled', problem: 'no-picture' })

  const busy = new Bench().live()
  busy.nowMs += 5900
  t.equal(busy.give({ kind: 'tick' }).kind, 'stalled', 'a busy box, that is late all the time, still sees it')
})

t.test('silence counts from when the newest picture came, however late it was read', (t) => {
  const bench = new Bench().live().pass(3000)
  bench.give({ kind: 'picture', agoMs: 800 }).give({ kind: 'picture', agoMs: 900 })
  t.equal(bench.pass(4199).kind, 'live')
  t.match(bench.pass(1).connection.phase, { kind: 'stalled', problem: 'frozen' })
  t.end()
})

/** A camera that has been away for so long that the next attempt is half a minute off. */
function longAway(): Bench {
  const bench = new Bench().give({ kind: 'start' })
  for (let i = 0; i < 5; i += 1) bench.failAndWait('unreachable')
  return bench.give({ kind: 'ended', problem: 'unreachable' })
}

t.test('a camera that is away is asked every second, and its first answer starts an attempt', async (t) => {
  const bench = longAway()
  const before = bench.commands.length
  for (let second = 1; second <= 4; second += 1) bench.pass(1000).give({ kind: 'knocked', answered: false })
  t.same(bench.commands.slice(before), ['knock', 'knock', 'knock', 'knock'])
  t.equal(bench.kind, 'backing-off')
  bench.pass(1000).give({ kind: 'knocked', answered: true })
  t.same(bench.commands.slice(before + 4), ['knock', 'spawn'], 'within a second of the first answer')
  t.equal(bench.failAndWait('busy'), 1000, 'the delays begin again')
})

t.test('a camera that starts again within a second is back as soon at its fifth return as at its first', async (t) => {
  const bench = new Bench().live()
  for (let returns = 0; returns < 5; returns += 1) {
    bench.pass(1000).give({ kind: 'picture', agoMs: 0 })
    bench.give({ kind: 'ended', problem: 'closed' }).pass(0)
    t.equal(bench.commands.at(-1), 'knock', 'at once, while nothing answers')
    bench.give({ kind: 'knocked', answered: false }).pass(times.knockMs)
    if (bench.commands.at(-1) === 'knock') bench.give({ kind: 'knocked', answered: true })
    t.equal(bench.kind, 'connecting', 'within a second of its answer')
    bench.pass(1500).give({ kind: 'picture', agoMs: 0 })
  }
})

t.test('refused credentials are no reason to knock, and an answer does not shorten their wait', async (t) => {
  const bench = new Bench().give({ kind: 'start' })
  for (const _ of [1, 2, 3]) bench.failAndWait('refused')
  const before = bench.commands.length
  bench.give({ kind: 'ended', problem: 'refused' }).pass(60_000).give({ kind: 'knocked', answered: true })
  t.same(bench.commands.slice(before), [])
  t.equal(bench.kind, 'backing-off')
})

t.test('a camera that answers every knock and gives no stream is not tried more often for that', async (t) => {
  const closing = new Bench().live()
  for (let i = 0; i < 5; i += 1) closing.failAndWait('closed')
  closing.give({ kind: 'ended', problem: 'closed' })
  for (let i = 0; i < 10; i += 1) closing.pass(1000).give({ kind: 'knocked', answered: true })
  t.equal(closing.kind, 'backing-off')
  closing.give({ kind: 'knocked', answered: false }).give({ kind: 'knocked', answered: true })
  t.equal(closing.kind, 'connecting', 'one that went away meanwhile is back')
  const firewall = longAway().pass(2000).give({ kind: 'knocked', answered: true })
  firewall.give({ kind: 'ended', problem: 'unreachable' })
  t.equal(firewall.give({ kind: 'knocked', answered: true }).kind, 'backing-off')
})

const event = fc.oneof(
  fc.constantFrom<ConnectionEvent>(
    { kind: 'start' },
    { kind: 'stop' },
    { kind: 'reconfigured' },
    { kind: 'credentials' },
    { kind: 'picture', agoMs: 0 },
    { kind: 'overslept' },
    { kind: 'tick' },
    { kind: 'knocked', answered: true },
    { kind: 'knocked', answered: false },
  ),
  fc
    .constantFrom<Problem>('unreachable', 'refused', 'frozen', 'closed')
    .map((problem): ConnectionEvent => ({ kind: 'ended', problem })),
)
const history = fc.array(fc.tuple(event, fc.nat(40_000)), { maxLength: 60 })

t.test('whatever happens, there is never more than one process, and it is the one that is thought of', async () => {
  fc.assert(
    fc.property(history, fc.double({ min: 0, max: 0.99, noNaN: true }), (events, chance) => {
      const bench = new Bench(chance)
      let running = false
      let wanted = false
      for (const [one, passMs] of events) {
        // Only a process that runs can end or give a picture.
        if ((one.kind === 'ended' || one.kind === 'picture') && !running) continue
        const before = bench.commands.length
        if (one.kind === 'ended') running = false
        if (one.kind === 'start') wanted = true
        if (one.kind === 'stop') wanted = false
        bench.give(one).pass(passMs)
        for (const command of bench.commands.slice(before)) {
          if (command === 'spawn' && running) return false
          if (command === 'spawn') running = true
          if (command === 'knock' && running) return false
          if ((command === 'terminate' || command === 'kill') && !running) return false
        }
        if (running !== hasProcess(bench.connection)) return false
        if (!running && wanted !== (bench.kind === 'backing-off')) return false
      }
      return true
    }),
    { numRuns: 500 },
  )
})

t.test('a stream that is wanted is tried again within half an hour and a fifth, whatever was before', async () => {
  fc.assert(
    fc.property(history, (events) => {
      const bench = new Bench(0.99)
      for (const [one, passMs] of events)
        if (one.kind !== 'ended' || hasProcess(bench.connection)) bench.give(one).pass(passMs)
      const before = bench.spawned
      bench.give({ kind: 'start' })
      if (hasProcess(bench.connection)) bench.give({ kind: 'ended', problem: 'refused' })
      bench.pass(times.refusedMs * 1.2)
      return bench.spawned > before
    }),
  )
})

const ended = { hadVideo: false, code: 1, signal: null }

t.test('what ffmpeg says becomes what an admin can act on', async (t) => {
  const said: [string, Problem][] = [
    ['[rtsp @ 0x1] method DESCRIBE failed: 401 Unauthorized\npipe:0: Server returned 401 Unauthorized', 'refused'],
    ['[rtsp @ 0x1] method DESCRIBE failed: 403 Forbidden', 'refused'],
    ['[rtsp @ 0x1] method DESCRIBE failed: 404 Not Found\npipe:0: Server returned 404 Not Found', 'wrong-path'],
    ['[rtsp @ 0x1] method DESCRIBE failed: 453 Not Enough Bandwidth', 'busy'],
    ['[rtsp @ 0x1] method DESCRIBE failed: 503 Service Unavailable\nServer returned 5XX Server Error reply', 'busy'],
    [
      '[tcp @ 0x1] Connection to tcp://127.0.0.1:1 failed: Connection refused\npipe:0: Connection refused',
      'unreachable',
    ],
    ['pipe:0: No route to host', 'unreachable'],
    ['pipe:0: Connection timed out', 'unreachable'],
    ["Stream map '0:v:0' matches no streams.", 'no-video'],
    ['pipe:0: Invalid data found when processing input', 'not-a-stream'],
  ]
  for (const [text, problem] of said) t.equal(problemOf({ ...ended, said: text }), problem, text)
  t.equal(problemOf({ ...ended, hadVideo: true, code: 0, said: '' }), 'closed', 'a camera that closes: code 0')
  t.equal(problemOf({ ...ended, hadVideo: true, said: 'Invalid data found when processing input' }), 'closed')
  t.equal(problemOf({ ...ended, code: 0, said: '' }), 'no-picture')
  t.equal(problemOf({ ...ended, code: null, signal: 'SIGKILL', said: '' }), 'program-failed')
  t.match(plainWords('refused'), { what: /user name or the password/, hint: /passwordFile/ })
})
