import { databaseFile, executor, openReader } from '../../database/index.ts'
import { knownLogs, nodesOf, rootOf } from '../../log/index.ts'
import { originOfLog } from './keys.ts'
import { type NoteKey, readCheckpointText, readNote, verifySignatures } from './note.ts'

/** What a comparison found; `words` are a sentence without a full stop. */
export type Comparison = { readonly holds: boolean; readonly words: string }

/**
 * Compares the log in a data folder with a checkpoint that was kept elsewhere: a tail that was cut off together with its rows,
 * or a history that was written anew, is seen by this alone. `keys`: verifier keys that are trusted.
 */
export function compareWithKept(dataDir: string, kept: string, keys: readonly NoteKey[]): Comparison {
  const note = readNote(kept)
  const head = note && readCheckpointText(note.text)
  if (!note || !head) return { holds: false, words: 'the kept file is not a signed checkpoint' }
  const signatures = verifySignatures(
    note,
    keys.filter(({ name }) => name === head.origin),
  )
  if (signatures.some(({ holds }) => !holds)) {
    return { holds: false, words: 'a signature of the kept checkpoint does not verify: it is a forgery' }
  }
  if (signatures.length === 0) {
    return { holds: false, words: `no key of ${head.origin} that is known here signed the kept checkpoint` }
  }
  const db = openReader(databaseFile(dataDir))
  try {
    const tx = executor(db)
    const log = knownLogs(tx).find((one) => originOfLog(one) === head.origin)
    if (!log) return { holds: false, words: `${head.origin}, which the kept checkpoint is of, is not in this ledger` }
    if (log.size < head.size) {
      return {
        holds: false,
        words: `${head.size} leaves were signed, the log has only ${log.size}: its end was cut off`,
      }
    }
    const root = rootOf(head.size, nodesOf(tx, log.number, head.size))
    return root.equals(head.root)
      ? { holds: true, words: `the log continues the kept checkpoint over ${head.size} leaves` }
      : {
          holds: false,
          words: `the first ${head.size} leaves have another root than the kept checkpoint: they were changed`,
        }
  } finally {
    db.close()
  }
}
