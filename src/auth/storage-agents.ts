import { statSync } from 'node:fs'
import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import { readFileIfThere } from '../platform/index.ts'

export type StorageInstance = { readonly url: string; readonly caFile: string | null }

const plainAgent = new PlainAgent({ keepAlive: false })

/** Agents for storage servers: a new connection for each request, and the authorities of `caFile` alone where it is set. */
export class StorageAgents {
  readonly #agents = new Map<string, { readonly key: string; readonly agent: Agent }>()

  /** Returns what got takes as `agent`. Throws when `caFile` cannot be read. */
  of(instance: StorageInstance): { https: Agent } | { http: PlainAgent } {
    return instance.url.startsWith('https:') ? { https: this.#secure(instance) } : { http: plainAgent }
  }

  #secure({ url, caFile }: StorageInstance): Agent {
    const key = JSON.stringify([caFile, caFile && statSync(caFile, { throwIfNoEntry: false })?.ctimeMs])
    const known = this.#agents.get(url)
    if (known?.key === key) return known.agent
    const ca = caFile === null ? undefined : readFileIfThere(caFile)
    if (caFile !== null && !ca) throw new Error(`${caFile} does not exist`)
    const agent = new Agent({ keepAlive: false, rejectUnauthorized: true, ...(ca && { ca }) })
    this.#agents.set(url, { key, agent })
    return agent
  }
}
