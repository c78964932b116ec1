/** Continuous video on disk, on a clock that is moved by hand. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { packetBytes, retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { History } from '../../src/video/history/history.ts'
import type { FilmSpan } from '../../src/video/history/history-index.ts'
import { Ring } from '../../src/video/stream/ring.ts'
import { footage } from '../support/footage.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const clip = await footage('empty')
const input = ['-nostdin', '-loglevel', 'error', '-r', `${clip.fps}`, '-f', clip.codec, '-i', clip.file]
const output = ['-c', 'copy', '-f', 'mpegts', '-muxdelay', '0', '-muxpreload', '0', 'pipe:1']
const stream = execFileSync(locateFfmpeg().path, [...input, ...output], { maxBuffer: 64 << 20 })
const splitter = new UnitSplitter()
const round = [...splitter.push(stream, 0), ...splitter.flush()]
/** Five minutes: the same ten seconds, one after the other. */
const pictures = Array.from({ length: 31 }, (_, i) =>
  round.map((unit) => retimed(unit, unit.ptsMs + i * clip.durationMs)),
).flat()
const wallMs = Date.UTC(2026, 2, 2, 8)

/** The files that show the moment of a span. */
async function found(history: History, span: FilmSpan) {
  const runMs = await history.runOf(7, span)
  return runMs === undefined ? [] : history.find(7, span, runMs)
}

/** A camera with history. */
class Kept {
  readonly clock = new SimulatedClock(wallMs)
  readonly ring = new Ring({ keepMs: 0 })
  readonly history: History
  readonly folder: string
  freeBytes = 1000
  #next = 0

  constructor(folder: string, hours = 1) {
    this.folder = folder
    const { clock } = this
    this.history = new History({ folder, clock, log: silentLogger(), freeBytes: () => this.freeBytes })
    this.history.minFreeBytes = 100
    this.history.clockIsTrusted = true
    this.ring.push(stream.subarray(0, 3 * packetBytes), 0)
    this.history.keep(7, hours, this.ring)
  }

  /** Lets time pass, with its pictures. When it returns, their work on the disk is done. */
  async play(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.pass(1)
      await this.history.runOf(7, { fromMs: 0, atMs: 0, toMs: 0 })
    }
  }

  /** Lets time pass, with its pictures, but gives the disk no turn. */
  pass(seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      const untilMs = this.clock.monotonic() + 1000
      for (let unit = this.#unit; unit && unit.ptsMs <= untilMs; unit = this.#unit) {
        this.clock.advance(Math.max(unit.ptsMs - this.clock.monotonic(), 0))
        this.ring.push(unit.bytes, this.clock.monotonic())
        this.#next += 1
      }
    }
  }

  get files(): string[] {
    return existsSync(this.folder) ? readdirSync(this.folder).sort() : []
  }

  get #unit(): Unit | undefined {
    return pictures[this.#next]
  }
}

const unitsIn = (folder: string, name: string) => {
  const splitter = new UnitSplitter({ timesAreKnown: true })
  return [...splitter.push(readFileSync(join(folder, name)), 0), ...splitter.flush()]
}
const folderOf = (t: Test) => join(t.testdir(), 'history')

t.test(
  'every picture is in a segment, each of which begins with a key frame and can be read without the others',
  async (t) => {
    const kept = new Kept(folderOf(t))
    await kept.play(250)
    t.equal(kept.files.length, 3, 'a segment every two minutes')
    const found = kept.files.map((name) => unitsIn(kept.folder, name))
    t.ok(found.every(([first]) => first?.key))
    const times = found.flat().map(({ ptsMs }) => Math.round(ptsMs))
    t.same(
      times,
      pictures.slice(0, times.length).map(({ ptsMs }) => Math.round(ptsMs)),
    )
    t.ok((times.at(-1) ?? 0) >= 249_000, 'a kill would lose a second at most')
    t.match(kept.files[0], new RegExp(`^7_${wallMs}_${wallMs}.ts$`))
    await kept.history.stop()
  },
)

t.test(
  'a disk without room makes a gap: what is written afterwards is another run, and no file has a hole',
  async (t) => {
    const kept = new Kept(folderOf(t))
    await kept.play(30)
    kept.freeBytes = 50
    await kept.play(20)
    kept.freeBytes = 1000
    await kept.play(30)
    t.equal(kept.files.length, 2)
    t.equal(new Set(kept.files.map((name) => name.split('_')[1])).size, 2, 'two runs')
    for (const name of kept.files) {
      const times = unitsIn(kept.folder, name).map(({ ptsMs }) => ptsMs)
      t.ok(
        times.every((ms, i) => i === 0 || ms - (times[i - 1] ?? 0) < 100),
        `${name} has no hole`,
      )
    }
    const span = (seconds: number) => ({ fromMs: 0, atMs: wallMs + seconds * 1000, toMs: wallMs + 1e6 })
    t.equal((await found(kept.history, span(20))).length, 1)
    t.strictSame(await found(kept.history, span(40)), [], 'of the gap there is nothing')
    await kept.history.stop()
  },
)

