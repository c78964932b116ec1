import type { OpenedField } from './opened.ts'

/** A file that a leaf states by its hash; `path` is null when the file has left this box. */
export type ProvableFile = {
  readonly sha256: string
  readonly kind: 'photo' | 'clip' | 'snapshot'
  readonly contentType: string
  readonly sizeBytes: number
  /** File name in a package; two files of a leaf have different ones. */
  readonly name: string
  readonly path: string | null
}

/** A row that can be proved to a person who may see it: the place of its leaf, its openings, and its files. */
export type Provable = {
  /** Number of the log in this database. */
  readonly log: number
  /** Number of the leaf, from 1 on. */
  readonly seq: number
  readonly openings: readonly OpenedField[]
  readonly files: readonly ProvableFile[]
}
