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
  /** Processor time of the daemon for the list of all slots: after one slot has changed, and with no commit since the last list. */
  readonly listCpuMs: number
  readonly sameListCpuMs: number
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
  const change = async (n: number) => {
    const headers = { ...signedIn, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ constraints: { max_weight: 1000 + n } })
    const response = await fetch(`${gateway.url}/api/whms/slots/${1 + n * 37}`, { method: 'PUT', headers, body })
    if (response.status !== 200) throw new Error(`a change was answered ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
  const spent = async (work: (n: number) => Promise<void>) => {
    const usedMs = cpuMs(gateway.pid)
    for (let n = 0; n < rounds; n += 1) await work(n)
    return (cpuMs(gateway.pid) - usedMs) / rounds
  }
  // The first changes are slower than those behind them.
  await spent(change)
  const changeCpuMs = await spent((n) => change(rounds + n))
  const bothCpuMs = await spent(async (n) => {
    await change(2 * rounds + n)
    await get('slots')
  })
  const sameListCpuMs = await spent(() => get('slots'))
  const pages: number[] = []
  for (let n = 0; n < 2 * rounds; n += 1)
    pages.push(await timedUntilDone(() => get(`slots?limit=100&offset=${n * 100}`)))
  const serving = {
    answeredAfterMs,
    ...memory,
    listCpuMs: bothCpuMs - changeCpuMs,
    sameListCpuMs,
    pageMs: median(pages),
  }
  await gateway.end()
  return serving
}
