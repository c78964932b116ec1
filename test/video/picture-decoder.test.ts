/** Pictures of clips by an ffmpeg that stays, against those of an ffmpeg for each. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { remux, takePicture } from '../../src/video/clips/cutting.ts'
import { asPng, pictureSource, snapshotScale } from '../../src/video/decoding/clip-picture.ts'
import { PictureDecoder } from '../../src/video/decoding/picture-decoder.ts'
import { ffmpegDialect, staysWell } from '../../src/video/ffmpeg/ffmpeg-dialect.ts'
import type { KeyFrame } from '../../src/video/format/key-frame.ts'
import { picturesIn } from '../../src/video/format/mp4-file.ts'
import { CameraSet, type FromCameras } from '../../src/video/index.ts'
import { type FootageName, footage } from '../support/footage.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { leaveSpool, tapeOf } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

// Footage is made at first use, which takes a busy machine a while.
t.setTimeout(240_000)

const ffmpeg = locateFfmpeg().path
/** The ffmpeg of 2018 that comes with gatehouse; undefined where no package has it for this machine. */
const bundled = (() => {
  try {
    return locateFfmpeg({ env: {} }).path
  } catch {
    return undefined
  }
})()
const programs = [...new Set([ffmpeg, ...(bundled ? [bundled] : [])])]
const newest = { listOptions: true, setsTimes: true }
const tenMinutesMs = 600_000

/** A key frame of a clip, and its picture as an ffmpeg takes it that is started for it. */
type Known = { readonly clip: string; readonly atMs: number; readonly frame: KeyFrame; readonly png: Buffer }

async function clipOf(folder: string, name: FootageName, encode?: readonly string[]): Promise<string> {
  const tape = tapeOf(await footage(name), encode)
  const [spool, clip] = [join(folder, `${name}.ts`), join(folder, `${name}.mp4`)]
  writeFileSync(spool, Buffer.concat([tape.tables, ...tape.units.map(({ bytes }) => bytes)]))
  await remux(ffmpeg, spool, clip, { hiddenMs: 0, codec: tape.codec })
  return clip
}

async function frameAt(clip: string, atMs: number): Promise<KeyFrame | undefined> {
  return (await pictureSource(clip, { atMs }))?.keyFrame()
}

async function knownOf(folder: string, name: FootageName): Promise<Known[]> {
  const clip = await clipOf(folder, name)
  const keys = (await picturesIn(clip))?.pictures.filter(({ isKey }) => isKey) ?? []
  const known: Known[] = []
  for (const { atMs } of keys) {
    const file = join(folder, 'known.png')
    await takePicture(ffmpeg, clip, { atMs }, file)
    known.push({ clip, atMs, frame: (await frameAt(clip, atMs)) as KeyFrame, png: readFileSync(file) })
  }
  return known
}

function decoderOf(t: Test, path = ffmpeg, dialect = newest) {
  const clock = new SimulatedClock()
  const decoder = new PictureDecoder({ ffmpeg: { path, dialect }, clock, log: silentLogger() })
  t.teardown(() => decoder.stop())
  return { clock, decoder }
}

/** The processes of this program that stay for pictures. */
function staying(): number[] {
  const children = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return children.filter((pid) => {
    const file = `/proc/${pid}/cmdline`
    return existsSync(file) && readFileSync(file, 'utf8').includes('framehash')
  })
}

const changed = (bytes: Buffer, change: (copy: Buffer) => Buffer | undefined) => {
  const copy = Buffer.from(bytes)
  return change(copy) ?? copy
}

/** Faults of a picture, or of the process. */
const faults: readonly ((known: Known, other: Known) => Buffer)[] = [
  ({ frame }) => frame.bytes.subarray(0, frame.bytes.length * 0.6),
  ({ frame }) => changed(frame.bytes, (copy) => void copy.fill(0x5a, copy.length >> 1, (copy.length >> 1) + 40)),
  ({ frame }) =>
    changed(frame.bytes, (copy) =>
      Buffer.concat([copy.subarray(0, copy.length * 0.4), copy.subarray(copy.length * 0.5)]),
    ),
  ({ frame }, other) => Buffer.concat([frame.bytes, other.frame.bytes]),
  () => Buffer.alloc(700, 7),
  ({ frame }) => {
    for (const pid of staying()) process.kill(pid, 'SIGKILL')
    return frame.bytes
  },
]

