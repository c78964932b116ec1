/** The thread that copies the write-ahead log into the database file, so that no commit has to wait for it. */
import { parentPort, workerData } from 'node:worker_threads'
import { openCheckpointer } from '../database/index.ts'

const checkpointer = openCheckpointer(workerData as string)

parentPort?.on('message', (wish: 'run' | 'close') => {
  if (wish === 'run') return parentPort?.postMessage(checkpointer.run())
  checkpointer.close()
  parentPort?.close()
})
