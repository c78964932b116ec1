import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, millis, rounded } from './figure.ts'
import type { Load, LoadResult } from './load.ts'
import { makeAccount, signedIn, writeConfig } from './site.ts'
import type { LoopDelay, Watch } from './watched-gateway.ts'
import type { Workshop } from './workshop.ts'

const idleMs = 2000
const listSeconds = 4

/** How long the gateway in `folder` lets others wait while one client after the other gets the list of all slots. */
export async function measureEventLoop(workshop: Workshop, folder: string): Promise<Figure[]> {
  const gateway = workshop.start('watched-gateway')
  const load = workshop.start('load')
  const ask = <Answer>(watch: Watch) => gateway.ask<Answer>(watch)
  const list = async (url: string, seconds: number) =>
    load.ask<LoadResult>({
      url: `${url}/api/whms/slots`,
      method: 'GET',
      headers: signedIn,
      clients: 1,
      seconds,
    } satisfies Load)

  const { url } = await ask<{ url: string }>({ start: writeConfig(folder, await makeAccount()) })
  await list(url, 1)
  await pause(500)
  await ask({ readOff: true })
  await pause(idleMs)
  const idle = await ask<LoopDelay>({ readOff: true })
  const lists = await list(url, listSeconds)
  const busy = await ask<LoopDelay>({ readOff: true })
  if (lists.failures > 0 || lists.answers === 0) throw new Error(`${lists.failures} lists failed`)
  await Promise.all([gateway.end(), load.end()])
  return [figureOf(idle, busy, lists)]
}

function figureOf(idle: LoopDelay, busy: LoopDelay, lists: LoadResult): Figure {
  const delay = (of: LoopDelay) => `p99 ${millis(of.p99Ms)} (most ${millis(of.maxMs)})`
  return {
    id: 'event-loop',
    what: 'Event loop delay while all slots are listed without a pause, over idle',
    value: busy.p99Ms - idle.p99Ms,
    unit: 'ms',
    target: { limit: 5, sense: 'at most' },
    raw: `${delay(busy)}, idle ${delay(idle)}; ${rounded(lists.perSecond)} lists/s, each in ${millis(lists.p50Ms)} (p50)`,
    numbers: {
      idleP99Ms: idle.p99Ms,
      busyP50Ms: busy.p50Ms,
      busyP99Ms: busy.p99Ms,
      busyMaxMs: busy.maxMs,
      listsPerSecond: lists.perSecond,
      listP50Ms: lists.p50Ms,
    },
  }
}