t.test('hundreds of pictures of three cameras, with faults in between, are those of an ffmpeg for each', async (t) => {
  const folder = t.testdir()
  const cameras = [
    await knownOf(folder, 'counted-gop-1'),
    await knownOf(folder, 'passer'),
    await knownOf(folder, 'crossing'),
  ] as const
  const [one, two] = cameras
  t.same(one[0]?.frame.parameters, two[0]?.frame.parameters, 'two cameras are of one kind, and share a process')
  const { clock, decoder } = decoderOf(t)
  const taken = { decoded: 0, asked: 0, wrong: 0 }
  const counting = {
    decode: async (frame: KeyFrame) => {
      const png = await decoder.decode(frame)
      taken.asked += 1
      if (png) taken.decoded += 1
      return png
    },
  }
  const file = join(folder, 'taken.png')
  for (let round = 0; round < 300; round += 1) {
    const known = at(cameras[round % 3] ?? one, round * 7)
    if (round % 20 === 19) {
      const fault = at(faults, Math.floor(round / 20))
      const png = await decoder.decode({ ...known.frame, bytes: fault(known, at(one, round + 1)) })
      t.ok(
        png === undefined || png.equals(known.png),
        `fault ${Math.floor(round / 20) % faults.length} gives no other picture`,
      )
      clock.advance(tenMinutesMs)
    }
    await takePicture(ffmpeg, known.clip, { atMs: known.atMs }, file, counting)
    if (!readFileSync(file).equals(known.png)) taken.wrong += 1
  }
  t.same(taken, { decoded: 300, asked: 300, wrong: 0 })
})

/** Where each unit of a byte stream begins. */
function unitsOf(bytes: Buffer): { type: number; from: number; to: number }[] {
  const code = Buffer.from([0, 0, 0, 1])
  const starts: number[] = []
  for (let from = bytes.indexOf(code); from >= 0; from = bytes.indexOf(code, from + code.length)) starts.push(from)
  return starts.map((from, i) => ({
    type: (bytes[from + code.length] ?? 0) & 0x1f,
    from,
    to: starts[i + 1] ?? bytes.length,
  }))
}

/** A picture in each of the ways in which a part of it can be missing or changed. */
function* brokenOnes({ bytes }: KeyFrame): Generator<[what: string, bytes: Buffer]> {
  const slices = unitsOf(bytes).filter(({ type }) => type === 5)
  const without = (from: number, to: number) => Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  if (slices.length > 1) {
    for (const [i, { from, to }] of slices.entries()) yield [`slice ${i} missing`, without(from, to)]
    yield ['all but the first slice missing', bytes.subarray(0, slices[0]?.to)]
  }
  const { from, to } = slices.at(-1) as { from: number; to: number }
  for (const part of [0.3, 0.6, 0.9])
    yield [`cut off at ${part}`, bytes.subarray(0, from + Math.floor((to - from) * part))]
  for (let i = 1; i < 12; i += 1)
    yield [
      `another bit at ${i} of 12`,
      changed(bytes, (copy) => {
        const place = from + 16 + Math.floor(((to - from - 16) * i) / 12)
        copy[place] = (copy[place] ?? 0) ^ (1 << (i % 8))
      }),
    ]
}

const slicing = (slices: number) => [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '0', '-g', '15', '-x264-params', `slices=${slices}`],
]

for (const program of programs)
  for (const slices of [1, 4])
    t.test(
      `a picture of ${slices} slices, of which a part is missing, shows nothing of the one before: ${program === bundled ? 'the ffmpeg that comes along' : 'another ffmpeg'}`,
      async (t) => {
        const folder = t.testdir()
        const before = (await frameAt(await clipOf(folder, 'counted-gop-1', slicing(slices)), 0)) as KeyFrame
        const frame = (await frameAt(await clipOf(folder, 'passer', slicing(slices)), 0)) as KeyFrame
        t.same(before.parameters, frame.parameters, 'two cameras are of one kind')
        const dialect = await ffmpegDialect(program)
        const whole = await decoderOf(t, program, dialect).decoder.decode(frame)
        t.same(
          whole,
          staysWell(dialect) ? await alone(program, frame.bytes) : undefined,
          'a whole one, where an ffmpeg stays',
        )
        for (const [what, bytes] of brokenOnes(frame)) {
          const { decoder } = decoderOf(t, program, dialect)
          await decoder.decode(before)
          const png = await decoder.decode({ ...frame, bytes })
          decoder.stop()
          t.ok(!png || png.equals(await alone(program, bytes)), what)
        }
      },
    )

/** Decodes a picture with an ffmpeg that has seen no other. */
async function alone(program: string, bytes: Buffer): Promise<Buffer> {
  const output = ['-frames:v', '1', '-vf', snapshotScale, ...asPng, '-f', 'image2pipe', 'pipe:1']
  const run = spawn(program, ['-loglevel', 'quiet', '-f', 'h264', '-i', 'pipe:0', ...output])
  run.stdin.on('error', () => {})
  run.stdin.end(bytes)
  return Buffer.concat(await run.stdout.toArray())
}

