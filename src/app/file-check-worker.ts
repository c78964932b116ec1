/** The thread that checks a database file while another one recomputes its ledger. It does this once and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { executor, fileProblems, openReader } from '../database/index.ts'

const db = openReader(workerData as string)
try {
  parentPort?.postMessage(fileProblems(executor(db)))
} finally {
  db.close()
}
