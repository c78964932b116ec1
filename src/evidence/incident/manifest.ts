import type { ZippedFile } from './zip-stream.ts'

/** A thing of the package, for its index. */
export type PackagedItem = {
  readonly kind: 'change' | 'event' | 'detection' | 'unit-step' | 'photo' | 'removal'
  readonly id: string
  readonly proof: string | null
  readonly files: readonly string[]
  readonly timestamp: string | null
  readonly words: string
}

/** Something that the package names and does not hold. */
export type Missing = {
  readonly path: string
  readonly sha256: string | null
  readonly why: string
  /** Path of the proof that it was removed, when the log states that. */
  readonly removal: string | null
}

/** Contents of `manifest.json`: everything in the package with its hash, and everything that is missing. */
export type Manifest = {
  readonly format: 'gatehouse-incident-package/1'
  readonly incident: number
  readonly madeAt: string
  readonly checkpoint: { readonly size: number; readonly rootHash: string }
  readonly from: string
  readonly to: string
  readonly items: readonly PackagedItem[]
  readonly references: readonly { readonly type: string; readonly id: string | null; readonly included: boolean }[]
  readonly missing: readonly Missing[]
  readonly files: readonly ZippedFile[]
}