function at<T>(list: readonly T[], place: number): T {
  return list[place % list.length] as T
}

/** A program in place of ffmpeg, which answers picture `n` (from 0) with the lines of `answer`. */
function liar(folder: string, answer: string): string {
  const program = join(folder, 'ffmpeg')
  const lines = `#!${process.execPath}
import { createHash } from 'node:crypto'
const png = (n) => Buffer.from('picture ' + n)
const say = (n, of = n) => process.stderr.write('0, ' + 90000 * (n + 1) + ', ' + 90000 * (n + 1) + ', 1, ' + png(of).length + ', ' +
  createHash('sha256').update(png(of)).digest('hex') + '\\n')
const show = (n, times = 1) => process.stdout.write(png(n).toString().repeat(times))
let [bytes, n] = [Buffer.alloc(0), 0]
process.stdin.on('data', (more) => {
  bytes = Buffer.concat([bytes, more])
  const from = 32
  while (bytes.length >= from + 12 && bytes.length >= from + 12 + bytes.readUInt32LE(from)) {
    bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 12 + bytes.readUInt32LE(from))])
    ${answer}
    n += 1
  }
})`
  writeFileSync(program, lines, { mode: 0o755 })
  return program
}

const frame: KeyFrame = { parameters: Buffer.from('one'), bytes: Buffer.from('a key frame') }
const lies: readonly [what: string, answer: string, first: string | undefined, second: string | undefined][] = [
  ['the truth', 'say(n); show(n)', 'picture 0', 'picture 1'],
  ['the picture before the line', 'show(n); say(n)', 'picture 0', 'picture 1'],
  ['the picture of another moment', 'const of = Math.max(n - 1, 0); say(of); show(of)', 'picture 0', undefined],
  ['the line of this and the picture of another', 'say(n); show(Math.max(n - 1, 0))', 'picture 0', undefined],
  ['a picture longer than its line says', 'say(n); show(n, n > 0 ? 2 : 1)', 'picture 0', undefined],
  [
    'a complaint before the line',
    'if (n > 0) process.stderr.write("concealing errors\\n"); say(n); show(n)',
    'picture 0',
    undefined,
  ],
  ['a line twice', 'say(n); if (n > 0) say(n); show(n)', 'picture 0', undefined],
  [
    'another time in its two columns',
    'process.stderr.write("0, 1, 90000, 1, 9, " + "0".repeat(64) + "\\n"); show(n)',
    undefined,
    undefined,
  ],
  ['its end', 'process.exit(0)', undefined, undefined],
]
for (const [what, answer, first, second] of lies) {
  t.test(`an ffmpeg that gives ${what}`, async (t) => {
    const { decoder } = decoderOf(t, liar(t.testdir(), answer))
    t.equal((await decoder.decode(frame))?.toString(), first)
    t.equal((await decoder.decode(frame))?.toString(), second)
  })
}

t.test('what comes after an answer, and what no one asked for, ends the process', async (t) => {
  for (const late of ['show(n)', 'say(n + 1)', 'process.stderr.write("so much\\n")', 'process.stdout.write("p")']) {
    const { decoder } = decoderOf(t, liar(t.testdir(), `process.once('SIGUSR2', () => { ${late} }); say(n); show(n)`))
    t.equal((await decoder.decode(frame))?.toString(), 'picture 0')
    for (const pid of staying()) process.kill(pid, 'SIGUSR2')
    // The next picture meets a process that is not trusted any more, or that has just printed too much.
    await waitUntil('it has spoken', async () => (await decoder.decode(frame)) === undefined)
    t.equal(await decoder.decode(frame), undefined, `${late}: it rests`)
  }
})

t.test(
  'a process that keeps its pictures back is ended after 5 s, and pictures of its kind rest for an hour',
  async (t) => {
    const { clock, decoder } = decoderOf(t, liar(t.testdir(), 'if (n > 0) { say(n); show(n) }'))
    let answer: Buffer | 'none yet' | undefined = 'none yet'
    void decoder.decode(frame).then((png) => {
      answer = png
    })
    clock.advance(5000)
    await waitUntil('it is given up', () => answer === undefined)
    clock.advance(3_600_000 - 1)
    t.equal(await decoder.decode(frame), undefined)
    clock.advance(1)
    const again = decoder.decode(frame)
    clock.advance(4999)
    t.equal(clock.waiting, 1, 'it is asked again')
    clock.advance(1)
    t.equal(await again, undefined)
  },
)

