/** Compares a clip's pictures by its header with ffmpeg's list of the same file. */
import { execFileSync } from 'node:child_process'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { probe, probeByFfmpeg, remuxByFfmpeg, remuxJpeg } from '../../src/video/clips/cutting.ts'
import { probeMp4 } from '../../src/video/format/mp4-file.ts'
import { shownByMp4 } from '../../src/video/format/mp4-shown.ts'
import type { Unit } from '../../src/video/format/transport-stream.ts'
import { type Footage, footage } from '../support/footage.ts'
import { needs } from '../support/needs.ts'
import { tapeOf } from '../support/taped-camera.ts'

// Footage is made at first use, and most of it is cut five times by each ffmpeg: a busy machine takes minutes.
t.setTimeout(900_000)

const system = locateFfmpeg().path
const programs = [...new Set([system, assetPath('ffmpeg')])]
/** One of each kind that has its own header: codec, key frames, order and distance of the pictures. */
const names = [
  ...['passer', 'passer-hevc', 'counted-uneven', 'counted-reordered', 'counted-mjpeg'],
  ...['counted-gop-1', 'counted-gop-10', 'counted-gop-1-hevc', 'counted-gop-10-hevc'],
  ...['counted-8mbit', 'counted-4k'],
] as Parameters<typeof footage>[0][]
/** Large pictures differ only in the numbers in the header, and take long to cut. */
const large = new Set(['counted-8mbit', 'counted-4k'])

/** With B-frames a raw stream does not say when its pictures are shown: it is encoded again. */
function unitsOf(name: string, clip: Footage) {
  if (name !== 'counted-reordered') return tapeOf(clip)
  const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '2', '-g', '15']
  return tapeOf(clip, encode)
}

/** Makes a clip of some of the pictures, of which the first `hiddenMs` are hidden. */
async function cut(
  folder: string,
  tape: ReturnType<typeof tapeOf>,
  units: readonly Unit[],
  program: string,
  hiddenMs: number,
) {
  const [spool, clip] = [join(folder, 'spool.ts'), join(folder, 'clip.mp4')]
  writeFileSync(spool, Buffer.concat([tape.tables, ...units.map(({ bytes }) => bytes)]))
  if (tape.codec === 'mjpeg') await remuxJpeg(program, spool, clip)
  else await remuxByFfmpeg(program, spool, clip, { hiddenMs, codec: tape.codec })
  return clip
}

for (const name of names) {
  t.test(
    `${name}: the header says what ffmpeg finds in the file, whole, cut short and with a gap`,
    name.endsWith('hevc') ? needs('ffmpeg with libx265') : {},
    async (t) => {
      const clip = await footage(name)
      const tape = unitsOf(name, clip)
      const { units } = tape
      const third = Math.floor(units.length / 3)
      for (const program of programs) {
        for (const [what, taken, hiddenMs] of [
          ['all of it', units, 0],
          ['its first part hidden', units, clip.durationMs / 3 - 1],
          ['cut short', units.slice(0, third), 100],
          ['with a gap', [...units.slice(0, third), ...units.slice(2 * third)], 0],
          ['few pictures', units.slice(0, 3), 0],
        ] as const) {
          if (large.has(name) && hiddenMs < 1000) continue
          const file = await cut(t.testdir(), tape, taken, program, hiddenMs)
          const byHeader = await probeMp4(file)
          t.ok(byHeader, `${what}: the header is understood`)
          for (const reader of programs) t.same(byHeader, await probeByFfmpeg(reader, file), `${name}, ${what}`)
        }
      }
    },
  )
}

/** The content of `moov` and the place of `mdat` in a finished clip. */
function partsOf(file: string) {
  const bytes = readFileSync(file)
  const at = (type: string) => bytes.indexOf(type, 0, 'latin1') - 4
  const end = (begin: number) => begin + bytes.readUInt32BE(begin)
  const [moov, mdat] = [at('moov'), at('mdat')]
  return { moov: bytes.subarray(moov + 8, end(moov)), mdat: { from: mdat + 8, to: end(mdat) } }
}

t.test('a header that says anything unusual, or more than is in the file, is left to ffmpeg', async (t) => {
  const tape = tapeOf(await footage('passer'))
  const file = await cut(t.testdir(), tape, tape.units, system, 500)
  const { moov, mdat } = partsOf(file)
  t.match(shownByMp4(moov, [mdat]), { width: 320, height: 180, codec: 'h264', firstMs: 0 })
  t.equal(shownByMp4(moov, [{ ...mdat, to: mdat.to - 1 }]), undefined, 'the last picture is not whole')
  t.equal(shownByMp4(moov, [{ ...mdat, from: mdat.from + 1 }]), undefined, 'the first one is not')
  t.equal(shownByMp4(moov, []), undefined)
  for (let length = 0; length < moov.indexOf('udta', 0, 'latin1') - 4; length += 1)
    if (shownByMp4(moov.subarray(0, length), [mdat]))
      t.fail(`a header of ${length} of ${moov.length} bytes is understood`)
  const changed = (find: string, into: string) => {
    const copy = Buffer.from(moov)
    copy.write(into, copy.indexOf(find, 0, 'latin1'), 'latin1')
    return shownByMp4(copy, [mdat])
  }
  const timeless = Buffer.from(moov)
  timeless.writeUInt32BE(0, timeless.indexOf('mdhd', 0, 'latin1') + 4 + 12)
  t.equal(shownByMp4(timeless, [mdat]), undefined, 'no ticks a second')
  for (const [find, into, why] of [
    ['avc1', 'mp4v', 'another codec'],
    ['vide', 'soun', 'sound'],
    ['elst', 'xxxx', 'another list of edits'],
    ['stss', 'xxxx', 'an unknown table'],
    ['udta', 'mvex', 'pictures behind the header'],
    ['udta', 'trak', 'another track'],
    ['stts', 'ctts', 'no times'],
  ] as const)
    t.equal(changed(find, into), undefined, why)
})

t.test('a clip without a header that can be read is read by ffmpeg, or refused', async (t) => {
  const tape = tapeOf(await footage('passer'))
  const folder = t.testdir()
  const file = await cut(folder, tape, tape.units, system, 0)
  const shown = await probe('no ffmpeg at all', file)
  const fragmented = join(folder, 'fragmented.mp4')
  const flags = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-y', fragmented]
  execFileSync(system, ['-nostdin', '-v', 'error', '-i', file, '-c', 'copy', ...flags])
  t.equal(await probeMp4(fragmented), undefined)
  t.equal((await probe(system, fragmented)).pictures, shown.pictures)
  truncateSync(file, 5000)
  t.equal(await probeMp4(file), undefined)
  writeFileSync(file, 'no clip')
  await t.rejects(probe(system, file), { name: 'CuttingError', isVerdict: true })
  await t.rejects(probe('no ffmpeg at all', file), { name: 'CuttingError', isVerdict: false })
})
