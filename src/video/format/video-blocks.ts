/**
 * Memory for received video. A camera fills megabytes a minute. If they were allocated each time, the garbage collector would work
 * longer than all code that reads them. So a block is filled again when its pictures are not needed any more.
 */

const blockBytes = 256 * 1024
/** A ring gives up a group of pictures at once, and needs its memory until the next one has come. */
const mostSpareBytes = 8 * 1024 * 1024

/** Number of users of each block. A block that is never given back goes to the garbage collector and is not filled again. */
const users = new WeakMap<ArrayBufferLike, number>()
/** Free blocks, shared by all rings. */
const spare: Buffer[] = []
let spareBytes = 0

/** Returns a block of at least this size, with anything in it. It is the caller's until it is given back. */
export function takeBlock(leastBytes: number): Buffer {
  const at = spare.findIndex(({ length }) => length >= leastBytes)
  const [found] = at < 0 ? [] : spare.splice(at, 1)
  const block = found ?? Buffer.allocUnsafeSlow(Math.ceil(leastBytes / blockBytes) * blockBytes)
  if (found) spareBytes -= found.length
  users.set(block.buffer, 1)
  return block
}

/** Has bytes kept until they are given back. Without it they are the ring's: valid until it gives up their picture. */
export function keep(bytes: Buffer): void {
  const count = users.get(bytes.buffer)
  if (count !== undefined) users.set(bytes.buffer, count + 1)
}

/** Gives back a block, or bytes that were kept: exactly once. Bytes that are in no block are left alone. */
export function giveBack({ buffer }: Buffer): void {
  const count = users.get(buffer)
  if (count === undefined) return
  users.set(buffer, count - 1)
  if (count > 1) return
  users.delete(buffer)
  if (spareBytes + buffer.byteLength > mostSpareBytes) return
  spare.push(Buffer.from(buffer))
  spareBytes += buffer.byteLength
}
