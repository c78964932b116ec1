import type { OpenedField, ProvableFile } from '../../log/index.ts'
import { bundleFormat, tlogProofFirstLine } from '../../proof/index.ts'

/** A proof bundle as it is sent and stored (`gatehouse-proof/1`). Times are RFC 3339, hashes hex unless base64 is named. */
export type ProofBundle = {
  readonly format: typeof bundleFormat
  /** base64 of the leaf's bytes */
  readonly leaf: string
  /** c2sp.org/tlog-proof: index, inclusion path, checkpoint */
  readonly tlogProof: string
  /** Verifier keys: of the log, then of the witnesses that cosigned. */
  readonly keys: readonly string[]
  readonly openings: readonly { field: string; commitment: string; salt: string; text: string }[]
  readonly media: readonly { sha256: string; kind: string; contentType: string; sizeBytes: number; name: string }[]
  readonly anchors: readonly Anchor[]
  /**
   * For a log whose keys were rotated: the proof of each `log-key` leaf, oldest first. Its checkpoint is signed by the keys before
   * and after it. So a reader with an earlier key is led to the key that signed this proof.
   */
  readonly handOvers?: readonly ProofBundle[]
}

/** Somebody outside who has seen the checkpoint, or one after it. */
export type Anchor =
  | { readonly kind: 'rfc3161'; readonly size: number; readonly rootHash: string; readonly token: string }
  | {
      readonly kind: 'webhook'
      readonly deliveryId: string
      readonly host: string
      readonly statusCode: number
      readonly at: string
    }

/** Formats an inclusion proof with its checkpoint (c2sp.org/tlog-proof). `index` counts from 0. */
export function tlogProof(index: number, path: readonly Buffer[], note: string): string {
  const hashes = path.map((hash) => `${hash.toString('base64')}\n`).join('')
  return `${tlogProofFirstLine}\nindex ${index}\n${hashes}\n${note}`
}

/** Puts a bundle together. */
export function makeBundle(parts: {
  readonly leaf: Buffer
  readonly tlogProof: string
  readonly keys: readonly string[]
  readonly openings: readonly OpenedField[]
  readonly files: readonly ProvableFile[]
  readonly anchors: readonly Anchor[]
  readonly handOvers?: readonly ProofBundle[]
}): ProofBundle {
  return {
    format: bundleFormat,
    leaf: parts.leaf.toString('base64'),
    tlogProof: parts.tlogProof,
    keys: parts.keys,
    openings: parts.openings.map(({ salt, ...opening }) => ({
      field: opening.field,
      commitment: opening.commitment,
      salt: salt.toString('base64'),
      text: opening.text,
    })),
    media: parts.files.map(({ sha256, kind, contentType, sizeBytes, name }) => ({
      sha256,
      kind,
      contentType,
      sizeBytes,
      name,
    })),
    anchors: parts.anchors,
    ...(parts.handOvers && parts.handOvers.length > 0 && { handOvers: parts.handOvers }),
  }
}
