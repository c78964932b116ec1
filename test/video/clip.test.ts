import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import t from 'tap'
import { TaskLimit } from '../../src/flow/index.ts'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { forget, Recording } from '../../src/video/clips/clip.ts'
import type { ClipResult } from '../../src/video/clips/clip-making.ts'
import { ClipRoom } from '../../src/video/clips/clip-room.ts'
import { type ClipClosed, Ring } from '../../src/video/index.ts'
import { IdPool } from '../../src/video/live/id-pool.ts'
import { countersIn } from '../support/footage/counter.ts'
import { footage } from '../support/footage.ts'
import {
  crossing,
  facts,
  from,
  leftoversOf,
  startMs,
  TapedCamera,
  tapeOf,
  tools,
  wallMs,
  wallOffsetMs,
} from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

// Footage is made at first use, which takes a busy machine a while.
t.setTimeout(180_000)

const ffmpeg = locateFfmpeg().path
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const ending = { closedBy: 'post-roll', peakScore: 0.7 } as const

function isClosed(result: ClipResult | undefined): result is ClipClosed {
  return result?.type === 'clipClosed'
}

for (const [name, program] of [
  ['the ffmpeg of this machine', ffmpeg],
  ['the ffmpeg that comes along', assetPath('ffmpeg')],
] as const) {
  t.test(`${name} cuts a clip with its pre-roll out of the middle of a long group of pictures`, async (t) => {
    const folder = t.testdir()
    const camera = new TapedCamera()
    camera.play(9000)
    const motionMs = startMs + 8000
    const recording = new Recording(tools(folder, program), {
      facts: facts(7, motionMs),
      ring: camera.ring,
      ...from(motionMs, 3000),
      wallOffsetMs,
    })
    camera.play(16_000)
    const result = await recording.close(motionMs + 4000, ending)
    t.match(result, { type: 'clipClosed', detectionId: 7, cameraId: 1, file: '7.mp4', closedBy: 'post-roll' })
    if (!isClosed(result)) return
    t.equal(result.preRollSeconds, 3)
    t.ok(Math.abs(result.durationSeconds - 7) <= 0.2, `${result.durationSeconds} s`)
    t.equal(result.startedAt, motionMs - 3000 + wallOffsetMs)
    t.equal(result.sha256, sha256(join(folder, '7.mp4')))
    t.equal(result.sizeBytes, readFileSync(join(folder, '7.mp4')).length)
    t.match([result.width, result.height], [crossing.width, crossing.height])
    t.equal(result.snapshot?.sha256, sha256(join(folder, '7.png')))
    const picture = PNG.sync.read(readFileSync(join(folder, '7.png')))
    t.match(picture, { width: crossing.width, height: crossing.height })
    t.same(readdirSync(folder).sort(), ['7.json', '7.mp4', '7.png'], 'nothing unfinished is left')
    await forget(folder, 7)
    t.same(readdirSync(folder).sort(), ['7.mp4', '7.png'])
  })
}

