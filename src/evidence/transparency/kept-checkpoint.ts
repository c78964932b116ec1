import { webcrypto } from 'node:crypto'
import { databaseFile, executor, openReader, type ReadTx } from '../../database/index.ts'
import { type KnownLog, knownLogs, nodesOf, rootOf } from '../../log/index.ts'
import { BadStep, followHandOvers, originOfLog } from '../../proof/index.ts'
import { handOverProofs } from '../bundle/hand-over-proofs.ts'
import { keysOfBox } from './hand-over.ts'
import { heldKeys } from './held-keys.ts'
import { LogSigner } from './keys.ts'
import {
  type CheckpointText,
  type Note,
  type NoteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifySignatures,
  vkeyOf,
} from './note.ts'

/** Result of a comparison; `words` are a sentence without a full stop. */
export type Comparison = { readonly holds: boolean; readonly words: string }

/**
 * Compares the log in a data folder with a checkpoint that was stored elsewhere. Only this finds a tail that was cut off together
 * with its rows, or a rewritten history. A rotation leads on from the trusted verifier keys, `keys`. Without them, all keys that
 * this box has had are trusted.
 */
export async function compareWithKept(
  dataDir: string,
  kept: string,
  keys: readonly NoteKey[] | undefined,
): Promise<Comparison> {
  const note = readNote(kept)
  const head = note && readCheckpointText(note.text)
  if (!note || !head) return { holds: false, words: 'the kept file is not a signed checkpoint' }
  const db = openReader(databaseFile(dataDir))
  try {
    return await compareIn(executor(db), dataDir, { note, head, keys })
  } catch (error) {
    if (error instanceof BadStep) return { holds: false, words: error.message }
    throw error
  } finally {
    db.close()
  }
}

type Kept = { readonly note: Note; readonly head: CheckpointText; readonly keys: readonly NoteKey[] | undefined }

async function compareIn(tx: ReadTx, dataDir: string, { note, head, keys }: Kept): Promise<Comparison> {
  const log = knownLogs(tx).find((one) => originOfLog(one) === head.origin)
  if (!log) return { holds: false, words: `${head.origin}, which the kept checkpoint is of, is not in this ledger` }
  const signatures = verifySignatures(note, keys ? await ledTo(tx, log, keys) : ownKeys(tx, dataDir, log))
  if (signatures.some(({ holds }) => !holds)) {
    return { holds: false, words: 'a signature of the kept checkpoint does not verify: it is a forgery' }
  }
  if (signatures.length === 0) {
    return { holds: false, words: `no key of ${head.origin} that is known here signed the kept checkpoint` }
  }
  if (log.size < head.size) {
    return { holds: false, words: `${head.size} leaves were signed, the log has only ${log.size}: its end was cut off` }
  }
  const root = rootOf(head.size, nodesOf(tx, log.number, head.size))
  return root.equals(head.root)
    ? { holds: true, words: `the log continues the kept checkpoint over ${head.size} leaves` }
    : {
        holds: false,
        words: `the first ${head.size} leaves have another root than the kept checkpoint: they were changed`,
      }
}

/** Returns the keys that are trusted, and those to which the log was handed over from them. */
async function ledTo(tx: ReadTx, log: KnownLog, keys: readonly NoteKey[]): Promise<readonly NoteKey[]> {
  const origin = originOfLog(log)
  const given = keys.filter(({ name }) => name === origin).map(vkeyOf)
  const led = await followHandOvers(webcrypto.subtle, origin, handOverProofs(tx, log.number), given)
  return led.flatMap((vkey) => readVkey(vkey) ?? [])
}

/** Returns the keys of this box, now and before. */
function ownKeys(tx: ReadTx, dataDir: string, log: KnownLog): readonly NoteKey[] {
  const newest = knownLogs(tx).at(-1) ?? log
  return keysOfBox(tx, log, new LogSigner(originOfLog(newest), heldKeys(tx, dataDir, newest).pairs).keys)
}
