import type { ReadTx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import {
  type Checkpoint,
  checkpointsBefore,
  entryBundle,
  type KnownLog,
  knownLogs,
  leafBytes,
  newestCheckpoint,
  tileHashes,
  tileWidth,
  timestampsOf,
  widthOfTile,
} from '../../log/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { handOverProofs } from '../bundle/hand-over-proofs.ts'
import { handOversOf } from '../transparency/hand-over.ts'
import { heldKeys } from '../transparency/held-keys.ts'
import { LogSigner } from '../transparency/keys.ts'
import { type NoteKey, noteKey, readNote, readVkey, verifySignatures, vkeyOf } from '../transparency/note.ts'
import { signedNote } from '../transparency/published-log.ts'
import { numberPath } from '../transparency/tile-path.ts'

/** A file of the copy. `pieces` gives its bytes from the beginning at each call, the same each time. */
export type ExportedFile = { readonly name: string; readonly pieces: () => Iterable<Uint8Array> }

/** A log in a copy: up to its newest checkpoint. */
export type ExportedLog = { readonly logId: string; readonly size: number; readonly rootHash: string }

export type WholeLog = { readonly logs: readonly ExportedLog[]; readonly files: Iterable<ExportedFile> }

const atOnce = 256

/**
 * Returns everything that an outsider needs to check every log of the box without it. These are checkpoints, keys, tiles and
 * leaves, without openings of names or texts. A gateway may write meanwhile: leaves behind the newest checkpoint are left out.
 * Throws ExitError while nothing is signed.
 */
export function wholeLog(tx: ReadTx, dataDir: string): WholeLog {
  const logs = knownLogs(tx).flatMap((log) => {
    const checkpoint = newestCheckpoint(tx, log.number)
    return checkpoint ? [{ log, checkpoint }] : []
  })
  if (logs.length === 0)
    throw new ExitError(1, 'the log has no signed checkpoint yet: start the gateway, and wait a minute')
  const candidates = everyKey(tx, dataDir)
  return {
    logs: logs.map(({ log, checkpoint: { size, root } }) => ({
      logId: log.logId,
      size,
      rootHash: root.toString('base64'),
    })),
    files: filesOf(tx, logs, candidates),
  }
}

type SignedLog = { readonly log: KnownLog; readonly checkpoint: Checkpoint }

function* filesOf(tx: ReadTx, logs: readonly SignedLog[], candidates: readonly NoteKey[]): Generator<ExportedFile> {
  yield textFile('README.txt', readme(logs))
  for (const { log, checkpoint } of logs) {
    const folder = `logs/${log.logId}`
    const { number } = log
    const { size } = checkpoint
    yield textFile(`${folder}/checkpoint`, signedNote(tx, checkpoint))
    yield textFile(
      `${folder}/keys`,
      keysOf(log, checkpoint, candidates)
        .map((vkey) => `${vkey}\n`)
        .join(''),
    )
    yield textFile(`${folder}/hand-overs.json`, `${JSON.stringify(handOverProofs(tx, number), undefined, 2)}\n`)
    yield { name: `${folder}/checkpoints.jsonl`, pieces: () => checkpointLines(tx, number, size) }
    for (const [i, { token }] of timestampsOf(tx, number, size).entries()) {
      yield { name: `${folder}/timestamp-${i + 1}.der`, pieces: () => [token] }
    }
    yield { name: `${folder}/leaves.jsonl`, pieces: () => leafLines(tx, number, size) }
    yield* tilesOf(tx, number, size, folder)
  }
}

const textFile = (name: string, text: string): ExportedFile => ({ name, pieces: () => [Buffer.from(text)] })

/** As c2sp.org/tlog-tiles has them: hash tiles of every level, and the entry bundles. */
function* tilesOf(tx: ReadTx, log: number, size: number, folder: string): Generator<ExportedFile> {
  for (let level = 0; tileWidth ** level <= size; level += 1) {
    for (let n = 0; ; n += 1) {
      const width = widthOfTile(level, n, size)
      if (width === 0) break
      const path = `${numberPath(n)}${width < tileWidth ? `.p/${width}` : ''}`
      yield { name: `${folder}/tile/${level}/${path}`, pieces: () => [tileHashes(tx, log, level, n, width)] }
      if (level > 0) continue
      yield { name: `${folder}/tile/entries/${path}`, pieces: () => [entryBundle(tx, log, n, width)] }
    }
  }
}

/** A leaf is one line of JSON. */
function* leafLines(tx: ReadTx, log: number, size: number): Generator<Uint8Array> {
  for (let from = 0; from < size; from += atOnce) {
    const leaves = leafBytes(tx, log, from, Math.min(size, from + atOnce))
    yield Buffer.concat(leaves.flatMap((bytes) => [bytes, Buffer.from('\n')]))
  }
}

/** Every checkpoint, the newest first. */
function* checkpointLines(tx: ReadTx, log: number, size: number): Generator<Uint8Array> {
  for (let below = size + 1; ; ) {
    const found = checkpointsBefore(tx, log, below, atOnce)
    const lines = found.map((one) => {
      const { size: covered, root } = one
      return `${JSON.stringify({ size: covered, rootHash: root.toString('base64'), note: signedNote(tx, one) })}\n`
    })
    yield Buffer.from(lines.join(''))
    const last = found.at(-1)
    if (!last || found.length < atOnce) return
    below = last.size
  }
}

/** Returns the keys of the box, and all that it ever had. The same keys sign every log of a box. */
function everyKey(tx: ReadTx, dataDir: string): NoteKey[] {
  const logs = knownLogs(tx)
  const growing = logs.at(-1)
  if (!growing) return []
  const own = new LogSigner(originOfLog(growing), heldKeys(tx, dataDir, growing).pairs).keys
  const past = logs
    .flatMap(({ number }) => handOversOf(tx, number))
    .flatMap((row) => [row.previous_ed25519, row.previous_ml_dsa_44, row.ed25519, row.ml_dsa_44])
  return [...own, ...past.flatMap((vkey) => readVkey(vkey) ?? [])]
}

/** Returns the keys that have signed the newest checkpoint of a log, under the log's name. */
function keysOf(log: KnownLog, { note }: Checkpoint, candidates: readonly NoteKey[]): string[] {
  const origin = originOfLog(log)
  const read = readNote(note)
  const named = candidates.map(({ type, publicKey }) => noteKey(origin, type, publicKey))
  const signed = read ? verifySignatures(read, named).filter(({ holds }) => holds) : []
  return [...new Set(signed.map(({ key }) => vkeyOf(key)))]
}

function readme(logs: readonly SignedLog[]): string {
  const lines = logs.map(
    ({ log, checkpoint: { size, root } }) => `  ${log.logId}  ${size} leaves, root ${root.toString('base64')}`,
  )
  return `This is a copy of the log of a gatehouse gateway, for anyone who wants to check all of it without the gateway.

Site ${logs.at(-1)?.log.siteId}. Each log is a folder of logs/; the last one grows:
${lines.join('\n')}

In each folder:
  checkpoint         the newest checkpoint, with the cosignatures of witnesses (c2sp.org/tlog-checkpoint, tlog-cosignature)
  keys               the verifier keys that signed it; compare them with those that you know from elsewhere
  hand-overs.json    proof bundles of the changes of keys, oldest first
  checkpoints.jsonl  every checkpoint, the newest first
  timestamp-N.der    RFC 3161 tokens over the text of the checkpoint
  leaves.jsonl       every leaf in its order, a line of JSON each
  tile/              hash tiles and entry bundles (c2sp.org/tlog-tiles): any reader of tiled logs takes this folder as the log's prefix

The hash of leaf 42, as in tile/0 (the first leaf is line 1 and index 0):

    (printf '\\000'; sed -n 42p leaves.jsonl | tr -d '\\n') | sha256sum

Names of people and free texts are not here: leaves hold commitments to them. A proof of one row ("gatehouse ledger proof ID")
opens those of that row. Leaves behind the checkpoint of a log are not here either.
`
}
