import type { PostedAnswer } from '../evidence/index.ts'
import { outsideJson } from '../platform/index.ts'
import { FeedAnswer, FeedGap } from './wire.ts'

/** Kinds of trouble with the head office, or with this gateway as the head office sees it. */
export const feedFindings = [
  'unreachable',
  'unavailable',
  'refused',
  'unknown-key',
  'unvouched',
  'unknown-log',
  'forked',
  'ahead',
  'bad-answer',
] as const
export type FeedFinding = (typeof feedFindings)[number]

/** Meaning of the answer to a feed. */
export type FeedVerdict =
  | { readonly kind: 'fed'; readonly answer: FeedAnswer }
  /** The head office has this many leaves; continue from there. */
  | { readonly kind: 'go-on-from'; readonly size: number }
  | {
      readonly kind: 'trouble'
      readonly finding: FeedFinding
      readonly words: string
      readonly retryAfterSeconds: number | undefined
    }

const trouble = (finding: FeedFinding, words: string, retryAfterSeconds?: number): FeedVerdict => ({
  kind: 'trouble',
  finding,
  words,
  retryAfterSeconds,
})

/** Decides what an answer means. `size` is how many leaves the log has here. Pure. */
export function judgeFeed(reply: PostedAnswer | string, size: number): FeedVerdict {
  if (typeof reply === 'string') return trouble('unreachable', `it gives no answer: ${reply}`)
  const { status, retryAfterSeconds } = reply
  if (status === 200) return judgeTaken(reply, size)
  if (status === 409) return judgeGap(reply, size)
  if (status === 401) return trouble('refused', 'it does not accept the token (401); join again with a new code')
  if (status === 403) {
    return trouble(
      'unknown-key',
      'it knows this log under other keys (403). If this box was restored to a time before its key rotation, it goes on with a new log: gatehouse restore --accept-fork, then gatehouse hub join with a new code. If the head office was restored, put a newer copy of it back instead',
    )
  }
  if (status === 404) {
    return trouble('unknown-log', 'it does not know this log, or hub.url is wrong (404); join again with a new code')
  }
  if (status === 422) {
    return trouble(
      'forked',
      'it has seen another history of this log, or a log that continues it (422). First compare the two; gatehouse restore --accept-fork goes on with a new log',
    )
  }
  if (status === 429 || status >= 500) return trouble('unavailable', `it answers ${status}`, retryAfterSeconds)
  if (status >= 300 && status < 400) {
    return trouble('refused', `it answers ${status} and sends elsewhere, which is not followed; correct hub.url`)
  }
  return trouble('refused', `it does not take the log: it answers ${status}`)
}

/** A log continues after a restore, and the keys of the one before are not trusted any more. */
export const unvouched = {
  kind: 'trouble',
  finding: 'unvouched',
  words:
    'it does not know the keys of the new log of this box (403). Make a code there with gatehouse hub enrol, and run gatehouse hub join',
  retryAfterSeconds: undefined,
} as const satisfies FeedVerdict

function judgeTaken({ body }: PostedAnswer, size: number): FeedVerdict {
  const answer = FeedAnswer.safeParse(outsideJson(body.toString('utf8'))).data
  if (!answer) return trouble('bad-answer', 'it answers 200, but not as a head office does')
  const seen = Math.max(answer.size, answer.witnessed)
  return seen > size ? ahead(seen, size) : { kind: 'fed', answer }
}

function judgeGap({ body }: PostedAnswer, size: number): FeedVerdict {
  const gap = FeedGap.safeParse(outsideJson(body.toString('utf8'))).data
  if (!gap) return trouble('bad-answer', 'it answers 409 without the size that it has')
  return gap.size > size ? ahead(gap.size, size) : { kind: 'go-on-from', size: gap.size }
}

function ahead(seen: number, size: number): FeedVerdict {
  return trouble(
    'ahead',
    `it has seen ${seen} leaves of this log, which has only ${size}: this box was restored from an older copy, or the log went on at another box. Check it first; gatehouse restore --accept-fork goes on with a new log`,
  )
}
