import type { Config } from '../config/index.ts'
import { ExitError } from '../errors/index.ts'
import {
  Absence,
  Checkpoints,
  EvidenceClient,
  type KeyPairs,
  LogSigner,
  loadLogKeys,
  loadWitnessKey,
  originOfLog,
  Proofs,
  PublishedLog,
  readVkey,
  TimeStamps,
  Witness,
  Witnesses,
} from '../evidence/index.ts'
import type { Metrics } from '../health/index.ts'
import { knownLogs } from '../log/index.ts'
import type { ComposedCallers } from './compose-callers.ts'
import type { ComposedLedger } from './compose-ledger.ts'
import type { ComposedStorage } from './compose-storage.ts'
import type { ComposedVideo } from './compose-video.ts'
import { Jobs } from './jobs.ts'
import type { Outside } from './outside.ts'

const shortestIntervalMs = 1000

export type ComposedEvidence = ReturnType<typeof composeEvidence>

/** What outsiders can check: signed checkpoints, tiles and proofs. */
export function composeEvidence(
  live: { config: Config },
  { clock, log, random, version }: Outside,
  parts: ComposedStorage & ComposedCallers & ComposedLedger & ComposedVideo,
  metrics: Pick<Metrics, 'witnessAsked' | 'stampAsked'>,
) {
  const { work, logRoom, warehouse, ledger, detections } = parts
  const { dataDir } = live.config
  const jobs = new Jobs({ log, clock })
  let pairs: KeyPairs | undefined
  let ofGrowingLog: LogSigner | undefined
  const signerOf = (identity: { readonly siteId: string; readonly logId: string }) => {
    pairs ??= loadLogKeys(dataDir)
    return new LogSigner(originOfLog(identity), pairs)
  }
  const signer = () => {
    ofGrowingLog ??= signerOf(logRoom.identity)
    return ofGrowingLog
  }
  /** The verifier keys; nulls while a full disk keeps the first start from making them. */
  const vkeys = (): readonly [string, string] | readonly [null, null] => {
    try {
      return signer().vkeys
    } catch (error) {
      if (error instanceof ExitError) throw error
      return [null, null]
    }
  }
  const checkpoints = new Checkpoints({
    ...{ work, clock, log, logRoom, dataDir, signer },
    settings: () => {
      const { every, leaves } = live.config.evidence.checkpoint
      return { everyMs: Math.max(every, shortestIntervalMs), leaves }
    },
    verify: () => jobs.verify(dataDir),
  })
  const publishedLog = new PublishedLog({ work, logRoom, hiddenFrom: (caller) => warehouse.hiddenFrom(caller) })
  const proofs = new Proofs({
    work,
    checkpoints,
    keys: (tx, number) => {
      const of = knownLogs(tx).find((one) => one.number === number) ?? logRoom.identity
      const witnessKeys = live.config.evidence.witnesses.flatMap(({ vkey }) => readVkey(vkey) ?? [])
      return [...signerOf(of).keys, ...witnessKeys]
    },
    find: {
      event: (id, caller) => ledger.provable(id, caller),
      detection: (id, caller) => detections.provable(id, caller),
    },
  })
  const witnesses = new Witnesses({
    ...{ work, clock, random, log, logRoom, checkpoints },
    client: new EvidenceClient({ clock, version }),
    witnesses: () => live.config.evidence.witnesses,
    onAsked: (outcome) => metrics.witnessAsked(outcome),
  })
  const timeStamps = new TimeStamps({
    ...{ work, clock, random, log, checkpoints },
    client: new EvidenceClient({ clock, version }),
    authorities: () => live.config.evidence.timestamps,
    onAsked: (outcome) => metrics.stampAsked(outcome),
  })
  const witness = new Witness({
    ...{ work, clock, log },
    key: () => loadWitnessKey(dataDir),
    settings: () => live.config.witness,
  })
  const absence = new Absence({
    ...{ work, logRoom, warehouse, checkpoints, signer, cameras: parts.configured, gaps: parts.gaps },
    nowMs: () => parts.recorder.nowMs(),
    maxAgeMs: () => live.config.ledger.maxAge,
  })
  return { jobs, vkeys, checkpoints, publishedLog, proofs, witnesses, witness, timeStamps, absence }
}
