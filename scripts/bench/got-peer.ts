import { randomUUID } from 'node:crypto'
import { Agent } from 'node:https'
import got from 'got'
import { envelopeOf } from './delivered-event.ts'
import { answering } from './workshop.ts'

export type GotRequest = {
  readonly urls: readonly string[]
  readonly caPem: string
  /** To each address. */
  readonly count: number
  readonly atOnce: number
}

/** What got alone reaches: the same posts to the same receivers, kept connections, nothing signed and nothing written down. */
answering<GotRequest>(async ({ urls, caPem, count, atOnce }) => {
  const agent = new Agent({ keepAlive: true, ca: caPem })
  const startedMs = performance.now()
  await Promise.all(urls.flatMap((url) => lanes(url, count, atOnce, agent)))
  return { seconds: (performance.now() - startedMs) / 1000 }
})

function lanes(url: string, count: number, atOnce: number, agent: Agent): Promise<void>[] {
  let next = 0
  const lane = async () => {
    while (next < count) {
      const n = next
      next += 1
      const body = Buffer.from(JSON.stringify(envelopeOf(n)), 'utf8')
      const headers = { 'Content-Type': 'application/json', 'X-Service-Delivery': randomUUID() }
      await got.post(url, { body, headers, agent: { https: agent }, retry: { limit: 0 }, followRedirect: false })
    }
  }
  return Array.from({ length: atOnce }, lane)
}
