import { serveGateway } from './served.ts'
import { makeAccount, signedIn } from './site.ts'
import { memoryOf, type Workshop } from './workshop.ts'

export type Serving = {
  /** From the start of the process to its first answer. */
  readonly answeredAfterMs: number
  /** After the requests. Own: not pages of the database, which the kernel takes back when it needs them. */
  readonly ownBytes: number
  readonly residentBytes: number
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
  const serving = { answeredAfterMs, ...memoryOf(gateway.pid) }
  await gateway.end()
  return serving
}
