import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, rounded, thousands } from './figure.ts'
import { prepareHall, turns } from './seed.ts'
import { serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf } from './site.ts'
import { type Workshop, writtenBytes } from './workshop.ts'

const slots = 1000
const eventsADay = 5000
/** A checkpoint every five minutes is one for so many events. */
const leavesACheckpoint = Math.round(eventsADay / 288)
const idleSeconds = 60
const mebi = 1024 * 1024

/**
 * Measures the bytes that the daemon writes for the events of a day. Each event is on disk before the next one, with as
 * many signed checkpoints as a day has. Also measures an idle daemon. The kernel counts them (`write_bytes`).
 */
export async function measureWear(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('wear')
  const bodies = turns(slots, await prepareHall(stateOf(folder), slots))
  const checkpoint = { every: '5m', leaves: leavesACheckpoint }
  const daemon = await serveGateway(workshop, folder, await makeAccount(), { evidence: { checkpoint } })
  await post(daemon.url, bodies.slice(0, 200))
  const beforeIdle = writtenBytes(daemon.pid)
  await pause(idleSeconds * 1000)
  const idle = ((writtenBytes(daemon.pid) - beforeIdle) * 86_400) / idleSeconds
  const before = writtenBytes(daemon.pid)
  await post(
    daemon.url,
    Array.from({ length: eventsADay }, (_, n) => bodies[(200 + n) % bodies.length] ?? ''),
  )
  const events = writtenBytes(daemon.pid) - before
  await daemon.end()
  if (events === 0) throw new Error(`nothing is written: ${folder} is on no disk`)
  return [
    {
      id: 'wear-events',
      what: `Written for ${thousands(eventsADay)} events in a day, without video`,
      value: (events + idle) / mebi,
      unit: 'MiB',
      // 10 GB a day for everything, of which clips are the most.
      target: { limit: 1024, sense: 'at most' },
      raw: `${rounded(events / eventsADay / 1024)} KiB an event, one after the other; ${rounded(idle / mebi)} MiB a day while nothing happens, from ${idleSeconds} s; the file system's own journal comes on top`,
      numbers: { eventsBytes: events, idleBytesADay: idle, events: eventsADay },
    },
  ]
}

async function post(url: string, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) {
    const answer = await fetch(`${url}/api/whms/events`, { method: 'POST', headers: jsonHeaders, body })
    if (answer.status !== 201) throw new Error(`an event answered ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
  }
}
