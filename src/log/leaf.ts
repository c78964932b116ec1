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

/** The head that every leaf carries; the facts of its row stand beside these keys. */
export type LeafHead = { kind: LeafKind; logId: string; siteId: string; seq: number }

export type LeafFacts = { readonly eventId: string; readonly [key: string]: Json | undefined }

/** Version 1 of a leaf. Never changes: what was hashed yesterday must hash the same tomorrow. */
export function leafV1(head: LeafHead, facts: LeafFacts): { [key: string]: Json | undefined } {
  return { ...facts, v: 1, kind: head.kind, logId: head.logId, siteId: head.siteId, seq: head.seq }
}