for (const [name, motionAtMs, preRollMs, endMs] of [
  ['counted-8mbit', 5000, 3500, 7000],
  ['counted-4k', 2800, 1500, 3500],
  ['counted-gop-1', 12_400, 5000, 14_200],
  ['counted-gop-10', 12_400, 5000, 14_200],
  ['counted-gop-1-hevc', 12_400, 5000, 14_200],
  ['counted-gop-10-hevc', 12_400, 5000, 14_200],
] as const) {
  t.test(
    `${name}: a clip has its beginning, exact to the picture, and the row names its first and last one`,
    async (t) => {
      const heavy = await footage(name)
      const tape = tapeOf(heavy)
      for (const program of [ffmpeg, assetPath('ffmpeg')]) {
        const folder = t.testdir()
        const camera = new TapedCamera(tape)
        const offsetMs = tape.units[0]?.ptsMs ?? 0
        camera.play(offsetMs + motionAtMs + 400)
        const motionMs = startMs + offsetMs + motionAtMs
        const recording = new Recording(tools(folder, program), {
          ...{ facts: facts(1, motionMs), ring: camera.ring, ...from(motionMs, preRollMs), wallOffsetMs },
        })
        camera.play(offsetMs + 60_000)
        const result = await recording.close(startMs + offsetMs + endMs, ending)
        if (!isClosed(result)) return t.fail(JSON.stringify(result))
        const shown = await countersIn(join(folder, '1.mp4'), ffmpeg)
        const [first = -1, last = -1] = [shown[0], shown.at(-1)]
        t.same(
          shown,
          Array.from({ length: last - first + 1 }, (_, i) => first + i),
          'no picture is missing',
        )
        t.equal(result.pictures, shown.length)
        const takenAt = (n: number) => startMs + offsetMs + (n * 1000) / heavy.fps + wallOffsetMs
        t.ok(Math.abs(result.startedAt - takenAt(first)) <= 2, `${result.startedAt} is picture ${first}`)
        t.ok(Math.abs(result.endedAt - takenAt(last)) <= 2, `${result.endedAt} is picture ${last}`)
        const pictureMs = 1000 / heavy.fps
        t.ok(result.preRollSeconds * 1000 >= preRollMs && result.preRollSeconds * 1000 <= preRollMs + pictureMs + 2)
        t.ok(takenAt(last) <= endMs + startMs + offsetMs + wallOffsetMs + 2, 'not longer than asked for')
        t.match(result, { closedBy: 'post-roll', original: true, askedPreRollSeconds: preRollMs / 1000 })
        const snapshot = PNG.sync.read(readFileSync(join(folder, '1.png')))
        const width = Math.min(heavy.width, 640)
        t.match(snapshot, { width, height: (width * heavy.height) / heavy.width }, 'a small picture of it')
      }
      return undefined
    },
  )
}

t.test('a ring that does not reach back so far gives less pre-roll, and the clip says how much', async (t) => {
  const camera = new TapedCamera()
  camera.play(6000)
  const { newestMs } = camera
  const request = { facts: facts(1, newestMs), ring: camera.ring, ...from(newestMs, 30_000), wallOffsetMs }
  const recording = new Recording(tools(t.testdir()), request)
  camera.play(9000)
  const result = await recording.close(newestMs + 1000, ending)
  t.ok(isClosed(result) && Math.abs(result.preRollSeconds * 1000 - (newestMs - startMs)) < 150, JSON.stringify(result))
})

t.test('a stream that breaks off leaves a clip with what there is, and the clip says so', async (t) => {
  const camera = new TapedCamera()
  camera.play(6000)
  const { newestMs } = camera
  const request = { facts: facts(1, newestMs), ring: camera.ring, ...from(newestMs, 2000), wallOffsetMs }
  const recording = new Recording(tools(t.testdir()), request)
  camera.ring.restart()
  camera.play(9000)
  const result = await recording.close(newestMs + 10_000, ending)
  t.match(result, { closedBy: 'stream-ended' })
  t.ok(isClosed(result) && Math.abs(result.durationSeconds - 2) < 0.2, JSON.stringify(result))
  t.ok(isClosed(result) && Math.abs(result.endedAt - newestMs - wallOffsetMs) < 100, JSON.stringify(result))
})

t.test('a clip stops where the reserve of the ledger begins, and that is said', async (t) => {
  const camera = new TapedCamera()
  camera.play(6000)
  const folder = t.testdir()
  const recording = new Recording(
    { ...tools(folder), room: { take: () => false, takeAgain: () => false, giveBack: () => {} } },
    { facts: facts(1, camera.newestMs), ring: camera.ring, ...from(camera.newestMs, 2000), wallOffsetMs },
  )
  camera.play(9000)
  const result = await recording.close(camera.newestMs + 1000, ending)
  t.match(result, { type: 'clipLost', reason: 'disk-full', words: /reserved for events/ })
  t.same(
    readdirSync(folder).filter((name) => name.endsWith('.part') || name.endsWith('.mp4')),
    [],
    'and nothing of it fills the disk',
  )
})

