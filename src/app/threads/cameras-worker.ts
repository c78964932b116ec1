/**
 * The cameras thread: ingest, rings, scores and clips of all cameras. It has no database, so a slow disk never blocks
 * it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createLogger, freeSpace, holdAlso, makeFolderNow, systemClock, systemRandom } from '../../platform/index.ts'
// Not through the room config: its schema would take this thread 10 MiB of memory.
import { readSecretFile } from '../../platform/secrets/secret-file.ts'
import { CameraSet } from '../../video/index.ts'
import type { CamerasThreadData } from './cameras-thread.ts'

const { held, clipsFolder, historyFolder, cellsFolder, ffmpeg, logLevel, logFormat } = workerData as CamerasThreadData

holdAlso(held)
makeFolderNow(clipsFolder, 0o750)
const thread = new CameraSet({
  ffmpeg,
  clipsFolder,
  historyFolder,
  cellsFolder,
  freeBytes: () => freeSpace(clipsFolder).bytes,
  clock: systemClock,
  random: systemRandom,
  log: createLogger({ level: logLevel, format: logFormat, name: 'cameras' }),
  readSecret: (path) => readSecretFile(path),
  post: (message, handOver = []) => parentPort?.postMessage(message, handOver),
})
parentPort?.on('message', (message) => thread.receive(message))
