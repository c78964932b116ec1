import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/platform/index.ts'
import { type Received, startReceiver } from '../../test/support/receiver.ts'
import { type Figure, millis, thousands } from './figure.ts'
import { openRooms } from './rooms.ts'
import { furnish, keepPhoto, turn } from './seed.ts'
import { serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf } from './site.ts'
import { quantile } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const slots = 500
const eventsPerSecond = 50
const seconds = 6
const lastOneMs = 10_000
const secret = 'a secret that both know'

/** From the answer of a POST to the arrival of its webhook over HTTPS on loopback, at a steady pace. */
export async function measureWebhooks(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('webhooks')
  const rooms = openRooms(stateOf(folder), systemClock)
  await furnish(rooms, slots, slots)
  const photoUrl = await keepPhoto(rooms)
  rooms.close()
  const arrivals = new Map<unknown, number>()
  const arrive = (request: Received) => {
    arrivals.set(request.event.data['id'], performance.now())
    return { status: request.signatureValid ? 204 : 401 }
  }
  const receiver = await startReceiver({ secret, behave: arrive })
  const caFile = join(folder, 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const known = { webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } }
  const gateway = await serveGateway(workshop, folder, await makeAccount(), known)
  try {
    const hook = { url: receiver.url, events: ['whms.placement', 'whms.removal'], secret }
    await post(`${gateway.url}/api/webhooks`, hook)
    const send = (n: number) => post(`${gateway.url}/api/whms/events`, turn(n, slots, photoUrl))
    const warmUp = await steadily(send, 0, eventsPerSecond)
    const answers = await steadily(send, warmUp.length, eventsPerSecond * seconds)
    await receiver.waitFor((_, all) => all.length >= warmUp.length + answers.length, lastOneMs)
    return [figureOf(answers, arrivals)]
  } finally {
    await gateway.end()
    await receiver.stop()
  }
}

type Answered = { readonly id: unknown; readonly atMs: number; readonly tookMs: number }

/** One request every 20 ms, whether the one before has been answered or not. */
async function steadily(send: (n: number) => Promise<Answered>, from: number, count: number): Promise<Answered[]> {
  const startedMs = performance.now()
  const answers: Promise<Answered>[] = []
  for (let i = 0; i < count; i += 1) {
    await pause(Math.max(0, startedMs + (i * 1000) / eventsPerSecond - performance.now()))
    answers.push(send(from + i))
  }
  return Promise.all(answers)
}

async function post(url: string, body: object): Promise<Answered> {
  const startedMs = performance.now()
  const response = await fetch(url, { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) })
  const atMs = performance.now()
  const answer = (await response.json()) as { id?: unknown }
  if (response.status !== 201) throw new Error(`${url} answered ${response.status}: ${JSON.stringify(answer)}`)
  return { id: answer.id, atMs, tookMs: atMs - startedMs }
}

function figureOf(answers: readonly Answered[], arrivals: ReadonlyMap<unknown, number>): Figure {
  // A webhook may be faster than the answer: both leave after the same commit.
  const delays = answers.map(({ id, atMs }) => Math.max(0, (arrivals.get(id) ?? Number.NaN) - atMs))
  const took = answers.map(({ tookMs }) => tookMs)
  const whole = answers.map(({ id, atMs, tookMs }) => (arrivals.get(id) ?? Number.NaN) - (atMs - tookMs))
  const numbers = {
    events: answers.length,
    delayP50Ms: quantile(delays, 0.5),
    delayP99Ms: quantile(delays, 0.99),
    answerP50Ms: quantile(took, 0.5),
    answerP99Ms: quantile(took, 0.99),
    wholeP50Ms: quantile(whole, 0.5),
    wholeP99Ms: quantile(whole, 0.99),
  }
  const pace = `${thousands(numbers.events)} events, ${eventsPerSecond} a second`
  return {
    id: 'webhook',
    what: 'From the answer to a POST to the arrival of its webhook, over HTTPS on loopback',
    value: null,
    unit: 'ms',
    raw: `p50 ${millis(numbers.delayP50Ms)}, p99 ${millis(numbers.delayP99Ms)}; ${pace}; the POST itself ${millis(numbers.answerP50Ms)} (p50), ${millis(numbers.answerP99Ms)} (p99), from its start to the arrival ${millis(numbers.wholeP50Ms)} (p50), ${millis(numbers.wholeP99Ms)} (p99)`,
    numbers,
  }
}
