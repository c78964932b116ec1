import type { Config } from '../../config/index.ts'
import { ExitError } from '../../errors/index.ts'
import {
  Absence,
  Checkpoints,
  EvidenceClient,
  KeyRing,
  KeyRotation,
  keysOfBox,
  loadWitnessKey,
  outsidersOf,
  Proofs,
  PublishedLog,
  readVkey,
  TimeStamps,
  Witness,
  Witnesses,
} from '../../evidence/index.ts'
import type { Metrics } from '../../health/index.ts'
import { knownLogs } from '../../log/index.ts'
import type { Outside } from '../outside.ts'
import { Jobs } from '../threads/jobs.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedLedger } from './ledger.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'

const shortestIntervalMs = 1000

export type ComposedEvidence = ReturnType<typeof composeEvidence>

/** Builds the parts that outsiders check: signed checkpoints, tiles and proofs. */
export function composeEvidence(
  live: { config: Config },
  { clock, log, random, version }: Outside,
  parts: ComposedStorage & ComposedCallers & ComposedLedger & ComposedVideo,
  metrics: Pick<Metrics, 'witnessAsked' | 'stampAsked'>,
) {
  const { work, logRoom, audit, makeId, warehouse, ledger, detections } = parts
  const { dataDir } = live.config
  const jobs = new Jobs({ log, clock })
  const keys = new KeyRing({ work, log, logRoom, dataDir })
  /** Returns the verifier keys; nulls while a full disk keeps the first start from making them. */
  const vkeys = (): readonly [string, string] | readonly [null, null] => {
    try {
      return keys.signer.vkeys
    } catch (error) {
      if (error instanceof ExitError) throw error
      return [null, null]
    }
  }
  const checkpoints = new Checkpoints({
    ...{ work, clock, log, logRoom, dataDir, keys },
    settings: () => {
      const { every, leaves } = live.config.evidence.checkpoint
      return { everyMs: Math.max(every, shortestIntervalMs), leaves }
    },
    // A box that was restored has its photos and clips later; its log states the same without them.
    verify: () => jobs.verify(dataDir, { known: outsidersOf(live.config.evidence), mayLackFiles: true }),
  })
  const rotation = new KeyRotation({ work, clock, logRoom, audit, makeId, keys, checkpoints })
  const publishedLog = new PublishedLog({ work, logRoom, keys, hiddenFrom: (caller) => warehouse.hiddenFrom(caller) })
  const proofs = new Proofs({
    work,
    checkpoints,
    keysOf: (tx, number) => {
      const of = knownLogs(tx).find((one) => one.number === number) ?? logRoom.identity
      const { evidence, hub } = live.config
      const vkeysOfWitnesses = [...evidence.witnesses.map(({ vkey }) => vkey), ...(hub.vkey === null ? [] : [hub.vkey])]
      const witnessKeys = [...new Set(vkeysOfWitnesses)].flatMap((vkey) => readVkey(vkey) ?? [])
      return [...keysOfBox(tx, of, keys.signer.keys), ...witnessKeys]
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
    ...{ work, logRoom, warehouse, checkpoints, cameras: parts.configured, gaps: parts.gaps },
    signer: () => keys.signer,
    nowMs: () => parts.recorder.nowMs(),
    maxAgeMs: () => live.config.ledger.maxAge,
  })
  const signer = () => keys.signer
  return { jobs, signer, vkeys, checkpoints, rotation, publishedLog, proofs, witnesses, witness, timeStamps, absence }
}
