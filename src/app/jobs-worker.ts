/** The thread for long reads (verification, reports), so that requests never wait for them. */
import { parentPort } from 'node:worker_threads'
import { databaseFile, executor, openReader } from '../database/index.ts'
import { verifyLedger } from '../evidence/index.ts'
import { type ComposedReport, composeReport, type ReportSpec } from '../governance/index.ts'
import type { JobAnswer, JobRequest, JobResult } from './jobs.ts'

parentPort?.on('message', (request: JobRequest) => {
  parentPort?.postMessage(answer(request))
})

function answer(request: JobRequest): JobAnswer {
  const { id, dataDir } = request
  try {
    return { id, result: run(request, dataDir) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

function run(request: JobRequest, dataDir: string): JobResult {
  switch (request.job) {
    case 'verify':
      return verifyLedger(dataDir)
    case 'report':
      return report(dataDir, request.told)
  }
}

function report(dataDir: string, spec: ReportSpec): ComposedReport {
  const db = openReader(databaseFile(dataDir))
  try {
    return composeReport(executor(db), spec)
  } finally {
    db.close()
  }
}
