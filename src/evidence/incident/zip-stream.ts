import { createHash } from 'node:crypto'
import { createReadStream, fstatSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import yazl from 'yazl'
import { errorCode } from '../../platform/faults.ts'
import { ownFile } from '../../platform/index.ts'

/** A file in the zip. */
export type ZippedFile = { readonly path: string; readonly sha256: string; readonly sizeBytes: number }

/**
 * Writes a zip one file at a time, as fast as its reader takes it; nothing but the file under way is in memory. When the reader
 * has gone, the file under way is closed and `add` rejects.
 */
export class ZipStream {
  readonly files: ZippedFile[] = []
  readonly #zip = new yazl.ZipFile()
  #current: Readable | undefined
  #isGone = false

  constructor() {
    const out = this.output
    out.once('close', () => {
      this.#isGone = true
      this.#current?.destroy(new Error('the reader of the package has gone'))
    })
    this.#zip.on('error', (error: Error) => out.destroy(error))
  }

  /** Returns the zip as a stream. */
  get output(): Readable {
    return this.#zip.outputStream as Readable
  }

  /** Adds a text. */
  addText(path: string, text: string): Promise<ZippedFile> {
    return this.#add(path, Readable.from([Buffer.from(text)]), true)
  }

  /** Adds a file of this box; undefined when it is not there. Its bytes are hashed on the way. */
  async addFile(path: string, file: string): Promise<ZippedFile | undefined> {
    const fd = openIfThere(file)
    // Video and pictures are compressed already.
    return fd === undefined ? undefined : this.#add(path, createReadStream('', { fd }), false)
  }

  /** Ends the zip. */
  end(): void {
    this.#zip.end()
  }

  /** Ends it in the middle, so that its reader notices. */
  fail(error: Error): void {
    this.output.destroy(error)
  }

  async #add(path: string, source: Readable, compress: boolean): Promise<ZippedFile> {
    if (this.#isGone) {
      source.destroy()
      throw new Error('the reader of the package has gone')
    }
    this.#current = source
    const hash = createHash('sha256')
    let sizeBytes = 0
    const hashed = source.map((piece: Buffer) => {
      hash.update(piece)
      sizeBytes += piece.length
      return piece
    })
    await new Promise<void>((resolve, reject) => {
      source.once('error', reject)
      source.once('close', () => (source.readableEnded ? undefined : reject(new Error('the file was not read whole'))))
      hashed.once('error', reject)
      hashed.once('end', resolve)
      this.#zip.addReadStreamLazy(path, { compress }, (take) => take(null, hashed))
    })
    const file = { path, sha256: hash.digest('hex'), sizeBytes }
    this.files.push(file)
    return file
  }
}

function openIfThere(file: string): number | undefined {
  try {
    const fd = openSync(file, ownFile.read)
    return fstatSync(fd).isFile() ? fd : undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Returns a stream as the body of an answer. When its reader goes away, the stream is destroyed, and its later events are dropped:
 * `Readable.toWeb` of Node 24 throws then, outside of any promise.
 */
export function bodyOf(stream: Readable): ReadableStream<Uint8Array> {
  const pieces = stream[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array)
      },
      cancel() {
        stream.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
