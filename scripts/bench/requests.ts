import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { initTls } from '../../src/http/index.ts'
import { freePort } from '../demo-parts/ports.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import type { Load, LoadResult } from './load.ts'
import type { FarmRequest, Opened } from './receiver-farm.ts'
import { prepareHall, turns } from './seed.ts'
import { serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, signedIn, stateOf } from './site.ts'
import { median } from './statistics.ts'
import { cpuMs, type Workshop } from './workshop.ts'

const slots = 1000
const clients = 64
const rounds = 3
const secondsEach = 2

type Sample = LoadResult & { readonly cpuMicros: number }

/**
 * Measures the processor time of one request as the floor sends them, in a separate daemon. The requests are the state
 * of one slot, and an event with an Idempotency-Key while a webhook is registered. The webhook subscribes to other
 * events, so the figure holds the event and its notifications, and no delivery.
 */
export async function measureRequests(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('requests')
  const photoUrl = await prepareHall(stateOf(folder), slots)
  const farm = workshop.start('receiver-farm')
  const { urls, caPem } = await farm.ask<Opened>({ open: 1 } satisfies FarmRequest)
  const caFile = join(folder, 'receiver.pem')
  writeFileSync(caFile, caPem)
  const webhooks = { allowNetworks: ['127.0.0.0/8'], caFile }
  const { listen, ca } = await overTls(folder)
  const gateway = await serveGateway(workshop, folder, await makeAccount(), { webhooks, alsoListen: [listen] })
  const load = workshop.start('load')
  const take = async (asked: Omit<Load, 'seconds' | 'clients'>): Promise<Sample[]> => {
    const samples: Sample[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const usedMs = cpuMs(gateway.pid)
      const result = await load.ask<LoadResult>({ ...asked, clients, seconds: secondsEach } satisfies Load)
      if (result.failures > 0 || result.answers === 0) throw new Error(`${result.failures} failed at ${asked.url}`)
      // The first round fills caches.
      if (round > 0) samples.push({ ...result, cpuMicros: ((cpuMs(gateway.pid) - usedMs) * 1000) / result.answers })
    }
    return samples
  }
  const bodies = turns(slots, photoUrl)
  await register(gateway.url, urls[0] ?? '')
  const get = await take({ url: `${gateway.url}/api/whms/slots/1`, method: 'GET', headers: signedIn })
  const secureUrl = `https://127.0.0.1:${listen.port}/api/whms/slots/1`
  const getOverTls = await take({ url: secureUrl, method: 'GET', headers: signedIn, ca })
  const post = await take({
    url: `${gateway.url}/api/whms/events`,
    method: 'POST',
    headers: jsonHeaders,
    bodies,
    keyed: true,
  })
  await Promise.all([load.end(), farm.end(), gateway.end()])
  return [
    figureOf('get-slot', `Processor time of a GET of one slot, ${clients} clients`, get, 50),
    figureOf('get-slot-tls', `The same over TLS, ${clients} clients that keep their connections`, getOverTls),
    figureOf(
      'post-event',
      `Processor time of an event with an Idempotency-Key while a webhook is registered, ${clients} clients`,
      post,
      180,
    ),
  ]
}

/** A second address with a certificate of the box, as the floor's handhelds use it. */
async function overTls(folder: string) {
  const tls = { dir: join(folder, 'tls'), names: ['127.0.0.1'], days: 90, nowMs: Date.now(), force: false }
  const { certFile, keyFile, caFile = certFile } = await initTls(tls)
  const listen = { host: '127.0.0.1', port: await freePort(), tls: { certFile, keyFile } }
  return { listen, ca: readFileSync(caFile, 'utf8') }
}

async function register(url: string, receiver: string): Promise<void> {
  const hook = { url: receiver, events: ['incident.created'] }
  const response = await fetch(`${url}/api/webhooks`, {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify(hook),
  })
  if (response.status !== 201) throw new Error(`the webhook was answered ${response.status}: ${await response.text()}`)
}

function figureOf(id: string, what: string, samples: readonly Sample[], limit?: number): Figure {
  const of = (key: keyof Sample) => median(samples.map((one) => one[key]))
  const numbers = { cpuMicros: of('cpuMicros'), perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') }
  return {
    id,
    what,
    value: numbers.cpuMicros,
    unit: 'µs',
    ...(limit !== undefined && { target: { limit, sense: 'at most' } }),
    raw: `${rounded(numbers.cpuMicros)} µs; ${thousands(numbers.perSecond)} a second, answered in ${millis(numbers.p50Ms)} (p50), ${millis(numbers.p99Ms)} (p99)`,
    numbers,
  }
}
