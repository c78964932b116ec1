import {
  checkSignatures,
  continues,
  fromBase64,
  readCheckpointText,
  readNote,
  readVerifierKey,
  type SignedNote,
  toBase64,
} from '../../../proof/index.ts'

/** The newest checkpoint of the log that this browser has seen. `root` is base64, as the note has it; `vkey` is the log's. */
export type KeptCheckpoint = {
  readonly origin: string
  readonly size: number
  readonly root: string
  readonly vkey: string
  readonly note: string
}

/** Verdict on a checkpoint of the gateway, against the stored one. */
export type KeeperVerdict =
  /** It is stored from now on: the first one, the same again, or one that continues the stored one. */
  | { readonly kind: 'kept'; readonly kept: KeptCheckpoint }
  /** Older than the stored one: the answer was overtaken, or the log was put back. Ask again; twice is an alarm. */
  | { readonly kind: 'older'; readonly words: string }
  /** Proof, or strong suspicion, that the log was changed. The stored checkpoint stays: show it to somebody. */
  | { readonly kind: 'alarm'; readonly words: string }

export type KeeperQuestion = {
  /** The signed note of GET /api/log/checkpoint. */
  readonly note: string
  /** The Ed25519 verifier key of the log (`logKey` of GET /api/health); used only while no checkpoint is stored. */
  readonly vkey: string
  readonly kept: KeptCheckpoint | undefined
  /** Returns the proof of GET /api/log/consistency (base64). Its errors are passed on, without a verdict. */
  readonly proof: (from: number, to: number) => Promise<readonly string[]>
}

/**
 * Decides whether a checkpoint continues the stored one. It needs WebCrypto alone (a page over HTTPS has it) and stores nothing:
 * the caller stores the result. Rejects only with an error of `proof`.
 */
export async function keepCheckpoint({ note, vkey, kept, proof }: KeeperQuestion): Promise<KeeperVerdict> {
  const read = readNote(note)
  const shown = read && readCheckpointText(read.text)
  if (!read || !shown || shown.isExtended) return alarm('The gateway shows a checkpoint that cannot be read.')
  const key = kept?.vkey ?? vkey
  if (kept && kept.origin !== shown.origin) {
    return alarm(
      `The log is another one: ${shown.origin}, and this device has kept ${kept.origin}. After a restore somebody has to confirm that.`,
    )
  }
  if (!(await isSigned(read, shown.origin, key))) return alarm('The checkpoint is not signed by the key of the log.')
  const now = { origin: shown.origin, size: shown.size, root: toBase64(shown.root), vkey: key, note }
  if (!kept) return { kind: 'kept', kept: now }
  if (shown.size < kept.size) {
    return { kind: 'older', words: `The log shows ${shown.size} entries; this device has seen ${kept.size}.` }
  }
  const hashes =
    shown.size === kept.size ? [] : (await proof(kept.size, shown.size)).map((one) => fromBase64(one) ?? noHash)
  const root = fromBase64(kept.root)
  if (root && hashes.every(({ length }) => length === 32)) {
    const trees = [{ size: kept.size, root }, shown] as const
    if (await continues(crypto.subtle, trees, hashes)) return { kind: 'kept', kept: now }
  }
  return alarm(
    `The log does not continue what this device saw: ${kept.size} entries then, ${shown.size} now. An entry was changed or removed. Do not clear this device; call the person who checks the ledger.`,
  )
}

const noHash = new Uint8Array(0)
const alarm = (words: string): KeeperVerdict => ({ kind: 'alarm', words })

/** Tells whether the note has a signature by this Ed25519 key, which is the log's own. */
async function isSigned(note: SignedNote, origin: string, vkey: string): Promise<boolean> {
  const key = await readVerifierKey(crypto.subtle, vkey)
  if (!key || key.name !== origin || key.type !== 1) return false
  const checked = await checkSignatures(crypto.subtle, note, [key])
  return checked.length > 0 && checked.every(({ state }) => state === 'holds')
}
