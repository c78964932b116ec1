import { largestNoteBytes } from '../../proof/index.ts'
import { fromBase64 } from '../transparency/note.ts'

/** The body of `add-checkpoint` (c2sp.org/tlog-witness). `note` is the checkpoint as a signed note. */
export type AddCheckpoint = { readonly old: number; readonly proof: readonly Buffer[]; readonly note: string }

/** The most lines of a proof: a tree has at most 2^63 leaves. */
const mostHashes = 63

/** Most bytes of the body: a note and the lines of a proof. */
export const largestWitnessBytes = largestNoteBytes + 4096

/** Media type of an answer that names the size that a witness has. */
export const sizeType = 'text/x.tlog.size'

/** Formats the body of `add-checkpoint`. */
export function formatAddCheckpoint({ old, proof, note }: AddCheckpoint): string {
  return `old ${old}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`
}

/** Reads the body of `add-checkpoint`; undefined when it is not one. The note is not looked into. */
export function readAddCheckpoint(body: string): AddCheckpoint | undefined {
  const end = body.indexOf('\n\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = body.slice(0, end).split('\n')
  const old = readSize(/^old (.*)$/.exec(first)?.[1] ?? '')
  const proof = lines.map(fromBase64)
  if (old === undefined || proof.length > mostHashes || !proof.every((hash) => hash?.length === 32)) return undefined
  return { old, proof: proof as Buffer[], note: body.slice(end + 2) }
}

/** Reads a number of leaves in its only decimal form; undefined for anything else. */
export function readSize(text: string): number | undefined {
  const size = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(size) ? size : undefined
}
