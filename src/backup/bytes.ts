import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** A file of known length that is read at any place. */
export type Bytes = {
  readonly sizeBytes: number
  /** Returns exactly `length` bytes. Throws when the file has become shorter. */
  read(at: number, length: number): Buffer
}

/** Opens a regular file for reading, works on it and closes it. Throws the errno error. */
export function withBytes<T>(path: string, work: (bytes: Bytes) => T): T {
  // A pipe would otherwise wait for somebody who writes.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(fd)
    if (!found.isFile()) throw new Error(`${path} is not a file`)
    return work({
      sizeBytes: found.size,
      read(at, length) {
        const bytes = Buffer.alloc(length)
        for (let got = 0; got < length; ) {
          const read = readSync(fd, bytes, got, length - got, at + got)
          if (read === 0) throw new Error(`${path} ends after ${at + got} bytes, while it is read`)
          got += read
        }
        return bytes
      },
    })
  } finally {
    closeSync(fd)
  }
}
