import t from 'tap'
import {
  type AwakeReason,
  newlyAwake,
  stepWakefulness,
  type WakeCommand,
  type WakeEvent,
  type Wakefulness,
} from '../../src/video/decoding/wakefulness.ts'

/** A decoder whose pictures are judged, and the commands that it got. */
class Decoder {
  readonly commands: WakeCommand[] = []
  state: Wakefulness = newlyAwake(0)

  tell(event: WakeEvent, nowMs: number): this {
    const { wakefulness, command } = stepWakefulness(this.state, event, nowMs)
    this.state = wakefulness
    if (command) this.commands.push(command)
    return this
  }

  /** Five pictures a second from the one time up to the other, with a key frame each second. */
  see(fromMs: number, toMs: number, reason: AwakeReason | null = null): this {
    for (let ms = fromMs; ms < toMs; ms += 200)
      this.tell({ kind: 'picture', reason, keyPtsMs: ms % 1000 === 0 ? ms : undefined }, ms)
    return this
  }
}

const key = (ptsMs: number, reason: AwakeReason | null = null) =>
  ({ kind: 'picture', reason, keyPtsMs: ptsMs }) as const

t.test('a new connection is learned for half a minute, and then sleeps from a key frame on', async (t) => {
  const decoder = new Decoder().see(0, 30_000)
  t.match(decoder.state, { kind: 'awake', why: 'learning' })
  decoder.see(30_000, 30_200)
  t.same(decoder.state, { kind: 'asleep', quietPtsMs: 30_000 })
  t.same(decoder.commands, [{ kind: 'sleep' }])
})

t.test('a key frame in which something moves wakes it, from the last quiet key frame on', async (t) => {
  const decoder = new Decoder().see(0, 30_200).tell(key(31_000), 31_000).tell(key(32_000), 32_000)
  t.same(decoder.state, { kind: 'asleep', quietPtsMs: 32_000 })
  decoder.tell(key(33_000, 'motion'), 33_000)
  t.same(decoder.commands.at(-1), { kind: 'wake', afterPtsMs: 32_000 })
  t.same(decoder.state, { kind: 'waking', why: 'motion', untilMs: 33_000 })
})

t.test('it works through the past before it is awake, whatever the past shows', async (t) => {
  const decoder = new Decoder().see(0, 30_200).tell(key(31_000, 'motion'), 31_000)
  decoder.see(30_200, 31_000)
  t.same(decoder.state, { kind: 'waking', why: 'motion', untilMs: 31_000 })
  decoder.see(31_000, 31_200)
  t.same(decoder.state, { kind: 'awake', why: 'motion', restlessMs: 31_000 })
  t.equal(decoder.commands.length, 2)
})

t.test('after motion it stays awake for ten seconds', async (t) => {
  const decoder = new Decoder().see(0, 5000).see(5000, 60_000, 'motion').see(60_000, 69_200)
  t.match(decoder.state, { kind: 'awake', why: 'motion', restlessMs: 59_800 })
  decoder.see(69_200, 70_200)
  t.same(decoder.state, { kind: 'asleep', quietPtsMs: 70_000 })
})

t.test('a scene that never rests, and a stream without usable key frames, never sleep', async (t) => {
  for (const why of ['motion', 'view', 'key_frames_rare', 'codec', 'reordered'] as const) {
    const decoder = new Decoder()
    for (let ms = 0; ms < 600_000; ms += 9000) decoder.see(ms, ms + 8800).see(ms + 8800, ms + 9000, why)
    t.match(decoder.state, { kind: 'awake', why })
    t.same(decoder.commands, [])
  }
})

t.test('a key frame that does not come wakes it, and it stays awake for a minute', async (t) => {
  const decoder = new Decoder().see(0, 30_200).tell({ kind: 'overdue', why: 'key_frames_rare' }, 32_200)
  t.same(decoder.commands.at(-1), { kind: 'wake', afterPtsMs: 30_000 })
  decoder.see(30_200, 92_000)
  t.match(decoder.state, { kind: 'awake', why: 'key_frames_rare' })
  decoder.see(92_000, 94_000)
  t.match(decoder.state, { kind: 'asleep' })
})

t.test('nothing but a sleeping decoder is overdue', async (t) => {
  const decoder = new Decoder().see(0, 1000).tell({ kind: 'overdue', why: 'key_frames_rare' }, 1000)
  t.same(decoder.commands, [])
  t.match(decoder.state, { kind: 'awake', why: 'learning' })
})

t.test('another connection is learned anew', async (t) => {
  const decoder = new Decoder().see(0, 30_200).tell({ kind: 'begun' }, 40_000)
  t.same(decoder.state, { kind: 'awake', why: 'learning', restlessMs: 40_000 })
})
