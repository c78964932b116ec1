import type { Kind } from './kinds.ts'
import type { Observation } from './troubles.ts'
import { durationWords } from './troubles.ts'

/** A witness that is asked. */
type WitnessSeen = {
  readonly name: string
  readonly trouble: { readonly finding: string; readonly words: string } | undefined
  readonly forMs: number
}

export function witnessObservations(witnesses: readonly WitnessSeen[]): Observation[] {
  return witnesses.map(({ name: own, trouble, forMs }) => {
    const name = `The witness ${own}`
    const wrong = trouble && {
      kind: witnessKind(trouble.finding),
      forMs,
      message: `${name} has not cosigned for ${durationWords(forMs)}: ${trouble.words}.`,
    }
    return { component: 'evidence', subject: own, name, wrong: wrong ?? null }
  })
}

/** State of the feed to the head office. */
type FeedSeen = {
  readonly url: string
  readonly trouble: { readonly finding: string; readonly words: string } | undefined
  readonly forMs: number
}

/** @param feed undefined without a head office */
export function hubObservations(feed: FeedSeen | undefined): Observation[] {
  if (!feed) return []
  const { url, trouble, forMs } = feed
  const name = `The head office ${url}`
  const message = `${name} has received nothing of the log for ${durationWords(forMs)}: ${trouble?.words}.`
  const wrong = trouble ? { kind: hubKind(trouble.finding), forMs, message } : null
  return [{ component: 'hub', subject: 'hub', name, wrong }]
}

function hubKind(finding: string): Kind {
  if (finding === 'ahead' || finding === 'forked') return 'hub.ahead'
  if (finding === 'unknown-key') return 'hub.other-keys'
  return finding === 'unreachable' || finding === 'unavailable' ? 'hub.unreachable' : 'hub.refuses'
}

function witnessKind(finding: string): Kind {
  if (finding === 'ahead' || finding === 'other-root') return 'witness.ahead'
  return finding === 'unreachable' || finding === 'unavailable' ? 'witness.unreachable' : 'witness.refuses'
}

/** @param authorities the configured time stamp authorities */
export function stampObservations(
  authorities: readonly { url: string; trouble: string | undefined; forMs: number }[],
): Observation[] {
  return authorities.map(({ url, trouble, forMs }) => {
    const name = `The time stamp authority ${url}`
    const message = `${name} has stamped nothing for ${durationWords(forMs)}: ${trouble}. Check evidence.timestamps; the next stamp covers this time.`
    const wrong = trouble === undefined ? null : { kind: 'timestamps.failing' as const, forMs, message }
    return { component: 'evidence', subject: url, name, wrong }
  })
}

/** @param logs those that have shown two roots for one size, with the size */
export function conflictObservations(logs: readonly { origin: string; size: number }[]): Observation[] {
  return logs.map(({ origin, size }) => {
    const name = `The log ${origin}`
    const message = `${name} has signed two different histories of ${size} leaves. Both checkpoints are kept in witness_conflict. Call its admin; the alert ends when its key is taken out of witness.logs.`
    return { component: 'evidence', subject: origin, name, wrong: { kind: 'witness.conflict', forMs: 0, message } }
  })
}

/** Observes whether the log is signed. `stopped`: why it is not; `not-written`: the last attempts failed. */
export function signingObservation(
  stopped: 'not-verified' | 'not-a-continuation' | 'other-keys' | 'not-written' | undefined,
): Observation {
  const found = {
    'not-verified':
      'The ledger does not verify, so its log was never signed. Run "gatehouse ledger verify", keep the files as they are, and restore a backup.',
    'not-a-continuation':
      'The log does not give the root that was signed last. Run "gatehouse ledger verify", keep the files as they are, and restore a backup.',
    'other-keys':
      'The log was handed over to keys that are not in keys/. Stop the gateway and put the folder back from a backup that was made after the last rotation; if there is none, run "gatehouse restore --accept-fork".',
    'not-written':
      'The last checkpoints could not be stored. Check owner and mode of the folder keys/ and the disk; the gateway tries again every minute, and the journal has the error.',
  }
  const message = `${stopped && found[stopped]} Events are recorded; proofs of new ones cannot be made.`
  const wrong = stopped === undefined ? null : { kind: 'log.unsigned' as const, forMs: 0, message }
  return { component: 'database', subject: 'log', name: 'The log', wrong }
}
