import type { Json } from './canonical.ts'

/** The kinds of leaves. Kinds are added and never removed. */
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
  | 'log-key'
  | 'dispute-resolution'

/**
 * 1: a person is one commitment in all leaves. 2: each row has its own (see `People`). Besides that the two are the same, and both
 * stay valid: a leaf that was hashed yesterday must have the same hash tomorrow.
 */
export type LeafVersion = 1 | 2

/** The keys that every leaf has, next to the facts of its row. */
export type LeafHead = { v: LeafVersion; kind: LeafKind; logId: string; siteId: string; seq: number }

export type LeafFacts = { readonly eventId: string; readonly [key: string]: Json | undefined }

/** Returns a leaf before it is put into canonical form. */
export function leafOf(
  { v, kind, logId, siteId, seq }: LeafHead,
  facts: LeafFacts,
): {
  [key: string]: Json | undefined
} {
  return { ...facts, v, kind, logId, siteId, seq }
}
