import { serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { median, timedUntilDone } from './statistics.ts'
import { cpuMs, memoryOf, type Workshop } from './workshop.ts'

export type Serving = {
  /** From the start of the process to its first answer. */
  readonly answeredAfterMs: number
  /** After the requests. Own: not pages of the database, which the kernel takes back when it needs them. */
  readonly ownBytes: number
  readonly residentBytes: number
  /** Processor time of the daemon for the list of all slots. */
  readonly listCpuMs: number
  /** Until a page of a hundred slots is answered. */
  readonly pageMs: number
}

const rounds = 20

/** Starts the daemon over the state in `folder`, reads all over it through the API, and looks at its memory. */
export async function measureServing(workshop: Workshop, folder: string): Promise<Serving> {
  const gateway = await serveGateway(workshop, folder, await makeAccount())
  const get = async (path: string) => {
    const response = await fetch(`${gateway.url}/api/whms/${path}`, { headers: signedIn })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
  for (let n = 0; n < rounds; n += 1) {
    await get('slots')
    for (let page = 0; page < rounds; page += 1) await get(`events?slot_id=${1 + n * rounds + page}&limit=50`)
  }
  const { answeredAfterMs } = gateway
  const memory = memoryOf(gateway.pid)
  const usedMs = cpuMs(gateway.pid)
  for (let n = 0; n < rounds; n += 1) await get('slots')
  const listCpuMs = (cpuMs(gateway.pid) - usedMs) / rounds
  const pages: number[] = []
  for (let n = 0; n < 2 * rounds; n += 1)
    pages.push(await timedUntilDone(() => get(`slots?limit=100&offset=${n * 100}`)))
  const serving = { answeredAfterMs, ...memory, listCpuMs, pageMs: median(pages) }
  await gateway.end()
  return serving
}
