/** The thread for long reads (verification, later export and backup), so that the floor's requests never wait for them. */
import { parentPort } from 'node:worker_threads'
import { verifyLedger } from '../evidence/index.ts'
import type { JobAnswer, JobRequest } from './jobs.ts'

parentPort?.on('message', (request: JobRequest) => {
  parentPort?.postMessage(answer(request))
})

function answer({ id, dataDir }: JobRequest): JobAnswer {
  try {
    return { id, result: verifyLedger(dataDir) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