t.test('a kind of pictures whose process failed once rests for ten minutes', async (t) => {
  const { clock, decoder } = decoderOf(t, liar(t.testdir(), 'if (n === 0) { say(n); show(n) } else process.exit()'))
  const take = async () => (await decoder.decode(frame))?.toString()
  t.same([await take(), await take(), await take()], ['picture 0', undefined, undefined])
  clock.advance(tenMinutesMs - 1)
  t.equal(await take(), undefined)
  clock.advance(1)
  t.equal(await take(), 'picture 0')
})

t.test('a process without work for a minute is ended, and so are all when the gateway stops', async (t) => {
  const known = at(await knownOf(t.testdir(), 'counted-gop-1'), 3)
  const { clock, decoder } = decoderOf(t)
  const takes = async () => t.same(await decoder.decode(known.frame), known.png)
  await takes()
  const [pid] = staying()
  clock.advance(59_999)
  await takes()
  clock.advance(59_999)
  t.same(staying(), [pid], 'it stays')
  clock.advance(1)
  await waitUntil('it is gone', () => staying().length === 0)
  await takes()
  t.equal(staying().length, 1)
  decoder.stop()
  await waitUntil('it is gone', () => staying().length === 0)
  t.equal(await decoder.decode(known.frame), undefined)
  t.equal(staying().length, 0, 'none is started any more')
})

t.test('two kinds of pictures have their processes; a third takes the place of the one that is idle', async (t) => {
  const { clock, decoder } = decoderOf(t, liar(t.testdir(), 'if (n < 2) { say(n); show(n) }'))
  const take = async (kind: string) => (await decoder.decode({ ...frame, parameters: Buffer.from(kind) }))?.toString()
  t.equal(await take('one'), 'picture 0')
  t.equal(await take('two'), 'picture 0')
  t.equal(await take('one'), 'picture 1')
  t.equal(await take('three'), 'picture 0', 'instead of two')
  t.equal(await take('three'), 'picture 1')
  t.equal(staying().length, 2)
  const busy = [take('one'), take('three'), take('one')]
  t.equal(await take('four'), undefined, 'both are busy')
  clock.advance(5000)
  t.same(await Promise.all(busy), [undefined, undefined, undefined])
})

t.test('a gateway takes the pictures of clips that follow each other by one start of ffmpeg', async (t) => {
  const folder = t.testdir({ clips: {} })
  const [clips, program, starts] = [join(folder, 'clips'), join(folder, 'ffmpeg'), join(folder, 'starts')]
  writeFileSync(program, `#!/bin/sh\necho "$*" >>'${starts}'\nexec '${ffmpeg}' "$@"\n`, { mode: 0o755 })
  for (const id of [1, 2, 3]) await leaveSpool(clips, id, tapeOf(await footage('crossing')))
  const heard: FromCameras[] = []
  const thread = new CameraSet({
    ...{
      clock: systemClock,
      random: systemRandom,
      log: silentLogger(),
      readSecret: () => '',
      freeBytes: () => Infinity,
    },
    ...{ clipsFolder: clips, historyFolder: join(folder, 'history'), cellsFolder: join(folder, 'scores') },
    ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
    post: (message: FromCameras) => heard.push(message),
  })
  const until = (type: FromCameras['type']) => waitUntil(type, () => heard.some((one) => one.type === type))
  await until('leftoversDone')
  t.match(heard.filter(({ type }) => type === 'clipClosed').length, 3)
  t.match(readFileSync(starts, 'utf8').trim().split('\n'), [/framehash/], 'one start')
  const pictures = [1, 2, 3].map((id) => readFileSync(join(clips, `${id}.png`)))
  const alone = join(folder, 'alone.png')
  await takePicture(ffmpeg, join(clips, '1.mp4'), { atMs: 3000 }, alone)
  t.ok(
    pictures.every((png) => png.equals(readFileSync(alone))),
    'the key frame a second after the motion began',
  )
  thread.receive({ type: 'stop' })
  await until('stopped')
  await waitUntil('none is left', () => staying().length === 0)
})

const odd: readonly [what: string, name: FootageName, encode: readonly string[]][] = [
  ['with B-frames', 'counted-reordered', ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-g', '15']],
  [
    'of fields',
    'counted-gop-1',
    ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '0', '-g', '15', '-flags', '+ilme+ildct'],
  ],
  ['in H.265', 'counted-gop-1-hevc', ['-c', 'copy']],
  [
    'with four times the color',
    'counted-gop-1',
    ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '0', '-g', '15', '-pix_fmt', 'yuv444p'],
  ],
]
for (const [what, name, encode] of odd)
  t.test(`a picture ${what} is left to an ffmpeg of its own`, async (t) => {
    const clip = await clipOf(t.testdir(), name, encode)
    t.equal(await frameAt(clip, 0), undefined)
  })
