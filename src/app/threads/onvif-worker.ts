/** The thread that speaks ONVIF. It may be ended at any moment; its earlier messages count. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../platform/index.ts'
import { type OnvifNews, type OnvifTask, onvifClient } from '../../video/index.ts'

const tell = (news: OnvifNews) => parentPort?.postMessage(news)

void onvifClient(systemClock).then(async (client) => {
  tell({ kind: 'begun' })
  await client(workerData as OnvifTask, tell)
  tell({ kind: 'done' })
})
