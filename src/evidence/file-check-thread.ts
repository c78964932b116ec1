import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { FileProblem } from '../database/index.ts'
import { workerEntry } from '../platform/bundle.ts'

/** A smaller file is checked sooner than a thread has started. */
const worthAThreadBytes = 16 * 1024 * 1024
/** Of JavaScript alone: what SQLite takes is its own. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 }

export type FileCheck = {
  /** What was found; undefined when the thread could not do it, such as for want of memory. */
  readonly found: Promise<readonly FileProblem[] | undefined>
  /** Ends the thread. */
  stop(): Promise<unknown>
}

/**
 * Begins to check a database file in a thread of its own, which is a third of the work of a verification. Returns undefined for a
 * file that is not worth it.
 */
export function beginFileCheck(file: string): FileCheck | undefined {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < worthAThreadBytes) return undefined
  const worker = new Worker(workerEntry('file-check'), { workerData: file, resourceLimits })
  const found = new Promise<readonly FileProblem[] | undefined>((resolve) => {
    worker.once('message', resolve)
    worker.once('error', () => resolve(undefined))
    worker.once('exit', () => resolve(undefined))
  })
  return { found, stop: () => worker.terminate() }
}