/** Bytes that a disk takes before it is full. */
function diskOf(bytes: number) {
  let left = bytes
  return {
    take: (wanted: number) => {
      if (wanted > left) return false
      left -= wanted
      return true
    },
    takeAgain: () => true,
    giveBack: () => {},
  }
}

t.test('a disk that fills up ends the clip, and the clip shows what there was', async (t) => {
  const camera = new TapedCamera()
  camera.play(6000)
  const folder = t.testdir()
  const motionMs = camera.newestMs
  const recording = new Recording(
    { ...tools(folder), room: diskOf(1_000_000) },
    { facts: facts(1, motionMs), ring: camera.ring, ...from(motionMs, 2000), wallOffsetMs },
  )
  const spool = join(folder, '1.ts.part')
  await waitUntil('the pre-roll is on disk', () => existsSync(spool) && readFileSync(spool).length > 300_000)
  for (let ms = 6000; ms < 19_000; ms += 500) {
    const before = readFileSync(spool).length
    camera.play(ms)
    await Promise.race([
      waitUntil('it grows', () => readFileSync(spool).length > before).catch(() => {}),
      recording.pendingBytes === 0 ? Promise.resolve() : waitUntil('it is written', () => recording.pendingBytes === 0),
    ])
  }
  const result = await recording.close(motionMs + 12_000, ending)
  t.match(result, { type: 'clipClosed', closedBy: 'disk-full', preRollSeconds: 2 })
  if (!isClosed(result)) return
  t.ok(result.durationSeconds > 2 && result.durationSeconds < 13, `${result.durationSeconds} s`)
  t.equal(result.sha256, sha256(join(folder, '1.mp4')))
  t.same(readdirSync(folder).sort(), ['1.json', '1.mp4', '1.png'])
})

t.test('open clips leave room for finishing each of them, and for the ledger', async (t) => {
  let freeBytes = 1000
  const room = new ClipRoom({ freeBytes: () => freeBytes, reserveBytes: () => 100 })
  const write = (bytes: number) => {
    if (!room.take(bytes)) return false
    freeBytes -= bytes
    return true
  }
  t.ok(write(300))
  t.ok(write(150), 'another clip: 550 bytes are left, and 450 are promised')
  t.notOk(write(1), 'finishing both would reach the reserve')
  freeBytes -= 300
  room.giveBack(300)
  freeBytes += 300
  t.ok(write(150), 'the first one is finished: its file has taken the place of its spool')
  t.end()
})

t.test('a spool can be read from its first second on, while the clip is recorded', async (t) => {
  const camera = new TapedCamera()
  camera.play(6000)
  const folder = t.testdir()
  const request = { facts: facts(4, startMs + 5000), ring: camera.ring, ...from(startMs + 5000, 1000), wallOffsetMs }
  const recording = new Recording(tools(folder), request)
  const spool = join(folder, '4.ts.part')
  await waitUntil('the beginning is on disk', () => existsSync(spool) && readFileSync(spool).length > 100_000)
  const pictures = () => {
    const read = ['-nostdin', '-v', 'error', '-i', spool, '-map', '0:v:0', '-f', 'framecrc', 'pipe:1']
    return execFileSync(ffmpeg, read, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => /^0,/.test(line)).length
  }
  const early = pictures()
  t.ok(early > 10, `${early} pictures`)
  camera.play(9000)
  await waitUntil('more is on disk', () => recording.pendingBytes === 0)
  t.ok(pictures() > early, 'and it grows')
  t.match(JSON.parse(readFileSync(join(folder, '4.json'), 'utf8')), { facts: { detectionId: 4 }, codec: 'h264' })
  await recording.close(startMs + 9000, ending)
})

