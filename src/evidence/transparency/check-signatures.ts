import { existsSync } from 'node:fs'
import type { ReadTx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { checkpointCovering, checkpointsBefore, type KnownLog } from '../../log/index.ts'
import { originOfLog } from '../../proof/index.ts'
import type { Findings } from '../findings.ts'
import { type HandOver, isSamePair } from './hand-over.ts'
import { findLogKeys, findNextKeys, type KeyPairs, keyFolder, LogSigner } from './keys.ts'
import { type KnownSignature, type NoteKey, noteKey, readNote, verifySignatures } from './note.ts'

/** Checkpoints read at once; a note has 4 KiB. */
const headsAtOnce = 256
const algorithms = { 1: 'Ed25519', 4: 'Ed25519 with a time', 6: 'ML-DSA-44' } as const

/** Returns the name of a checkpoint in the findings of a verification. */
export function nameOfHead(log: Pick<KnownLog, 'logId'>, size: number): string {
  return `checkpoint over ${size} leaves of log ${log.logId}`
}

/** The private keys of the box. `next`: those of a rotation that has not ended. */
export type KeysOfBox = { readonly pairs: KeyPairs; readonly next: KeyPairs | undefined }

/**
 * Reads the keys of the box; undefined when the folder of keys is not here, such as beside a copied database. A damaged file or
 * a missing one is a finding.
 */
export function keysForCheck(dataDir: string, wasSigned: boolean, findings: Findings): KeysOfBox | undefined {
  try {
    const pairs = findLogKeys(dataDir)
    if (!pairs && wasSigned && existsSync(keyFolder(dataDir))) {
      findings.add('keys/log.key', 'it or keys/log-mldsa.key is missing, although the log was signed')
    }
    return pairs && { pairs, next: findNextKeys(dataDir) }
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    findings.add('keys', error.message)
    return undefined
  }
}

/** A log with the hand-overs that its leaves state, in their order. */
export type HandedLog = { readonly log: KnownLog; readonly handOvers: readonly HandOver[] }

/**
 * Verifies the signatures of every stored head of every log of the box, the growing one last. Returns how many heads there are.
 * Each head needs both signatures by the keys that its log had at that size. The first head over a hand-over needs those of the
 * keys before it too.
 * @param keysNow reads the keys of the box again: a running gateway may have rotated them since `keys` were read
 */
export function checkSignatures(
  tx: ReadTx,
  logs: readonly HandedLog[],
  keys: KeysOfBox,
  keysNow: () => KeysOfBox | undefined,
  findings: Findings,
): number {
  const past = logs.flatMap(({ handOvers }) => handOvers.flatMap((one) => [...one.previousKeys, ...one.keys]))
  return logs.reduce((count, handed, i) => {
    const isGrowing = i === logs.length - 1
    const own = pairsOf(handed.log, keys)
    if (isGrowing) checkNewestKeys(tx, handed, own, () => pairsOf(handed.log, keysNow() ?? keys), findings)
    // Keys that sign a log sign every log of the box, so those of any hand-over may have signed an earlier log.
    const others = isGrowing
      ? []
      : [...own.flat(), ...past].map(({ type, publicKey }) => renamed(handed.log, type, publicKey))
    return count + new HeadsOfLog(tx, handed, { present: own[0], others }, findings).all()
  }, 0)
}

type Pair = readonly [NoteKey, NoteKey]

const renamed = (log: KnownLog, type: NoteKey['type'], publicKey: Buffer) => noteKey(originOfLog(log), type, publicKey)

/** Returns the keys that are here, under the name of a log: those that sign, then those of a rotation that has not ended. */
function pairsOf(log: KnownLog, { pairs, next }: KeysOfBox): readonly [Pair, ...Pair[]] {
  const origin = originOfLog(log)
  return [new LogSigner(origin, pairs).keys, ...(next ? [new LogSigner(origin, next).keys] : [])]
}

/** The newest hand-over of the growing log must be one to present keys, and each must continue the one before. */
function checkNewestKeys(
  tx: ReadTx,
  { log, handOvers }: HandedLog,
  own: readonly Pair[],
  now: () => readonly Pair[],
  findings: Findings,
): void {
  const newest = handOvers.at(-1)
  if (!newest || own.some((pair) => isSamePair(pair, newest.keys))) return
  if (now().some((pair) => isSamePair(pair, newest.keys))) return
  const what = checkpointCovering(tx, log.number, newest.seq)
    ? 'hands the log over to keys that are not in keys/'
    : 'hands the log over to keys that are not here and have signed nothing'
  findings.add(`leaf ${newest.seq}`, what)
}

type HeadKeys = {
  /** The keys that sign now; those of a log without a hand-over. */
  readonly present: Pair
  /** Keys that may have signed an earlier log instead. Empty for the growing one. */
  readonly others: readonly NoteKey[]
}

/** Verifies the heads of one log. */
class HeadsOfLog {
  readonly #tx: ReadTx
  readonly #log: KnownLog
  readonly #handOvers: readonly HandOver[]
  readonly #keys: HeadKeys
  readonly #findings: Findings
  /** Size of the first head over each hand-over. */
  readonly #firstHeads: ReadonlyMap<number, HandOver>
  readonly #known: readonly NoteKey[]

  constructor(tx: ReadTx, { log, handOvers }: HandedLog, keys: HeadKeys, findings: Findings) {
    this.#tx = tx
    this.#log = log
    this.#handOvers = handOvers
    this.#keys = keys
    this.#findings = findings
    const first = handOvers.flatMap((one) => {
      const head = checkpointCovering(tx, log.number, one.seq)
      return head ? [[head.size, one] as const] : []
    })
    this.#firstHeads = new Map(first)
    const named = handOvers.flatMap((one) => [...one.previousKeys, ...one.keys])
    this.#known = distinct([...(named.length > 0 ? named : keys.present), ...keys.others])
  }

  all(): number {
    const { number, size: end } = this.#log
    const unknown: number[] = []
    let count = 0
    for (let before = end + 1; ; ) {
      const heads = checkpointsBefore(this.#tx, number, before, headsAtOnce)
      for (const { size, note, signed_at_ms } of heads) {
        const read = readNote(note)
        const signatures = read ? verifySignatures(read, this.#known) : []
        if (signatures.length === 0) unknown.push(size)
        else this.#judge(size, signatures, signed_at_ms)
      }
      count += heads.length
      before = heads.at(-1)?.size ?? 0
      if (heads.length < headsAtOnce) break
    }
    // The keys of a log that another one continues may have been lost: heads of which no signer is known are taken as they are.
    const areLost = this.#keys.others.length > 0 && unknown.length === count
    for (const size of areLost ? [] : unknown) this.#found(size, 'was signed by no key that this log has had')
    return count
  }

  #judge(size: number, signatures: readonly KnownSignature[], signedAtMs: number): void {
    const failing = signatures.filter(({ holds }) => !holds)
    for (const { key } of failing) this.#found(size, `its ${algorithms[key.type]} signature does not verify`)
    const signed = (key: NoteKey) => signatures.some((one) => isSame(one.key, key))
    const must = this.#keysAt(size)
    for (const type of [1, 6] as const) {
      const isSigned = must.some((key) => key.type === type && signed(key))
      if (!isSigned) this.#found(size, this.#whyNot(size, type, signatures))
    }
    const handOver = this.#firstHeads.get(size)
    for (const key of handOver?.previousKeys ?? []) {
      if (!signed(key)) this.#found(size, `the ${algorithms[key.type]} key that handed the log over did not sign it`)
    }
    const stated = signatures.find(({ key }) => key.type === 6 && must.some((one) => isSame(one, key)))?.atMs
    if (stated !== undefined && stated !== Math.floor(signedAtMs / 1000) * 1000) {
      this.#found(size, 'its row names another time than its signature')
    }
  }

  /** Returns the keys of which one of each kind must have signed a head of this size. */
  #keysAt(size: number): readonly NoteKey[] {
    const last = this.#handOvers.findLast(({ seq }) => seq <= size)
    return last?.keys ?? this.#handOvers[0]?.previousKeys ?? [...this.#keys.present, ...this.#keys.others]
  }

  #whyNot(size: number, type: 1 | 6, signatures: readonly KnownSignature[]): string {
    const handOver = this.#firstHeads.get(size)
    if (handOver) return `the ${algorithms[type]} key to which leaf ${handOver.seq} hands the log over did not sign it`
    return signatures.some(({ key }) => key.type === type)
      ? `its ${algorithms[type]} signature is by a key that the log did not have at this size`
      : `its ${algorithms[type]} signature is by no key that this log has had`
  }

  #found(size: number, what: string): void {
    this.#findings.add(nameOfHead(this.#log, size), what)
  }
}

const isSame = (one: NoteKey, other: NoteKey) =>
  one.name === other.name && one.type === other.type && one.publicKey.equals(other.publicKey)

function distinct(keys: readonly NoteKey[]): NoteKey[] {
  return keys.filter((key, i) => keys.findIndex((other) => isSame(key, other)) === i)
}
