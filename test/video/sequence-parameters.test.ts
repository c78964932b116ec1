/** Parameter sets of H.265 with everything that a camera may put before the wanted fields, by ITU-T H.265, 7.3.2.2 and E.2.1. */
import t from 'tap'
import { sequenceFacts } from '../../src/video/format/sequence-parameters.ts'

/** Bits, as they are written in a parameter set. */
class Writer {
  #bits = ''

  /** A number of so many bits. */
  u(count: number, value: number): this {
    this.#bits += value.toString(2).padStart(count, '0')
    return this
  }

  /** Exp-Golomb numbers (9.2). */
  ue(...values: readonly number[]): this {
    for (const value of values) {
      const binary = (value + 1).toString(2)
      this.#bits += '0'.repeat(binary.length - 1) + binary
    }
    return this
  }

  /** As a NAL unit: with its header, and bytes that keep start codes away. */
  nal(): Buffer {
    const whole = `${this.#bits}1`.padEnd(Math.ceil((this.#bits.length + 1) / 8) * 8, '0')
    const bytes = (whole.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
    const safe: number[] = [0x42, 0x01]
    for (const byte of bytes) {
      if (byte <= 3 && safe.at(-1) === 0 && safe.at(-2) === 0) safe.push(3)
      safe.push(byte)
    }
    return Buffer.from(safe)
  }
}

type Source = { readonly isProgressive?: boolean; readonly isInterlaced?: boolean; readonly subLayers?: number }

/** From the beginning to the depths of the pixels: 640×360, 4:2:0, cropped from 640×368. */
function beginning({ isProgressive = true, isInterlaced = false, subLayers = 0 }: Source = {}): Writer {
  const writer = new Writer().u(4, 0).u(3, subLayers).u(1, 1).u(8, 1).u(32, 0x60000000)
  writer.u(1, Number(isProgressive)).u(1, Number(isInterlaced)).u(46, 0).u(8, 93)
  for (let i = 0; i < subLayers; i += 1) writer.u(2, 0b11)
  if (subLayers > 0) writer.u(2 * (8 - subLayers), 0)
  for (let i = 0; i < subLayers; i += 1) writer.u(44, 0).u(44, 0).u(8, 60)
  return writer.ue(0, 1, 640, 368).u(1, 1).ue(0, 0, 0, 4).ue(0, 0)
}

/** Sizes of blocks and all tools, as a camera has them that uses none. */
const simple = (writer: Writer) =>
  writer.ue(4).u(1, 1).ue(1, 0, 0).ue(0, 2, 0, 2, 1, 1).u(1, 0).u(2, 0).u(1, 0).ue(0).u(1, 0).u(2, 0)

/** All that may be there: scaling lists, PCM, sets of reference pictures that say each other, long-term ones. */
function everything(writer: Writer, subLayers: number): Writer {
  writer.ue(4).u(1, 1)
  for (let i = 0; i <= subLayers; i += 1) writer.ue(4, 2, 5)
  writer.ue(0, 2, 0, 2, 1, 1).u(1, 1).u(1, 1)
  for (let size = 0; size < 4; size += 1)
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (matrix === 0) writer.u(1, 0).ue(0)
      else writer.u(1, 1).ue(...Array.from({ length: (size > 1 ? 1 : 0) + (size === 0 ? 16 : 64) }, (_, i) => i % 5))
    }
  writer.u(2, 0b11).u(1, 1).u(8, 0x77).ue(0, 1).u(1, 1)
  writer.ue(3)
  // -1 and -4 before, +2 after.
  writer.ue(2, 1).ue(0).u(1, 1).ue(2).u(1, 1).ue(1).u(1, 1)
  // Each of them +1, and +1 itself: 0 is none, -3 is left out, +3 and +1 are used.
  writer.u(1, 1).u(1, 0).ue(0).u(1, 1).u(2, 0b00).u(1, 1).u(2, 0b01)
  // With these two and the step: -2.
  writer.u(1, 1).u(1, 1).ue(1).u(1, 1).u(1, 1).u(2, 0b01)
  return writer.u(1, 1).ue(2).u(8, 17).u(1, 1).u(8, 200).u(1, 0).u(2, 0b11)
}

/** vui_parameters up to field_seq_flag, with the signal and the location of color. */
const vui = (writer: Writer, shape: readonly number[] | undefined, isFields = false) => {
  writer.u(1, 1)
  if (!shape) writer.u(1, 0)
  else writer.u(1, 1).u(8, shape[0] ?? 0)
  for (const side of shape?.slice(1) ?? []) writer.u(16, side)
  return writer
    .u(2, 0b11)
    .u(1, 1)
    .u(4, 5 << 1)
    .u(1, 1)
    .u(24, 0x010101)
    .u(1, 1)
    .ue(0, 0)
    .u(1, 0)
    .u(1, Number(isFields))
    .u(8, 0)
}

t.test('fields and the shape of a pixel are read behind all that a parameter set may have before them', async (t) => {
  for (const subLayers of [0, 2])
    for (const [what, rest] of [
      ['simple', simple],
      ['everything', (writer: Writer) => everything(writer, subLayers)],
    ] as const) {
      const begun = (source: Source = {}) => rest(beginning({ subLayers, ...source }))
      if (what === 'simple' && subLayers > 0) continue
      for (const [says, writer, isPlain] of [
        ['nothing', begun().u(1, 0), true],
        ['an interlaced source', begun({ isProgressive: false, isInterlaced: true }).u(1, 0), false],
        ['a source of both kinds', begun({ isInterlaced: true }).u(1, 0), true],
        ['no shape', vui(begun(), undefined), true],
        ['square pixels', vui(begun(), [1]), true],
        ['pixels of 12:11', vui(begun(), [2]), false],
        ['pixels of any shape', vui(begun(), [255, 4, 3]), false],
        ['fields', vui(begun(), [1], true), false],
      ] as const) {
        const facts = sequenceFacts(writer.nal(), 'hevc')
        t.same(facts, { width: 640, height: 360, chroma: 1, lumaBits: 8, chromaBits: 8, isPlain }, `${what}: ${says}`)
      }
    }
})

t.test('of a parameter set that is cut off behind the size, the size is known, and it is not plain', async (t) => {
  const nal = everything(beginning(), 0).u(1, 0).nal()
  t.match(sequenceFacts(nal.subarray(0, 50), 'hevc'), { width: 640, height: 360, isPlain: false })
})
