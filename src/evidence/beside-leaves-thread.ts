import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { databaseFile } from '../database/index.ts'
import { workerEntry } from '../platform/bundle.ts'
import type { BesideLeaves } from './beside-leaves.ts'

/** A smaller file is checked sooner than a thread has started. */
const worthAThreadBytes = 16 * 1024 * 1024
/** These limit JavaScript alone; SQLite's memory is separate. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 }

export type RunningCheck = {
  /** Resolves with the result. Rejects when the thread could not do it, such as for want of memory. */
  readonly found: Promise<BesideLeaves>
  /** Ends the thread. */
  stop(): Promise<unknown>
}

/** Begins `checkBesideLeaves` in a separate thread. Returns undefined for a ledger that is not worth it. */
export function beginCheckBesideLeaves(dataDir: string): RunningCheck | undefined {
  const bytes = statSync(databaseFile(dataDir), { throwIfNoEntry: false })?.size ?? 0
  if (bytes < worthAThreadBytes) return undefined
  const worker = new Worker(workerEntry('beside-leaves'), { workerData: dataDir, resourceLimits })
  const found = new Promise<BesideLeaves>((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(new Error(`the thread that checks the database file, texts and people failed: ${why}`, { cause }))
    worker.once('message', resolve)
    worker.once('error', (error) => fail(error.message, error))
    worker.once('exit', () => fail('it ended too soon'))
  })
  return { found, stop: () => worker.terminate() }
}
