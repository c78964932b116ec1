import { createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { SealedFileFault } from './pieces.ts'

/** A file of this format has this and the mark of its key in a line, 12 bytes of nonce, the sealed bytes, 16 bytes of tag. */
const format = 'gatehouse-sealed/1'
const nonceBytes = 12
const tagBytes = 16
/** A file is written with at most about 16 MiB inside; a larger one is not ours. */
const largestPlainBytes = 512 * 1024 * 1024

/** Says whether a file begins as one of this format, of whatever version. */
export function isOlderSegment(file: Uint8Array): boolean {
  const begin = format.slice(0, format.indexOf('/') + 1)
  return Buffer.from(file.subarray(0, begin.length)).toString('latin1') === begin
}

/** Opens `gatehouse-sealed/1`: zstd, then AES-256-GCM. */
export class OlderSeal {
  readonly #mark: string
  readonly #key: Buffer

  constructor(recoveryKey: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', recoveryKey, '', 'gatehouse-sealed/1', 32))
    this.#mark = hash('sha256', Buffer.concat([this.#key, Buffer.from('mark')])).slice(0, 16)
  }

  /** Returns what was sealed under this name. Throws SealedFileFault. */
  open(file: Uint8Array, name: string): Buffer {
    const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
    const begin = this.#firstLine.length
    const head = bytes.subarray(0, begin).toString('latin1')
    if (head !== this.#firstLine.toString('latin1')) throw new SealedFileFault(strangeHead(head, this.#mark))
    if (bytes.length < begin + nonceBytes + tagBytes) throw new SealedFileFault(`is cut after ${bytes.length} bytes`)
    const sealed = bytes.subarray(begin + nonceBytes, -tagBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(begin, begin + nonceBytes))
    decipher.setAAD(this.#boundTo(name)).setAuthTag(bytes.subarray(-tagBytes))
    let plain: Buffer
    try {
      plain = Buffer.concat([decipher.update(sealed), decipher.final()])
    } catch {
      throw new SealedFileFault('does not open: it was cut, changed or renamed')
    }
    return zstdDecompressSync(plain, { maxOutputLength: largestPlainBytes })
  }

  get #firstLine(): Buffer {
    return Buffer.from(`${format} ${this.#mark}\n`)
  }

  #boundTo(name: string): Buffer {
    return Buffer.concat([this.#firstLine, Buffer.from(name)])
  }
}

function strangeHead(head: string, mark: string): string {
  const [, version, other] = /^gatehouse-sealed\/(\d+) ([0-9a-f]{16})\n/.exec(head) ?? []
  if (version === undefined) return 'is no sealed file of gatehouse, or it is cut'
  if (version !== '1') return `has format ${version}, which a newer gatehouse wrote; restore it with that one`
  return `was sealed under another recovery key: its mark is ${other}, and that of this key ${mark}`
}
