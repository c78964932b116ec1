/**
 * The load generator, a separate process: so many clients on separate connections, each with its next request
 * as soon as the last one is answered.
 */
import autocannon from 'autocannon'
import { quantile } from './statistics.ts'
import { answering } from './workshop.ts'

export type Load = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Dealt out to the clients, pair by pair; each sends its own in turn, over and over. */
  readonly bodies?: readonly string[]
  /** Whether each request has its own Idempotency-Key. */
  readonly keyed?: boolean
  /** The CA that an https address is checked against, PEM. */
  readonly ca?: string
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

answering(async ({ url, method, headers: given, bodies = [], keyed = false, ca, clients, seconds }: Load) => {
  const headers = keyed ? { ...given, 'Idempotency-Key': '[<id>]' } : given
  const hands = Array.from({ length: clients }, (_, client) =>
    bodies.filter((_body, i) => Math.floor(i / 2) % clients === client).map((body) => ({ method, headers, body })),
  )
  const run = autocannon({
    url,
    method,
    headers,
    idReplacement: keyed,
    connections: clients,
    ...(ca !== undefined && { tlsOptions: { ca } }),
    duration: seconds,
    // Whole requests made beforehand: what the generator does meanwhile is missing to what it measures.
    setupClient: (client) => {
      const hand = hands.pop()
      if (hand && hand.length > 0) client.setRequests(hand)
    },
  })
  const times: number[] = []
  run.on('response', (_client, _status, _bytes, ms) => times.push(ms))
  const done = await run
  return {
    answers: done['2xx'],
    failures: done.non2xx + done.errors,
    perSecond: done['2xx'] / done.duration,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
})