t.test('a camera without a key frame has no clip, and that is said', async (t) => {
  const recording = new Recording(tools(t.testdir()), {
    facts: facts(1, startMs),
    ring: new Ring({ keepMs: 1000 }),
    ...from(startMs, 0),
    wallOffsetMs,
  })
  t.match(await recording.close(startMs + 1000, ending), { type: 'clipLost', reason: 'no-video', words: /no video/ })
})

t.test('a disk that refuses loses the clip, with the reason', async (t) => {
  const folder = join(t.testdir({ file: '' }), 'file')
  const camera = new TapedCamera()
  camera.play(6000)
  const request = { facts: facts(1, startMs + 5000), ring: camera.ring, ...from(startMs + 5000, 2000), wallOffsetMs }
  const recording = new Recording(tools(folder), request)
  t.match(await recording.close(startMs + 6000, ending), { type: 'clipLost', reason: 'disk-failed', detectionId: 1 })
})

t.test('what a killed gateway has left is finished at the next start, and told until it is confirmed', async (t) => {
  const folder = t.testdir({
    '9.mp4.part': 'half a clip',
    '9.png.part': 'half a picture',
    'notes.txt': 'of somebody else',
  })
  const camera = new TapedCamera()
  camera.play(8000)
  const motionMs = startMs + 5000
  const request = { facts: facts(9, motionMs), ring: camera.ring, ...from(motionMs, 2000), wallOffsetMs }
  // Not closed before the end, as if the process had been killed once the spool was on disk.
  const recording = new Recording(tools(folder), request)
  t.teardown(() => recording.end(startMs))
  const spool = join(folder, '9.ts.part')
  await waitUntil('the spool is on disk', () => existsSync(spool) && readFileSync(spool).length >= 300_000)

  const [first, ...rest] = await leftoversOf(tools(folder))
  t.same(rest, [])
  t.match(first, {
    type: 'clipClosed',
    detectionId: 9,
    motionAt: Math.round(motionMs + wallOffsetMs),
    preRollSeconds: 2,
  })
  t.match(first, { closedBy: 'restart', score: 0.5 })
  t.same(readdirSync(folder).sort(), ['9.json', '9.mp4', '9.png', 'notes.txt'])

  t.same(await leftoversOf(tools(folder)), [first], 'the same bytes, as long as nobody has confirmed')
  await forget(folder, 9)
  t.same(await leftoversOf(tools(folder)), [])
})

t.test('facts without any video are told as a loss', async (t) => {
  const sidecar = { facts: facts(3, startMs), startedAt: wallMs, leadMs: 0, codec: 'h264' }
  const folder = t.testdir({ '3.json': JSON.stringify(sidecar) })
  t.match(await leftoversOf(tools(folder)), [{ type: 'clipLost', detectionId: 3, reason: 'nothing-left' }])
  writeFileSync(join(folder, '3.ts.part'), 'no transport stream')
  t.match(await leftoversOf(tools(folder)), [{ type: 'clipLost', detectionId: 3, reason: 'unreadable' }])
})

t.test('ids are asked for in advance, and motion waits when there are none', async (t) => {
  const asked: number[] = []
  const pool = new IdPool((count) => asked.push(count))
  t.same(asked, [16])
  const early = pool.take()
  pool.add(Array.from({ length: 16 }, (_, i) => i + 1))
  t.equal(await early, 1)
  for (let i = 0; i < 8; i += 1) await pool.take()
  t.equal(asked.length, 2, 'half of them are used')
  for (let i = 0; i < 7; i += 1) await pool.take()
  const late = pool.take()
  pool.end()
  await t.rejects(late)
})

t.test('tasks run in the order they come, two at once', async (t) => {
  const turns = new TaskLimit(2)
  const running: number[] = []
  let most = 0
  const order = [...Array(5).keys()].map((n) =>
    turns.run(async () => {
      running.push(n)
      most = Math.max(most, running.length)
      await new Promise((resolve) => setImmediate(resolve))
      running.splice(running.indexOf(n), 1)
      if (n === 1) throw new Error('one fails')
      return n
    }),
  )
  t.match(
    (await Promise.allSettled(order)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  t.equal(most, 2)
})
