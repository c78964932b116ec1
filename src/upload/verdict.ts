import { backoffMs } from '../flow/index.ts'
import type { Refusal } from './line.ts'
import type { ParkedFor } from './tables.ts'

/**
 * One request of an upload:
 * - put: sends the bytes of a file.
 * - part: sends a piece of a large file.
 * - folder: makes a folder.
 * - list: asks for the pieces of a large file that have arrived.
 * - move: gives the file its name.
 * - look: asks whether the file is there, and for its size.
 * - hash: asks for the hash that the server computes of its bytes.
 * - remove: removes a part of a clip that is there as a whole.
 * - folder facts: asks for the owner of a folder and its free room.
 */
export type Step = 'put' | 'part' | 'folder' | 'list' | 'move' | 'look' | 'hash' | 'remove' | 'folder facts'

/** How a request ended. */
export type Reply =
  | {
      readonly kind: 'answer'
      readonly status: number
      /** SHA-256 that the server computed, in lower case; null when it named none. */
      readonly hash: string | null
      /** Content-Length of the answer; null when it named none. */
      readonly sizeBytes: number | null
      readonly retryAfterMs: number | null
      /** The beginning of the answer. */
      readonly body: string
    }
  /** No answer. `sentBytes`: of the body; 0 when the server cannot have seen anything of it. */
  | { readonly kind: 'none'; readonly error: string; readonly sentBytes: number }

export type UploadVerdict =
  /** The step has done what it is for. */
  | { readonly kind: 'done' }
  /** A file of this name is there, or may be: look at it and conclude. */
  | { readonly kind: 'there' }
  /** The file or folder is not there. */
  | { readonly kind: 'gone' }
  /** The folders above are missing. */
  | { readonly kind: 'folders' }
  /** The server cannot do this; there is another way. */
  | { readonly kind: 'cannot' }
  /** This file is tried again later; the attempt counts. */
  | { readonly kind: 'wait'; readonly error: string }
  /** The server takes nothing now: all files wait, and no attempt counts. */
  | { readonly kind: 'pause'; readonly error: string; readonly afterMs: number | null }
  /** The server does not know the credential. */
  | { readonly kind: 'unauthorized'; readonly error: string }
  /** The server takes nothing of the account. */
  | Refusal
  /** Trying again changes nothing: a person has to look at it. `isForbidden`: 403, which a full account may answer too. */
  | {
      readonly kind: 'park'
      readonly why: Exclude<ParkedFor, 'lost'>
      readonly error: string
      readonly isForbidden?: boolean
    }

/** Returns the verdict on a reply. Pure: the whole knowledge of statuses is here. */
export function judge(step: Step, reply: Reply): UploadVerdict {
  if (reply.kind === 'none') return withoutAnswer(step, reply)
  const own = ownStatus[step][reply.status]
  if (own !== undefined) return { kind: own }
  if (isOfDisabled(reply)) return disabled
  if (step === 'put' && reply.status === 405) return unwritten
  return shared(step, reply.status, reply.retryAfterMs)
}

const stepWords: Readonly<Record<Step, string>> = {
  put: 'sending the file',
  part: 'sending a part of the file',
  folder: 'making a folder',
  list: 'listing the parts',
  move: 'giving the file its name',
  look: 'looking at the file',
  hash: 'asking for the hash',
  remove: 'removing a part',
  'folder facts': 'asking about the folder',
}

/** A Nextcloud answers so with the account's own credential: 503 to Basic, 500 to a bearer token. */
export const isOfDisabled = (reply: Reply): boolean =>
  reply.kind === 'answer' && reply.status >= 500 && reply.body.includes('DisabledUserException')

export const disabled: Refusal = {
  ...{ kind: 'refused', isPassword: false },
  error: 'the storage server has disabled the account',
  remedy: 'Enable the account on the storage server.',
}

/** Said of a server that does not tell why it takes no file. */
export const orCannotWrite = ', or cannot write it'

/**
 * WebDAV servers in Go, as rclone's, answer 405 to a PUT that they could not write. The reason may be a full disk, or a cloud
 * behind them that does not answer. When a file of this size fits, the others are tried again.
 */
const unwritten: UploadVerdict = {
  ...{ kind: 'park', why: 'quota' },
  error: `HTTP 405 to ${stepWords.put}: the storage server has no room${orCannotWrite}`,
}

/**
 * The server may have received enough of a file that was cut off to be the cause of the cut. An attempt with bytes sent counts, or
 * the file would block the rest.
 */
function withoutAnswer(step: Step, { error, sentBytes }: Reply & { kind: 'none' }): UploadVerdict {
  const hasBegun = (step === 'put' || step === 'part') && sentBytes > 0
  return hasBegun ? { kind: 'wait', error } : { kind: 'pause', error, afterMs: null }
}

/** The meaning of a status for one step alone. */
const ownStatus: Readonly<Record<Step, Readonly<Record<number, 'done' | 'there' | 'gone' | 'folders' | 'cannot'>>>> = {
  put: { 200: 'there', 201: 'done', 204: 'done', 404: 'folders', 409: 'folders', 412: 'there' },
  part: { 201: 'done', 204: 'done', 404: 'gone', 409: 'gone' },
  folder: { 201: 'done', 405: 'done', 404: 'folders', 409: 'folders' },
  list: { 207: 'done', 404: 'gone' },
  // A MOVE that was done already finds no source: its answer was lost.
  move: { 201: 'done', 204: 'done', 404: 'there', 409: 'folders', 412: 'there' },
  look: { 200: 'done', 204: 'done', 404: 'gone' },
  'folder facts': { 207: 'done', 404: 'gone', 400: 'cannot', 403: 'cannot', 405: 'cannot', 501: 'cannot' },
  remove: { 200: 'done', 202: 'done', 204: 'done', 404: 'gone', 403: 'cannot', 405: 'cannot', 501: 'cannot' },
  hash: {
    200: 'done',
    204: 'done',
    404: 'gone',
    400: 'cannot',
    403: 'cannot',
    405: 'cannot',
    415: 'cannot',
    501: 'cannot',
  },
}

function shared(step: Step, status: number, retryAfterMs: number | null): UploadVerdict {
  const error = `HTTP ${status} to ${stepWords[step]}`
  switch (status) {
    case 401:
      return { kind: 'unauthorized', error }
    case 423:
    case 408:
      return { kind: 'wait', error }
    case 429:
    case 503:
      return { kind: 'pause', error, afterMs: retryAfterMs }
    case 507:
      return { kind: 'park', why: 'quota', error: `${error}: the storage server has no room` }
  }
  if (status >= 500 || status < 300) return { kind: 'wait', error }
  if (status < 400) return { kind: 'pause', error: `${error}: a redirect, which is never followed`, afterMs: null }
  return { kind: 'park', why: 'refused', error, ...(status === 403 && { isForbidden: true }) }
}

const fileRetry = { firstMs: 10_000, longestMs: 3_600_000 }
export const longestFileDelayMs = fileRetry.longestMs

/** Delay before a file is tried again: 10 s, doubling to 1 h. `attempts` counts the one that has failed. */
export function fileDelayMs(attempts: number): number {
  return backoffMs(fileRetry, attempts)
}
