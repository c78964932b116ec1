/** Which picture of a clip its snapshot shows, by the number in it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { Recording } from '../../src/video/clips/clip.ts'
import { remux, takePicture } from '../../src/video/clips/cutting.ts'
import { countersIn } from '../support/footage/counter.ts'
import { type FootageName, footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { facts, from, startMs, TapedCamera, tapeOf, tools, wallOffsetMs } from '../support/taped-camera.ts'

// Footage is made at first use, which takes a busy machine a while.
t.setTimeout(180_000)

const ffmpeg = locateFfmpeg().path
const hevc = needs('ffmpeg with libx265')

/** Makes a clip of a footage whose first pictures are hidden; returns a function that tells the number in its snapshot. */
async function snapshots(folder: string, name: FootageName, hidden: number, encode?: readonly string[]) {
  const { fps } = await footage(name)
  const tape = tapeOf(await footage(name), encode)
  const [spool, clip, png] = [join(folder, 'spool.ts'), join(folder, 'clip.mp4'), join(folder, 'clip.png')] as const
  writeFileSync(spool, Buffer.concat([tape.tables, ...tape.units.map(({ bytes }) => bytes)]))
  await remux(ffmpeg, spool, clip, { hiddenMs: Math.max((hidden * 1000) / fps - 1, 0), codec: tape.codec })
  return async (atMs: number, movesUntilMs = 0) => {
    await takePicture(ffmpeg, clip, { atMs, movesUntilMs }, png)
    return (await countersIn(png, ffmpeg))[0]
  }
}

// 15 pictures a second; a key frame every second, or every ten.
const cases: readonly [FootageName, hidden: number, numbers: Readonly<Record<number, number>>][] = [
  ['counted-gop-1', 0, { 0: 0, 4900: 75, 5150: 75, 5250: 90, 14880: 223 }],
  ['counted-gop-1', 7, { 0: 15, 4900: 90, 14400: 223 }],
  ['counted-gop-10', 0, { 0: 0, 5000: 75, 8950: 150, 10150: 150, 10400: 156, 14880: 223 }],
  ['counted-gop-10', 22, { 1000: 37 }],
  ['counted-gop-1-hevc', 7, { 0: 15, 4900: 90 }],
  ['counted-gop-10-hevc', 22, { 1000: 37, 7500: 150 }],
]
for (const [name, hidden, numbers] of cases) {
  t.test(
    `${name}, ${hidden} hidden: a snapshot shows its moment, or a key frame near it`,
    name.endsWith('hevc') ? hevc : {},
    async (t) => {
      const numberAt = await snapshots(t.testdir(), name, hidden)
      for (const [atMs, number] of Object.entries(numbers))
        t.equal(await numberAt(Number(atMs)), number, `at ${atMs} ms`)
    },
  )
}

t.test('while it still moves, a key frame up to 1.9 s later is as good', async (t) => {
  const numberAt = await snapshots(t.testdir(), 'counted-gop-10', 0)
  // Pictures 123 and 120; the key frame is 150, at 10 s.
  t.equal(await numberAt(8200, 10_050), 150, 'it moves then')
  t.equal(await numberAt(8200, 9950), 123, 'it does not any more')
  t.equal(await numberAt(8000, 20_000), 120, 'that is too late')
})

t.test('a clip is pictured by a key frame in its motion, and not by one after the first pause of it', async (t) => {
  const { fps } = await footage('counted-gop-10')
  const tape = tapeOf(await footage('counted-gop-10'))
  const offsetMs = startMs + (tape.units[0]?.ptsMs ?? 0)
  const motionMs = offsetMs + 8000
  const numberOf = async (movedForMs?: number) => {
    const folder = t.testdir()
    const camera = new TapedCamera(tape)
    camera.play(60_000)
    const request = { facts: facts(1, motionMs), ring: camera.ring, ...from(motionMs, 2000), wallOffsetMs }
    const moved = movedForMs === undefined ? {} : { movedForMs }
    const ending = { closedBy: 'post-roll', peakScore: 0.5, ...moved } as const
    await new Recording(tools(folder), request).close(offsetMs + 14_000, ending)
    return (await countersIn(join(folder, '1.png'), ffmpeg))[0]
  }
  t.equal(await numberOf(2500), 150, 'it moved for 2.5 s: 2 s after it began is the key frame')
  t.equal(await numberOf(1500), 8.4 * fps, 'it moved for 1.5 s')
  t.equal(await numberOf(), 8.4 * fps, 'nothing is known of that')
})

t.test('with B-frames a snapshot shows its moment too', async (t) => {
  const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-g', '200', '-sc_threshold', '0']
  const numberAt = await snapshots(t.testdir(), 'counted-reordered', 0, encode)
  for (const number of [30, 31, 32, 33, 34]) t.equal(await numberAt((number * 1000) / 15), number)
})