t.test('what is older than its hours is removed, and while the disk is short of room the oldest', async (t) => {
  const kept = new Kept(folderOf(t), 3 / 60)
  await kept.play(299)
  await kept.history.tidy()
  t.equal(kept.files.length, 3, 'the first ended 179 s ago')
  await kept.play(3)
  await kept.history.tidy()
  t.equal(kept.files.length, 2)
  kept.freeBytes = 110
  await kept.history.tidy()
  t.equal(
    kept.files.length,
    1,
    'it gives way before clips do, which are removed below 100; what is being written stays',
  )
  await kept.history.stop()
})

t.test('by a clock that is wrong no continuous video is old', async (t) => {
  const kept = new Kept(folderOf(t), 3 / 60)
  await kept.play(130)
  kept.history.clockIsTrusted = false
  kept.clock.setWall(Date.UTC(2030, 0, 1))
  await kept.history.tidy()
  t.equal(kept.files.length, 2)
  kept.clock.setWall(wallMs + 600_000)
  kept.history.clockIsTrusted = true
  await kept.history.tidy()
  t.equal(kept.files.length, 1, 'what is being written stays')
  await kept.history.stop()
})

t.test(
  'a clock that is set begins another run, without a hole, and a moment that there was twice is the later one',
  async (t) => {
    const folder = folderOf(t)
    const kept = new Kept(folder)
    await kept.play(58)
    // The last part is not written yet.
    kept.pass(2)
    kept.clock.setWall(wallMs + 30_000)
    kept.pass(2)
    await kept.play(58)
    t.equal(new Set(kept.files.map((name) => name.split('_')[1])).size, 2, 'two runs')
    const times = kept.files
      .flatMap((name) => unitsIn(folder, name))
      .map(({ ptsMs }) => Math.round(ptsMs))
      .sort((a, b) => a - b)
    t.same(
      times,
      pictures.slice(0, times.length).map(({ ptsMs }) => Math.round(ptsMs)),
      'each picture is there once',
    )
    const twice = { fromMs: wallMs + 35_000, atMs: wallMs + 40_000, toMs: wallMs + 45_000 }
    const startsOf = async (one: Kept) => (await found(one.history, twice)).map(({ startMs }) => startMs - wallMs)
    const [start = 0, ...others] = await startsOf(kept)
    t.same(others, [])
    t.ok(start >= 30_000 && start <= 31_100, `${start} ms`)
    await kept.history.stop()
    t.same(await startsOf(new Kept(folder)), [start], 'also after a restart')
  },
)

t.test('a clock that is slewed changes nothing', async (t) => {
  const kept = new Kept(folderOf(t))
  for (let i = 0; i < 6; i += 1) {
    await kept.play(10)
    kept.clock.setWall(kept.clock.now() + 400)
  }
  t.equal(kept.files.length, 1)
  await kept.history.stop()
})

t.test(
  'continuous video that waits for the disk is given up when memory is short: its run ends, without a hole',
  async (t) => {
    const kept = new Kept(folderOf(t))
    await kept.play(20)
    t.equal(kept.history.pendingBytes(7), 0)
    t.notOk(kept.history.shed(7), 'nothing waits')
    // The disk gets no turn meanwhile.
    kept.pass(20)
    t.ok(kept.history.pendingBytes(7) > 500_000, `${kept.history.pendingBytes(7)} bytes wait`)
    t.ok(kept.history.shed(7))
    t.equal(kept.history.pendingBytes(7), 0)
    await kept.play(20)
    await kept.history.stop()
    t.equal(new Set(kept.files.map((name) => name.split('_')[1])).size, 2, 'two runs')
    for (const name of kept.files) {
      const times = unitsIn(kept.folder, name).map(({ ptsMs }) => ptsMs)
      t.ok(
        times.every((ms, i) => i === 0 || ms - (times[i - 1] ?? 0) < 100),
        `${name} has no hole`,
      )
    }
  },
)

t.test('after a restart the segments are known by their names', async (t) => {
  const folder = folderOf(t)
  const before = new Kept(folder)
  await before.play(130)
  await before.history.stop()
  writeFileSync(join(folder, 'README'), 'is not a segment')
  const after = new Kept(folder)
  const kept = await found(after.history, { fromMs: wallMs + 50_000, atMs: wallMs + 60_000, toMs: wallMs + 70_000 })
  t.match(kept, [{ startMs: wallMs, path: join(folder, `7_${wallMs}_${wallMs}.ts`) }])
  after.history.keep(7, 0, undefined)
  after.clock.advance(3_600_000)
  await after.history.tidy()
  t.same(after.files, ['README'], 'a camera that keeps nothing any more loses what there is')
  await after.history.stop()
})
