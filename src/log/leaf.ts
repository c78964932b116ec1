import type { Json } from './canonical.ts'

/** What a leaf can state. Only ever added to. */
export type LeafKind =
  | 'placement'
  | 'detection'
  | 'unit-history'
  | 'incident-change'
  | 'report'
  | 'audit-digest'
  | 'camera-gap'
  | 'media-removed'
  | 'log-fork'

/**
 * 1: a person is one commitment in all leaves. 2: each row has its own (see `People`). Besides that the two are the
 * same, and both stay valid: what was hashed yesterday must hash the same tomorrow.
 */
export type LeafVersion = 1 | 2

/** The head that every leaf carries; the facts of its row stand beside these keys. */
export type LeafHead = { v: LeafVersion; kind: LeafKind; logId: string; siteId: string; seq: number }

export type LeafFacts = { readonly eventId: string; readonly [key: string]: Json | undefined }

/** A leaf, to be put into canonical form. */
export function leafOf(
  { v, kind, logId, siteId, seq }: LeafHead,
  facts: LeafFacts,
): {
  [key: string]: Json | undefined
} {
  return { ...facts, v, kind, logId, siteId, seq }
}
