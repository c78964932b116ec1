import type { Bytes } from './bytes.ts'

/** A member of a tar file: where its bytes begin, and how many there are. */
export type TarMember = { readonly name: string; readonly at: number; readonly sizeBytes: number }

/** Fault that `readMembers` found, as a sentence for the admin. */
export class TarFault extends Error {}

const blockBytes = 512
const longestName = 100
/** The largest size that fits into eleven octal digits; larger ones are written in base 256, as GNU tar does. */
const largestOctal = 8 ** 11 - 1
/** A backup has a member for each file; more are not read into memory. */
const mostMembers = 2_000_000

/** Returns the header of a regular file (POSIX ustar, mode 0600). Throws when the name is longer than 100 bytes. */
export function tarHeader(name: string, sizeBytes: number, modifiedAtMs: number): Buffer {
  if (Buffer.byteLength(name) > longestName) throw new Error(`${name} is too long for a name in a tar file`)
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0)
  block.write(octal(0o600, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  writeSize(block, sizeBytes)
  block.write(octal(Math.floor(modifiedAtMs / 1000), 11), 136)
  block.write('0', 156)
  block.write('ustar\u000000', 257, 'latin1')
  block.write(octal(sumOf(block), 6), 148)
  block[154] = 0
  block[155] = 0x20
  return block
}

/** Returns the zeros that fill the last block of a member. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes)
}

/** Two empty blocks end the file. */
export const tarEnd = Buffer.alloc(2 * blockBytes)

/** Returns how many bytes a member takes, with header and padding. */
export function tarredBytes(sizeBytes: number): number {
  return blockBytes + Math.ceil(sizeBytes / blockBytes) * blockBytes
}

/**
 * Reads the headers of a tar file and nothing else. Only what `tarHeader` writes is taken: regular files with plain names;
 * links, folders, devices, sparse files and extensions are refused. Throws TarFault.
 */
export function readMembers(file: Bytes): TarMember[] {
  const members: TarMember[] = []
  const names = new Set<string>()
  for (let at = 0; ; ) {
    if (at + blockBytes > file.sizeBytes) throw new TarFault(`it ends in the middle, after ${file.sizeBytes} bytes`)
    const block = file.read(at, blockBytes)
    if (block.every((byte) => byte === 0)) return members
    const { name, sizeBytes } = readHeader(block, at)
    const next = at + tarredBytes(sizeBytes)
    if (next > file.sizeBytes) throw new TarFault(`it ends in the middle of ${name}, after ${file.sizeBytes} bytes`)
    if (names.has(name)) throw new TarFault(`it has ${name} twice`)
    if (members.length >= mostMembers) throw new TarFault(`it has more than ${mostMembers} files`)
    names.add(name)
    members.push({ name, at: at + blockBytes, sizeBytes })
    at = next
  }
}

function readHeader(block: Buffer, at: number): { name: string; sizeBytes: number } {
  const sum = Number.parseInt(block.toString('latin1', 148, 154), 8)
  if (block.toString('latin1', 257, 262) !== 'ustar' || sum !== sumOf(block)) {
    throw new TarFault(at === 0 ? 'it is no tar file' : `the header at byte ${at} is damaged`)
  }
  const name = cString(block.subarray(0, longestName))
  const type = String.fromCharCode(block[156] ?? 0)
  if (type !== '0') throw new TarFault(`${JSON.stringify(name)} is not a plain file (type ${JSON.stringify(type)})`)
  if (block[345] !== 0) throw new TarFault(`${JSON.stringify(name)} has a name in two parts`)
  const sizeBytes = readSize(block)
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new TarFault(`${JSON.stringify(name)} has no valid size`)
  return { name, sizeBytes }
}

/** Returns the sum of the bytes of a header, in which its own field counts as blanks. */
function sumOf(block: Buffer): number {
  let sum = 8 * 0x20
  for (const [n, byte] of block.entries()) if (n < 148 || n >= 156) sum += byte
  return sum
}

function writeSize(block: Buffer, sizeBytes: number): void {
  if (sizeBytes <= largestOctal) {
    block.write(octal(sizeBytes, 11), 124)
    return
  }
  block[124] = 0x80
  block.writeBigUInt64BE(BigInt(sizeBytes), 128)
}

function readSize(block: Buffer): number {
  const first = block[124] ?? 0
  if (first === 0x80) return Number(block.readBigUInt64BE(128))
  const digits = block.toString('latin1', 124, 135)
  return /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')

function cString(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end)
}
