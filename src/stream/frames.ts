import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { RandomBytes } from '../platform/index.ts'

/** Kinds of messages to a client. `hello` is about the stream itself. */
export const kinds = ['hello', 'floor', 'event', 'camera', 'alert', 'health', 'unit', 'incident'] as const
export type Kind = (typeof kinds)[number]

const algorithm = 'aes-128-ecb'
const placeBytes = 6
const checkBytes = 4

/**
 * Makes the ids of a stream: places in the order of all changes, sealed under a key of this process. Two ids of one place
 * differ, so that a client cannot count what it was not sent.
 */
export class PlaceIds {
  readonly #random: RandomBytes
  readonly #key: Buffer

  constructor(random: RandomBytes) {
    this.#random = random
    this.#key = random(16)
  }

  seal(place: number): string {
    const block = Buffer.concat([Buffer.alloc(checkBytes + placeBytes), this.#random(16 - checkBytes - placeBytes)])
    block.writeUIntBE(place, checkBytes, placeBytes)
    const cipher = createCipheriv(algorithm, this.#key, null).setAutoPadding(false)
    return cipher.update(block).toString('base64url')
  }

  /** Returns the place of an id; undefined when this process did not make it. */
  open(id: string): number | undefined {
    const block = Buffer.from(id, 'base64url')
    if (block.length !== 16) return undefined
    const opened = createDecipheriv(algorithm, this.#key, null).setAutoPadding(false).update(block)
    return opened.readUIntBE(0, checkBytes) === 0 ? opened.readUIntBE(checkBytes, placeBytes) : undefined
  }
}

/** Returns one message as bytes. JSON has no line break, so `data` is one line. */
export const frame = (kind: Kind, id: string, data: unknown): Buffer =>
  Buffer.from(`event: ${kind}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)

/** Returns bytes that keep a connection open and move the client's place on; browsers dispatch nothing for it. */
export const heartbeat = (id: string): Buffer => Buffer.from(`id: ${id}\n\n`)

/** Asks a browser to connect again after this many milliseconds. */
export const retryLine = (ms: number): Buffer => Buffer.from(`retry: ${ms}\n\n`)
