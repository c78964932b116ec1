import { blob, builderOver, type Column, defaulted, integer, maybe, type RowOf, text, word } from '../database/index.ts'

/** Columns that a row has from its leaf. */
export const stated = {
  log_id: integer,
  leaf_seq: integer,
  leaf_version: integer as Column<1 | 2>,
  evidence_hash: text,
}
export type Stated = RowOf<typeof stated>

export const tables = {
  log_identity: {
    id: integer,
    log_id: text,
    site_id: text,
    parent_log_id: maybe(text),
    parent_size: maybe(integer),
    created_at_ms: integer,
  },
  log_leaf: {
    row: integer,
    log_id: integer,
    seq: integer,
    kind: text,
    ref: text,
    bytes: blob,
    hash: blob,
  },
  log_tile: {
    row: integer,
    log_id: integer,
    level: integer,
    n: integer,
    hashes: blob,
    root: blob,
  },
  log_checkpoint: {
    row: integer,
    log_id: integer,
    size: integer,
    root: blob,
    note: text,
    signed_at_ms: integer,
  },
  log_cosignature: {
    row: integer,
    log_id: integer,
    size: integer,
    name: text,
    line: text,
    cosigned_at_ms: integer,
    received_at_ms: integer,
  },
  log_timestamp: {
    row: integer,
    log_id: integer,
    size: integer,
    url: text,
    token: blob,
    stamped_at_ms: integer,
    received_at_ms: integer,
  },
  opening: {
    commitment: text,
    kind: word<'person' | 'text'>(),
    salt: blob,
    value: text,
  },
  media: {
    id: integer,
    sha256: text,
    kind: word<'photo' | 'clip' | 'snapshot'>(),
    media_type: text,
    size_bytes: integer,
    received_at_ms: integer,
    actor_commitment: maybe(text),
  },
  media_removed: {
    ...stated,
    id: integer,
    event_id: text,
    sha256: text,
    media_kind: word<'photo' | 'clip' | 'snapshot'>(),
    detection_id: maybe(integer),
    cause: word<'age' | 'free-space'>(),
    policy: text,
    removed_at_ms: integer,
  },
  media_unlink: {
    removal_id: defaulted(integer),
    path: text,
  },
  media_return: {
    sha256: text,
    removal_id: integer,
  },
  media_hold: {
    sha256: text,
    reason: text,
    ref: text,
    created_at_ms: integer,
  },
  person: {
    id: defaulted(integer),
    name: text,
    instance: maybe(text),
    salt: blob,
  },
  person_link: {
    subject: text,
    row: integer,
    field: text,
    person_id: integer,
    log_id: integer,
  },
  erased_person: {
    commitment: text,
    name_mark: text,
    erased_at_ms: integer,
  },
  erased_identity: {
    person_id: integer,
    identity_mark: text,
    name_mark: text,
    erased_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)
