import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { envelopeOf } from './delivered-event.ts'
import { answering } from './workshop.ts'

export type PostsRequest = {
  readonly urls: readonly string[]
  readonly caPem: string
  /** To each address. */
  readonly count: number
  readonly atOnce: number
}

/** Posts with undici alone to the same receivers, over persistent connections, with nothing signed and nothing stored. */
answering<PostsRequest>(async ({ urls, caPem, count, atOnce }) => {
  const startedMs = performance.now()
  await Promise.all(urls.flatMap((url) => lanes(new URL(url), count, atOnce, caPem)))
  return { seconds: (performance.now() - startedMs) / 1000 }
})

function lanes({ origin, pathname }: URL, count: number, atOnce: number, caPem: string): Promise<void>[] {
  const pool = new Pool(origin, { connections: atOnce, connect: { ca: caPem } })
  let next = 0
  const lane = async () => {
    while (next < count) {
      const n = next
      next += 1
      const body = Buffer.from(JSON.stringify(envelopeOf(n)), 'utf8')
      const headers = { 'Content-Type': 'application/json', 'X-Service-Delivery': randomUUID() }
      const answer = await pool.request({ path: pathname, method: 'POST', body, headers })
      await answer.body.dump()
    }
  }
  return Array.from({ length: atOnce }, lane)
}
