import type { ReadTx } from '../../database/index.ts'
import { checkpointCovering, type LogIdentity } from '../../log/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { type HandOverRow, handOversOf } from './hand-over.ts'
import { findNextKeys, type KeyPairs, LogSigner, loadLogKeys } from './keys.ts'

/** The keys of a box, by its files and its log together. */
export type HeldKeys = {
  /** They sign now. */
  readonly pairs: KeyPairs
  /** They sign the first checkpoint over their log-key leaf too; undefined while no rotation is under way. */
  readonly next: KeyPairs | undefined
  /**
   * Work that a crash has left with `keys/log-next.key`.
   * - `remove`: no leaf names its keys.
   * - `install`: the checkpoint over their leaf is signed.
   */
  readonly rest: 'nothing' | 'remove' | 'install'
  /** Whether the log was handed over to keys that are not here: the present keys must not sign it. */
  readonly areForeign: boolean
}

/**
 * Reads the keys of a data folder and compares them with the hand-overs in its log. Makes keys where there are none. Throws
 * ExitError when a file does not hold keys.
 */
export function heldKeys(tx: ReadTx, dataDir: string, log: LogIdentity): HeldKeys {
  return judgeKeys(tx, log, loadLogKeys(dataDir), findNextKeys(dataDir))
}

/** Decides what keys in the files mean, by the newest hand-over of the log. */
export function judgeKeys(tx: ReadTx, log: LogIdentity, pairs: KeyPairs, next: KeyPairs | undefined): HeldKeys {
  const newest = handOversOf(tx, log.number).at(-1)
  const origin = originOfLog(log)
  if (newest && next && isHandedTo(newest, origin, next)) {
    const isSigned = checkpointCovering(tx, log.number, newest.leaf_seq) !== undefined
    if (isSigned) return { pairs: next, next: undefined, rest: 'install', areForeign: false }
    return { pairs, next, rest: 'nothing', areForeign: !isHandedBy(newest, origin, pairs) }
  }
  const areForeign = newest !== undefined && !isHandedTo(newest, origin, pairs)
  return { pairs, next: undefined, rest: next ? 'remove' : 'nothing', areForeign }
}

/** Tells whether a hand-over names these keys as those that follow. */
export function isHandedTo({ ed25519, ml_dsa_44 }: HandOverRow, origin: string, pairs: KeyPairs): boolean {
  const [first, second] = new LogSigner(origin, pairs).vkeys
  return first === ed25519 && second === ml_dsa_44
}

function isHandedBy({ previous_ed25519, previous_ml_dsa_44 }: HandOverRow, origin: string, pairs: KeyPairs): boolean {
  const [first, second] = new LogSigner(origin, pairs).vkeys
  return first === previous_ed25519 && second === previous_ml_dsa_44
}
