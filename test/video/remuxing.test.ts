/** Compares clips made without ffmpeg with ffmpeg's clips of the same video. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { remux, remuxByFfmpeg } from '../../src/video/clips/cutting.ts'
import { remuxHere } from '../../src/video/clips/remuxing.ts'
import { probeMp4 } from '../../src/video/format/mp4-file.ts'
import { packetBytes, pictureOf, retimed, type Unit } from '../../src/video/format/transport-stream.ts'
import { countersIn } from '../support/footage/counter.ts'
import { type Footage, type FootageName, footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { tapeOf } from '../support/taped-camera.ts'

// Footage is made at first use, and a busy machine takes minutes.
t.setTimeout(900_000)

const system = locateFfmpeg().path
const noFfmpeg = join(import.meta.dirname, 'no-such-program')
const x265 = (params: string, ...more: string[]) => [
  ...['-c:v', 'libx265', '-preset', 'veryfast', '-x265-params', `keyint=30:${params}`, ...more],
]
const x264 = (...more: string[]) => ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '30', ...more]

const hevc = needs('ffmpeg with libx265')

type Tape = ReturnType<typeof tapeOf>

/** Writes a spool, and makes clips of it in both ways. */
async function both(folder: string, tape: Tape, units: readonly Unit[], hiddenMs: number, cutBytes = 0) {
  const [spool, here, there] = ['spool.ts', 'here.mp4', 'there.mp4'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const bytes = Buffer.concat([tape.tables, ...units.map((unit) => unit.bytes)])
  writeFileSync(spool, bytes.subarray(0, bytes.length - cutBytes))
  const isKnown = await remuxHere(spool, here, { hiddenMs, codec: tape.codec })
  await remuxByFfmpeg(system, spool, there, { hiddenMs, codec: tape.codec })
  return { spool, here, there, isKnown }
}

/**
 * Returns a reader's view of a file: parameters, and each picture with its times, size, checksum and flags. Leaves out the
 * durations, because that of the last picture is unknown. Pictures of H.265 have zeros at their end that ffmpeg takes from the
 * start code of the next.
 */
function listed(file: string, tape: Tape, program = system): string {
  const args = ['-nostdin', '-v', 'error', '-copyts', '-i', file, '-map', '0:v:0', '-c', 'copy', '-f', 'framecrc', '-']
  return withoutDurations(execFileSync(program, args, { encoding: 'utf8' }), tape)
}

const withoutDurations = (lines: string, { codec }: Tape) =>
  lines.replace(/^(0, *-?\d+, *-?\d+,) *\d+,( *\d+, 0x\w+)/gm, codec === 'hevc' ? '$1' : '$1$2')

/**
 * Returns of each file what `listed` returns, and the checksums of the pictures that a player shows. One ffmpeg reads all of
 * them, because its start takes longer than these clips do.
 */
function viewed(files: readonly string[], tape: Tape): { packets: string; pictures: string[] }[] {
  const inputs = files.flatMap((file) => ['-i', file])
  const outputs = files.flatMap((file, i) => [
    ...['-map', `${i}:v:0`, '-c', 'copy', '-f', 'framecrc', `${file}.packets`],
    ...['-map', `${i}:v:0`, '-vsync', 'passthrough', '-f', 'framecrc', `${file}.pictures`],
  ])
  execFileSync(system, ['-nostdin', '-v', 'error', '-y', '-copyts', ...inputs, ...outputs], { stdio: 'ignore' })
  return files.map((file) => ({
    packets: withoutDurations(readFileSync(`${file}.packets`, 'utf8'), tape),
    pictures: [...readFileSync(`${file}.pictures`, 'utf8').matchAll(/^0,.*(0x\w+)/gm)].map(([, sum = '']) => sum),
  }))
}

const kinds: readonly [FootageName, encode?: string[]][] = [
  ['passer'],
  ['passer-hevc'],
  ['counted-uneven'],
  ['counted-reordered', x264('-bf', '2')],
  ['counted-reordered', x264('-bf', '3', '-x264-params', 'b-pyramid=normal:open-gop=1')],
  ['counted-gop-1'],
  ['counted-gop-10'],
  ['counted-gop-1-hevc'],
  ['counted-gop-10-hevc'],
  ['counted-8mbit'],
  ['counted-4k'],
  // 15 pictures a second that become one.
  ['counted-gop-1', x264('-bf', '0', '-vf', 'select=lt(n\\,60)+not(mod(n\\,15))', '-vsync', 'vfr')],
  ['passer', x264('-bf', '0', '-profile:v', 'high', '-x264-params', 'slices=4')],
  ['passer', x264('-pix_fmt', 'yuv444p')],
  ['passer-hevc', x265('bframes=4:b-pyramid=1:ref=5:scaling-list=default:range=full:colorprim=bt709')],
  ['passer-hevc', x265('bframes=0:temporal-layers=1:hrd=1:vbv-maxrate=2000:vbv-bufsize=2000', '-vf', 'setsar=1')],
]

/** Large pictures differ only in the numbers. */
const large = new Set<string>(['counted-8mbit', 'counted-4k'])

for (const [name, encode] of kinds) {
  t.test(
    `${name} ${encode?.slice(6).join(' ') ?? ''}: a clip has what ffmpeg would copy, and no other byte`,
    // The bundled ffmpeg copies in another way.
    { ...needs('ffmpeg'), ...(name.includes('hevc') ? hevc : {}) },
    async (t) => {
      const clip = await footage(name)
      const tape = tapeOf(clip, encode)
      const { units } = tape
      for (const [what, taken, hiddenMs, cutBytes] of [
        ['all of it', units, 0, 0],
        ['its first part hidden', units, clip.durationMs / 3 - 1, 0],
        ['ended in the middle of a packet', units.slice(0, Math.floor(units.length / 2)), 100, packetBytes + 77],
        ['one picture', units.slice(0, 1), 0, 0],
      ] as const) {
        if (large.has(name) && hiddenMs < 1000) continue
        const { here, there, isKnown } = await both(t.testdir(), tape, taken, hiddenMs, cutBytes)
        t.ok(isKnown, `${what}: ffmpeg is not needed`)
        const [ours, ffmpegs] = viewed([here, there], tape)
        t.equal(ours?.packets, ffmpegs?.packets, what)
        const bundled = assetPath('ffmpeg')
        if (bundled !== system) t.equal(listed(here, tape, bundled), listed(there, tape, bundled), what)
        // Decoders differ in how they complete a partial picture.
        const whole = cutBytes > 0 ? -1 : undefined
        t.same(ours?.pictures.slice(0, whole), ffmpegs?.pictures.slice(0, whole), `${what}, decoded`)
        const shown = await probeMp4(here)
        t.ok(shown, 'its header is one that is known')
        t.same(shown, await probeMp4(there))
        const bytes = readFileSync(here)
        t.ok(
          bytes.indexOf('moov', 0, 'latin1') < bytes.indexOf('mdat', 0, 'latin1'),
          'it can be played while it is read',
        )
        t.ok(bytes.length < readFileSync(there).length + 5000 + 24 * taken.length, 'little of it is room')
      }
    },
  )
}

t.test('the clock of a stream that begins anew after 26 hours, and a silence, keep their times', async (t) => {
  const clip = await footage('counted-gop-1')
  const tape = tapeOf(clip)
  const wrapMs = 2 ** 33 / 90
  const turned = tape.units.map((unit) => retimed(unit, unit.ptsMs + wrapMs - 5000))
  const one = await both(t.testdir(), tape, turned, 0)
  t.ok(one.isKnown)
  t.equal(listed(one.here, tape), listed(one.there, tape))
  const silent = tape.units.map((unit, i) => (i < 60 ? unit : retimed(unit, unit.ptsMs + 12_000)))
  const other = await both(t.testdir(), tape, silent, 0)
  const shown = await probeMp4(other.here)
  t.ok(Math.abs((shown?.longestGapMs ?? 0) - 12_067) < 2, 'ffmpeg alone leaves out more than ten seconds')
})

/** Gives the packets of the pictures numbers that follow each other. */
function joined(units: readonly Unit[]): Unit[] {
  let counter = 0
  const pid = units[0]?.bytes.readUInt16BE(1) ?? 0
  return units.map((unit) => {
    const bytes = Buffer.from(unit.bytes)
    for (let at = 0; at < bytes.length; at += packetBytes) {
      const fourth = bytes.readUInt8(at + 3)
      if ((bytes.readUInt16BE(at + 1) & 0x1fff) !== (pid & 0x1fff) || (fourth & 0x10) === 0) continue
      bytes.writeUInt8((fourth & 0xf0) | counter, at + 3)
      counter = (counter + 1) & 0x0f
    }
    return { ...unit, bytes }
  })
}

/** The same footage, with so many more parameter sets before its first picture, each of other bytes. */
function withSets(folder: string, clip: Footage, count: number): Tape {
  const bytes = readFileSync(clip.file)
  const begin = bytes.indexOf(Buffer.from([0, 0, 1, 0x67]))
  const set = bytes.subarray(begin, bytes.indexOf(Buffer.from([0, 0, 1]), begin + 4))
  const more = Array.from({ length: count }, (_, i) => Buffer.from([...set, 1 + (i >> 7), 0x80 | (i & 0x7f)]))
  const file = join(folder, 'more-sets.h264')
  writeFileSync(file, Buffer.concat([...more, bytes]))
  return tapeOf({ ...clip, file })
}

/** Leaves pictures out, and as many more until their packets show it: those of a stream are counted up to 16. */
function withHole(units: readonly Unit[], from: number, to: number): Unit[] {
  const [before, after] = [units[from - 1], units[to]]
  if (!before || !after) throw new Error('there are no pictures on both sides of the hole')
  const room = Buffer.alloc(before.bytes.length + after.bytes.length)
  if (pictureOf(after, room, pictureOf(before, room)?.counter)) return withHole(units, from, to + 1)
  return [...units.slice(0, from), ...units.slice(to)]
}

t.test('what is not known here is left to ffmpeg, and nothing is lost', async (t) => {
  const clip = await footage('passer')
  const tape = tapeOf(clip)
  const { units } = tape
  const third = Math.floor(units.length / 3)
  const later = (more: readonly Unit[]) => more.map((unit) => retimed(unit, unit.ptsMs + clip.durationMs))
  const larger = tapeOf(clip, x264('-bf', '0', '-vf', 'scale=640:360'))
  const noPicture = (unit: Unit) => ({ ...unit, bytes: Buffer.from(unit.bytes) })
  const broken = units.map(noPicture)
  broken[5]?.bytes.writeUInt8(0x80 | (broken[5]?.bytes.readUInt8(1) ?? 0), 1)
  const strange: readonly [string, Tape, readonly Unit[]][] = [
    ['a hole', tape, withHole(units, third, 2 * third)],
    ['another size in the middle', tape, joined([...units, ...later(larger.units)])],
    ['a time that runs back', tape, units.map((unit, i) => (i < third ? unit : retimed(unit, unit.ptsMs - 1000)))],
    ['no key frame at the beginning', tape, units.slice(1)],
    ['a packet that is marked as damaged', tape, broken],
    ['fields', tapeOf(clip, x264('-flags', '+ilme+ildct', '-x264-params', 'tff=1')), []],
    ['more parameter sets than a header counts', withSets(t.testdir(), clip, 31), []],
    ['pixels that are not square', tapeOf(clip, x264('-vf', 'setsar=4/3')), []],
  ]
  for (const [what, of, pictures] of strange) {
    const folder = t.testdir()
    const { spool, there, isKnown } = await both(folder, of, pictures.length > 0 ? pictures : of.units, 0)
    t.equal(isKnown, false, what)
    const clipFile = join(folder, 'clip.mp4')
    await remux(system, spool, clipFile, { hiddenMs: 0, codec: of.codec })
    t.ok(readFileSync(clipFile).equals(readFileSync(there)), `${what}: it is the clip of ffmpeg`)
    await t.rejects(remux(noFfmpeg, spool, join(folder, 'other.mp4'), { hiddenMs: 0, codec: of.codec }))
    t.notOk(existsSync(join(folder, 'other.mp4.part')), 'and nothing unfinished is left')
  }
})

t.test('fields of H.265, and its pixels that are not square, are left to ffmpeg', hevc, async (t) => {
  const clip = await footage('passer-hevc')
  for (const [what, encode] of [
    ['fields', x265('interlace=tff')],
    ['pixels of 4:3', x265('bframes=4:scaling-list=default', '-vf', 'setsar=4/3')],
    [
      'pixels of any shape',
      x265('bframes=0:temporal-layers=1:hrd=1:vbv-maxrate=2000:vbv-bufsize=2000', '-vf', 'setsar=100/99'),
    ],
    ['pixels of a shape that was set later', ['-c', 'copy', '-bsf:v', 'hevc_metadata=sample_aspect_ratio=12/11']],
  ] as const) {
    const folder = t.testdir()
    const tape = tapeOf(clip, encode)
    const { spool, there, isKnown } = await both(folder, tape, tape.units, 0)
    t.equal(isKnown, false, what)
    await remux(system, spool, join(folder, 'clip.mp4'), { hiddenMs: 0, codec: tape.codec })
    t.ok(readFileSync(join(folder, 'clip.mp4')).equals(readFileSync(there)), `${what}: it is the clip of ffmpeg`)
  }
})

t.test('a spool without a picture is no clip', async (t) => {
  const tape = tapeOf(await footage('passer'))
  for (const bytes of [Buffer.alloc(0), tape.tables, Buffer.from('no video')]) {
    const spool = join(t.testdir(), 'spool.ts')
    writeFileSync(spool, bytes)
    t.equal(await remuxHere(spool, `${spool}.mp4`, { hiddenMs: 0, codec: 'h264' }), false)
    t.equal(await remuxHere(spool, `${spool}.mp4`, { hiddenMs: 0, codec: 'other' }), false)
  }
})

for (const name of ['counted-gop-1', 'counted-gop-10', 'counted-gop-1-hevc', 'counted-gop-10-hevc'] as const) {
  t.test(
    `${name}: whatever is hidden, the next picture is the first one to be seen`,
    name.includes('hevc') ? hevc : {},
    async (t) => {
      const clip = await footage(name)
      const tape = tapeOf(clip)
      for (const picture of [0, 1, 7, 22, 148]) {
        const hiddenMs = Math.max(0, (picture * 1000) / clip.fps - 1)
        const { here } = await both(t.testdir(), tape, tape.units, hiddenMs)
        const counters = await countersIn(here, system)
        t.equal(counters[0], picture, `${hiddenMs} ms are hidden`)
        t.equal(counters.length, tape.units.length - picture)
      }
    },
  )
}

t.test('cameras wait at most 15 ms while a clip of 8 Mb/s is made', async (t) => {
  const clip = await footage('counted-8mbit')
  const tape = tapeOf(clip)
  const rounds = [0, 1, 2].flatMap((round) =>
    tape.units.map((unit) => retimed(unit, unit.ptsMs + round * clip.durationMs)),
  )
  const spool = join(t.testdir(), 'spool.ts')
  writeFileSync(spool, Buffer.concat([tape.tables, ...joined(rounds).map(({ bytes }) => bytes)]))
  let [longestMs, isOver] = [0, false]
  let before = process.threadCpuUsage()
  // By the processor time of this thread: on a busy machine it waits for others too.
  const turn = () => {
    const now = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000)
    before = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  t.ok(await remuxHere(spool, `${spool}.mp4`, { hiddenMs: 4000, codec: 'h264' }))
  isOver = true
  t.ok(longestMs < 15, `${longestMs} ms in one turn`)
})
