import { existsSync } from 'node:fs'
import type { ReadTx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { checkpointsBefore, type KnownLog } from '../../log/index.ts'
import type { Findings } from '../findings.ts'
import { findLogKeys, type KeyPairs, keyFolder, LogSigner, originOfLog } from './keys.ts'
import { type KnownSignature, type NoteKey, readNote, readVkey, verifySignatures } from './note.ts'

/** Signed heads read at once; a note has 4 KiB. */
const headsAtOnce = 256
const algorithms = { 1: 'Ed25519', 6: 'ML-DSA-44' } as const

/** Returns the name of a signed head in the findings of a verification. */
export function nameOfHead(log: KnownLog, size: number): string {
  return `checkpoint over ${size} leaves of log ${log.logId}`
}

/**
 * Reads the keys of the box; undefined when the folder of keys is not here, such as beside a copied database. A damaged file or
 * a missing one is a finding.
 */
export function keysForCheck(dataDir: string, wasSigned: boolean, findings: Findings): KeyPairs | undefined {
  try {
    const pairs = findLogKeys(dataDir)
    if (!pairs && wasSigned && existsSync(keyFolder(dataDir))) {
      findings.add('keys/log.key', 'it or keys/log-mldsa.key is missing, although the log was signed')
    }
    return pairs
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    findings.add('keys', error.message)
    return undefined
  }
}

/** Returns the verifier keys of a log that a `log-key` leaf of it names: those before and after a change of keys. */
export function keysInLeaf(log: KnownLog, leaf: Readonly<Record<string, unknown>>): NoteKey[] {
  return Object.values(leaf)
    .flat()
    .flatMap((value) => (typeof value === 'string' ? (readVkey(value) ?? []) : []))
    .filter(({ name }) => name === originOfLog(log))
}

/**
 * Verifies the signatures of every stored head of a log, and returns how many heads there are. Each needs both signatures, by
 * keys that the log has or had.
 * @param handedOver keys that leaves of this log name
 * @param isGrowing false for a log that another one continues: its keys may have been lost, so heads of which no signer is
 *   known are taken as they are
 */
export function checkSignatures(
  tx: ReadTx,
  log: KnownLog,
  keys: { readonly pairs: KeyPairs; readonly handedOver: readonly NoteKey[]; readonly isGrowing: boolean },
  findings: Findings,
): number {
  const known = [...new LogSigner(originOfLog(log), keys.pairs).keys, ...keys.handedOver]
  const unknown: number[] = []
  let count = 0
  for (let before = log.size + 1; ; ) {
    const heads = checkpointsBefore(tx, log.number, before, headsAtOnce)
    for (const { size, note, signed_at_ms } of heads) {
      const read = readNote(note)
      const signatures = read ? verifySignatures(read, known) : []
      if (signatures.length === 0) unknown.push(size)
      else judge(signatures, signed_at_ms, (what) => findings.add(nameOfHead(log, size), what))
    }
    count += heads.length
    before = heads.at(-1)?.size ?? 0
    if (heads.length < headsAtOnce) break
  }
  const areLost = !keys.isGrowing && unknown.length === count
  if (!areLost) {
    for (const size of unknown) findings.add(nameOfHead(log, size), 'was signed by no key that this log has had')
  }
  return count
}

function judge(signatures: readonly KnownSignature[], signedAtMs: number, found: (what: string) => void): void {
  for (const type of [1, 6] as const) {
    const own = signatures.filter(({ key }) => key.type === type)
    if (own.length === 0) found(`its ${algorithms[type]} signature is by no key that this log has had`)
    else if (own.some(({ holds }) => !holds)) found(`its ${algorithms[type]} signature does not verify`)
  }
  const stated = signatures.find(({ key }) => key.type === 6)?.atMs
  if (stated !== undefined && stated !== Math.floor(signedAtMs / 1000) * 1000) {
    found('its row names another time than its signature')
  }
}
