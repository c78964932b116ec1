import { type Note, type NoteKey, readNote, verifySignatures } from '../transparency/note.ts'
import { readSize, sizeType } from './add-checkpoint.ts'

/** Answer of a witness, or the reason why there is none. */
export type WitnessReply =
  | { readonly kind: 'answer'; readonly status: number; readonly type: string; readonly body: string }
  | { readonly kind: 'none'; readonly why: string }

/** The question: the checkpoint, and the size from which the proof leads to it. */
export type Asked = { readonly note: string; readonly size: number; readonly old: number; readonly key: NoteKey }

/**
 * Kinds of trouble with a witness. `ahead` and `other-root` mean that the log, not the witness, must be examined. The witness has
 * seen more leaves, or other ones, than this log has.
 */
export const witnessTroubles = [
  'unreachable',
  'unavailable',
  'redirects',
  'unknown-log',
  'unknown-key',
  'refused',
  'proof-refused',
  'bad-answer',
  'bad-signature',
  'confused',
  'ahead',
  'other-root',
] as const
export type WitnessTrouble = (typeof witnessTroubles)[number]

/** Meaning of a reply: a verified signature line, another question, or a trouble with its words. */
export type WitnessVerdict =
  | { readonly kind: 'cosigned'; readonly lines: readonly string[]; readonly atMs: number }
  | { readonly kind: 'ask-from'; readonly size: number }
  | { readonly kind: 'trouble'; readonly finding: WitnessTrouble; readonly words: string }

const trouble = (finding: WitnessTrouble, words: string): WitnessVerdict => ({ kind: 'trouble', finding, words })

/** Decides what a reply to `add-checkpoint` means. Pure. */
export function judgeReply(reply: WitnessReply, asked: Asked): WitnessVerdict {
  if (reply.kind === 'none') return trouble('unreachable', `it gives no answer: ${reply.why}`)
  const { status } = reply
  if (status === 200) return judgeLines(reply.body, asked)
  if (status === 409) return judgeSize(reply, asked)
  if (status >= 300 && status < 400) {
    return trouble('redirects', `it answers ${status} and sends elsewhere, which is not followed; correct its url`)
  }
  if (status === 404) {
    return trouble(
      'unknown-log',
      'it does not know this log, or the url is wrong (404); its admin has to add the log key',
    )
  }
  if (status === 403) {
    return trouble('unknown-key', 'it knows this log under another key (403); send its admin the present log key')
  }
  if (status === 422)
    return trouble(
      'proof-refused',
      'it does not accept the consistency proof (422): it may have seen another history of this log',
    )
  if (status === 400) return trouble('refused', 'it does not understand the request (400)')
  if (status === 429 || status >= 500) return trouble('unavailable', `it answers ${status}`)
  return trouble('refused', `it answers ${status}`)
}

/**
 * Returns the signature line of a witness under a note with the time that it states. Undefined when it does not hold. Pass `line`
 * alone, with its newline.
 */
export function cosignatureIn(line: string, note: string, key: NoteKey): { line: string; atMs: number } | undefined {
  const verdict = judgeLines(line, { note, key, size: 0, old: 0 })
  const [first] = verdict.kind === 'cosigned' ? verdict.lines : []
  return verdict.kind === 'cosigned' && first === line ? { line, atMs: verdict.atMs } : undefined
}

function judgeLines(body: string, { note, key }: Asked): WitnessVerdict {
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  const cosigned = readNote(`${text}\n${body}`)
  if (!cosigned) return trouble('bad-answer', 'it answers 200 with something else than signature lines')
  const lines = linesOf(body, cosigned, key)
  const known = verifySignatures(cosigned, [key])
  if (known.length === 0) return trouble('bad-signature', 'none of its signatures is by the configured vkey')
  const good = known.find(({ holds }) => holds)
  if (!good || known.some(({ holds }) => !holds)) {
    return trouble('bad-signature', 'its signature does not fit the checkpoint that it was sent')
  }
  return { kind: 'cosigned', lines: lines.slice(0, 1), atMs: good.atMs ?? 0 }
}

/** Returns the lines as they came, of the configured key alone. */
function linesOf(body: string, { signatures }: Note, { name, id }: NoteKey): string[] {
  const lines = body.split('\n')
  return signatures.flatMap((one, i) => (one.name === name && one.id === id ? [`${lines[i]}\n`] : []))
}

function judgeSize({ type, body }: { type: string; body: string }, { size, old }: Asked): WitnessVerdict {
  const [line = '', ...rest] = body.split('\n')
  const has = readSize(line)
  if (type.split(';')[0]?.trim().toLowerCase() !== sizeType || has === undefined || rest.join('') !== '') {
    return trouble('bad-answer', 'it answers 409 without the size that it has')
  }
  if (has > size) {
    return trouble(
      'ahead',
      `it has seen ${has} leaves of this log, which has only ${size}: this box was restored from an older copy, or the log went on at another box. Look at it before anything else; gatehouse restore --accept-fork goes on with a new log`,
    )
  }
  if (has !== old) return { kind: 'ask-from', size: has }
  return has === size
    ? trouble(
        'other-root',
        `it has seen another log of ${size} leaves under this name: two histories were signed. Look at it before anything else`,
      )
    : trouble('confused', `it answers 409 with ${has}, the very size from which it was given the proof`)
}
