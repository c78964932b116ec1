import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { certificate } from '../../test/support/receiver.ts'
import { answering } from './workshop.ts'

/** A request to the farm: open so many receivers, or report the received posts. */
export type FarmRequest = { readonly open: number } | { readonly tell: true }

export type Opened = { readonly urls: readonly string[]; readonly caPem: string }

export type FarmCounts = {
  /** Requests at all receivers together. */
  readonly received: number
  /** Different delivery ids among them. */
  readonly distinct: number
  /** The furthest that an event came from its place in the order. */
  readonly furthestFromPlace: number
}

const ids = new Set<unknown>()
let received = 0
let furthestFromPlace = 0

/** Receivers that do the least that a receiver does: read the body, look which one it is, say 204. */
answering<FarmRequest>(async (request) => {
  if ('tell' in request) return { received, distinct: ids.size, furthestFromPlace } satisfies FarmCounts
  const { key, cert } = await certificate()
  const urls: string[] = []
  for (let n = 0; n < request.open; n += 1) urls.push(await open(key, cert))
  return { urls, caPem: cert } satisfies Opened
})

async function open(key: string, cert: string): Promise<string> {
  let next = 0
  const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (incoming, response) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { data: { n: number } }
      furthestFromPlace = Math.max(furthestFromPlace, Math.abs(data.n - next))
      next += 1
      received += 1
      ids.add(incoming.headers['x-service-delivery'])
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}
