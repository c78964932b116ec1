import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ownFile } from '../platform/index.ts'

/** Bytes that can be read at any place, without all of them in memory. */
export type Bytes = {
  readonly length: number
  /** `count` bytes from `offset`; fewer where the end comes before. Valid until the next call. */
  at(offset: number, count: number): Buffer
}

const windowBytes = 64 * 1024

/** The bytes of a file, through a window of 64 KiB. Throws the errno error of the failing step; follows no link. */
export class FileBytes implements Bytes {
  readonly length: number
  readonly #fd: number
  #window: Buffer = Buffer.alloc(windowBytes)
  #start = 0
  #end = 0

  constructor(path: string) {
    this.#fd = openSync(path, ownFile.read)
    this.length = fstatSync(this.#fd).size
  }

  at(offset: number, count: number): Buffer {
    const end = Math.min(offset + count, this.length)
    if (offset >= end) return Buffer.alloc(0)
    if (offset < this.#start || end > this.#end) this.#move(offset, end - offset)
    return this.#window.subarray(offset - this.#start, Math.min(end, this.#end) - this.#start)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #move(offset: number, count: number): void {
    if (count > this.#window.length) this.#window = Buffer.alloc(count)
    this.#start = offset
    this.#end = offset + readSync(this.#fd, this.#window, 0, this.#window.length, offset)
  }
}
