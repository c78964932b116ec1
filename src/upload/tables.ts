import { builderOver, defaulted, integer, maybe, type RowOf, text, word } from '../database/index.ts'

/** Kinds of things that are copied. */
export const uploadKinds = ['clip', 'photo', 'report', 'checkpoint', 'segment', 'snapshot', 'backup'] as const
export type UploadKind = (typeof uploadKinds)[number]

export const uploadStatuses = ['pending', 'uploading', 'uploaded', 'parked'] as const
export type UploadStatus = (typeof uploadStatuses)[number]

/** The proof of the copy on the server: its SHA-256 as the server computed it, or its size alone. */
export type Verified = 'hash' | 'size'

/**
 * Why a file is parked:
 * - quota: no room on the server.
 * - hash: other bytes there.
 * - file: the file is missing here.
 * - refused: the server refuses it.
 * - lost: the copy is missing or changed there while the file is missing here.
 */
export const parkedReasons = ['quota', 'hash', 'file', 'refused', 'lost'] as const
export type ParkedFor = (typeof parkedReasons)[number]

/** How far the parts of a clip are that is sent while it is being recorded. `kept`: no clip came of it, and they stay. */
export const openClipStatuses = ['recording', 'finished', 'kept'] as const
export type OpenClipStatus = (typeof openClipStatuses)[number]

export const tables = {
  upload: {
    id: defaulted(integer),
    kind: word<UploadKind>(),
    ref: text,
    root: text,
    path: text,
    file: text,
    sha256: text,
    size_bytes: integer,
    about: maybe(text),
    cctv_id: maybe(integer),
    urgent: integer,
    status: word<UploadStatus>(),
    attempts: defaulted(integer),
    next_attempt_at_ms: integer,
    last_error: maybe(text),
    parked_for: maybe(word<ParkedFor>()),
    verified: maybe(word<Verified>()),
    url: maybe(text),
    queued_at_ms: integer,
    uploaded_at_ms: maybe(integer),
  },
  upload_open_clip: {
    detection_id: integer,
    cctv_id: integer,
    root: text,
    path: text,
    about: text,
    parts: integer,
    sent_bytes: integer,
    part_bytes: integer,
    status: word<OpenClipStatus>(),
    replaced_by: maybe(integer),
  },
  upload_source: {
    kind: word<UploadKind>(),
    up_to: integer,
  },
  upload_check: {
    upload_id: integer,
    due_at_ms: integer,
    compared_at_ms: integer,
  },
  upload_folder: {
    instance: text,
    username: text,
    root: text,
    file_id: text,
    owner: text,
  },
} as const

export const sql = builderOver(tables)

export type UploadRow = RowOf<typeof tables.upload>
export type OpenClipRow = RowOf<typeof tables.upload_open_clip>
