import { createHash } from 'node:crypto'
import type { Body } from './dav/dav.ts'
import { bodyOfBytes } from './local-file.ts'

/** One file to upload. The `path` begins with a slash and includes the root. */
export type Job = {
  readonly path: string
  /** On this box. */
  readonly file: string
  readonly sha256: string
  readonly sizeBytes: number
  /** JSON to store beside it. */
  readonly about: string | null
  readonly urgent: boolean
}

/** A larger file goes to a Nextcloud in parts of this size, so that a cut costs one part. Not below 5 MB there. */
export const partBytes = 5 * 1024 * 1024

export type Sendable = Pick<Job, 'path' | 'sha256' | 'sizeBytes' | 'urgent'> & {
  readonly body: (from?: number, to?: number) => Body
  /** Its hash as it is on this box now. */
  readonly hashNow: () => Promise<string>
}

export function inMemory(path: string, bytes: Buffer, urgent: boolean): Sendable {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = (from = 0, to = bytes.length) => bodyOfBytes(bytes.subarray(from, to))
  return { path, sha256, sizeBytes: bytes.length, urgent, body, hashNow: async () => sha256 }
}

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** The name follows from the file: after a kill the next start finds the parts that have arrived. */
export const partsName = ({ path, sha256 }: Sendable): string =>
  `gatehouse-${createHash('sha256').update(`${path}\n${sha256}`).digest('hex').slice(0, 40)}`

/** Begins with a dot, and is the same for each attempt: what a cut left is replaced, and does not add up. */
export function partPath({ path, sha256 }: Sendable): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return `${folderOf(path)}/.${name}.${sha256.slice(0, 16)}.part`
}

/** Says whether a name is that of `partPath` for a part of a clip or the JSON beside it. */
export const isCutOff = (name: string): boolean => /^\.\d{5}\.(ts|json)\.[0-9a-f]{16}\.part$/.test(name)

/** The parts of a file in their order: `00001`, from the first byte to the last, which is excluded. */
export function partsOf(sizeBytes: number): { name: string; from: number; to: number }[] {
  return Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, i) => ({
    name: String(i + 1).padStart(5, '0'),
    from: i * partBytes,
    to: Math.min((i + 1) * partBytes, sizeBytes),
  }))
}
