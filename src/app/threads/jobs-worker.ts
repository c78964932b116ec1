/** The thread for long reads (verification, reports, backups), so that requests never wait for them. */

import { parentPort, workerData } from 'node:worker_threads'
import { makeBackup, rehearse, rehearseSegments, writeSegments } from '../../backup/index.ts'
import { databaseFile, executor, openReader } from '../../database/index.ts'
import { verifyWithOutsiders } from '../../evidence/index.ts'
import { type ComposedReport, composeReport, type ReportSpec } from '../../governance/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { type HeldFolders, holdAlso, systemRandom } from '../../platform/index.ts'
import { compareMotion, replayCells } from '../../video/index.ts'
import type { JobAnswer, JobRequest, JobResult, WhatIfSpec } from './jobs.ts'

holdAlso(workerData as HeldFolders)
parentPort?.on('message', (request: JobRequest) => {
  void answer(request).then((answered) => parentPort?.postMessage(answered))
})

async function answer(request: JobRequest): Promise<JobAnswer> {
  const { id, dataDir } = request
  try {
    return { id, result: await run(request, dataDir) }
  } catch (error) {
    return { id, error: errorMessage(error) }
  }
}

function run(request: JobRequest, dataDir: string): JobResult | Promise<JobResult> {
  switch (request.job) {
    case 'verify':
      return verifyWithOutsiders(dataDir, request.order.known, {
        part: request.order.part,
        mayLackFiles: request.order.mayLackFiles ?? false,
        onProgress: (share) => parentPort?.postMessage({ id: request.id, share }),
      })
    case 'report':
      return report(dataDir, request.order)
    case 'scores':
      return replayCells(request.order)
    case 'whatIf':
      return whatIf(request.order)
    case 'backup':
      return makeBackup(request.order, systemRandom)
    case 'segments':
      return writeSegments(request.order, systemRandom)
    case 'rehearseSegments':
      return rehearseSegments(request.order, systemRandom)
    case 'rehearse':
      return rehearse(request.order, systemRandom)
  }
}

async function whatIf({ spec, recorded }: WhatIfSpec) {
  const { motions, seen } = await replayCells(spec)
  return { ...compareMotion(motions, recorded, spec, seen), seen }
}

function report(dataDir: string, spec: ReportSpec): ComposedReport {
  const db = openReader(databaseFile(dataDir))
  try {
    return composeReport(executor(db), spec)
  } finally {
    db.close()
  }
}
