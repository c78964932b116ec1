/**
 * The load generator, a process of its own: so many clients on connections of their own, each with its next request
 * as soon as the last one is answered.
 */
import autocannon from 'autocannon'
import { quantile } from './statistics.ts'
import { answering } from './workshop.ts'

export type Load = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Sent one after the other by whichever client is free, from the first again after the last. */
  readonly bodies?: readonly string[]
  readonly clients: number
  readonly seconds: number
}

export type LoadResult = {
  readonly answers: number
  /** Answers other than 2xx, and connections that broke. */
  readonly failures: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Goes on where the last load ended, so that a pallet is put down and taken away in turns. */
const nextBody = new Map<string, number>()

answering(async (load: Load): Promise<LoadResult> => {
  const { url, method, headers, bodies, clients, seconds } = load
  const origin = new URL(url).origin
  let next = nextBody.get(origin) ?? 0
  const takeBody = () => {
    const body = bodies?.[next % bodies.length] ?? ''
    next += 1
    return body
  }
  const request = bodies ? { setupRequest: (one: object) => ({ ...one, body: takeBody() }) } : {}
  const run = autocannon({ url, method, headers, connections: clients, duration: seconds, requests: [request] })
  const times: number[] = []
  run.on('response', (_client: unknown, _status: number, _bytes: number, ms: number) => times.push(ms))
  const done = await run
  nextBody.set(origin, next)
  return {
    answers: done['2xx'],
    failures: done.non2xx + done.errors,
    perSecond: done['2xx'] / done.duration,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
})
