import { isoTime } from '../../platform/index.ts'

/**
 * Arrays in PostgreSQL's binary form. As text, which the driver makes of lists, each value is written, quoted, read and parsed
 * again. For both sides that is more work than all checks of a leaf.
 */

/** Type numbers of PostgreSQL (pg_type.oid). */
const oids = { bytea: 17, char: 18, int8: 20, int2: 21, int4: 23, text: 25, timestamptz: 1184 } as const

const headerBytes = 20
const lengthBytes = 4
/** PostgreSQL counts from here, in microseconds. */
const epochMs = Date.UTC(2000, 0, 1)

type Put = (space: Buffer, at: number, i: number) => void

/** Values of one width. */
function fixed(type: keyof typeof oids, count: number, width: number, put: Put): Buffer {
  const space = begun(type, count, false, count * (lengthBytes + width))
  for (let i = 0, at = headerBytes; i < count; i += 1, at += lengthBytes + width) {
    space.writeInt32BE(width, at)
    put(space, at + lengthBytes, i)
  }
  return space
}

/** The header: one dimension that begins at 1. An array without values has no dimension, and ends before it. */
function begun(type: keyof typeof oids, count: number, hasNull: boolean, bytes: number): Buffer {
  const space = Buffer.allocUnsafe(count === 0 ? 12 : headerBytes + bytes)
  space.writeInt32BE(count === 0 ? 0 : 1, 0)
  space.writeInt32BE(hasNull ? 1 : 0, 4)
  space.writeInt32BE(oids[type], 8)
  if (count === 0) return space
  space.writeInt32BE(count, 12)
  space.writeInt32BE(1, 16)
  return space
}

export const smallints = (values: readonly number[]): Buffer =>
  fixed('int2', values.length, 2, (space, at, i) => space.writeInt16BE(values[i] ?? 0, at))

export const integers = (values: readonly number[]): Buffer =>
  fixed('int4', values.length, 4, (space, at, i) => space.writeInt32BE(values[i] ?? 0, at))

/** Safe integers. */
export const bigints = (values: readonly number[]): Buffer =>
  fixed('int8', values.length, 8, (space, at, i) => {
    const value = values[i] ?? 0
    space.writeInt32BE(Math.floor(value / 2 ** 32), at)
    space.writeUInt32BE(value >>> 0, at + 4)
  })

/** Times in milliseconds since 1970, for `timestamptz[]`. */
export const moments = (values: readonly number[]): Buffer =>
  fixed('timestamptz', values.length, 8, (space, at, i) =>
    space.writeBigInt64BE(BigInt((values[i] ?? 0) - epochMs) * 1000n, at),
  )

/** Single characters of ASCII, for `"char"[]`. */
export const letters = (values: readonly string[]): Buffer =>
  fixed('char', values.length, 1, (space, at, i) => space.write(values[i] ?? ' ', at, 1, 'latin1'))

/** Texts in UTF-8; none has a zero character, which PostgreSQL refuses. */
export function texts(values: readonly string[]): Buffer {
  const lengths = values.map((value) => Buffer.byteLength(value))
  const space = begun('text', values.length, false, sumOf(lengths) + values.length * lengthBytes)
  let at = headerBytes
  for (const [i, value] of values.entries()) {
    const length = lengths[i] ?? 0
    space.writeInt32BE(length, at)
    space.write(value, at + lengthBytes, length, 'utf8')
    at += lengthBytes + length
  }
  return space
}

export function byteStrings(values: readonly (Uint8Array | null)[]): Buffer {
  const hasNull = values.includes(null)
  const bytes = sumOf(values.map((value) => value?.length ?? 0)) + values.length * lengthBytes
  const space = begun('bytea', values.length, hasNull, bytes)
  let at = headerBytes
  for (const value of values) {
    space.writeInt32BE(value ? value.length : -1, at)
    at += lengthBytes
    if (!value) continue
    space.set(value, at)
    at += value.length
  }
  return space
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** Returns one field of each row. */
export function column<T, K extends keyof T>(all: readonly T[], key: K): T[K][] {
  return all.map((one) => one[key])
}

/** Returns a time in milliseconds of each row as the driver takes it. */
export function times<K extends string>(all: readonly Readonly<Record<K, number>>[], key: K): string[] {
  return all.map((one) => isoTime(one[key]))
}
