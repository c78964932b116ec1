import { statSync } from 'node:fs'
import { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'
import { readFileIfThere } from '../../platform/index.ts'

export type StorageInstance = { readonly url: string; readonly caFile: string | null }

/**
 * Agents for servers of the config, with the authorities of `caFile` alone where it is set. Each request gets a new connection.
 * With `idleMs` it reuses the connection of the previous request, if that is not older.
 */
export class StorageAgents {
  readonly #agents = new Map<string, { readonly key: string; readonly agent: Agent }>()
  readonly #keeping: { readonly keepAlive: boolean; readonly timeout?: number }
  readonly #plain: PlainAgent

  constructor({ idleMs }: { readonly idleMs?: number | undefined } = {}) {
    this.#keeping = idleMs === undefined ? { keepAlive: false } : { keepAlive: true, timeout: idleMs }
    this.#plain = new PlainAgent(this.#keeping)
  }

  /** Returns what got takes as `agent`. Throws when `caFile` cannot be read. */
  of(instance: StorageInstance): { https: Agent } | { http: PlainAgent } {
    return instance.url.startsWith('https:') ? { https: this.#secure(instance) } : { http: this.#plain }
  }

  /** Ends the connections that nothing uses. */
  close(): void {
    this.#plain.destroy()
    for (const { agent } of this.#agents.values()) agent.destroy()
  }

  #secure({ url, caFile }: StorageInstance): Agent {
    const key = JSON.stringify([caFile, caFile && statSync(caFile, { throwIfNoEntry: false })?.ctimeMs])
    const known = this.#agents.get(url)
    if (known?.key === key) return known.agent
    const ca = caFile === null ? undefined : readFileIfThere(caFile)
    if (caFile !== null && !ca) throw new Error(`${caFile} does not exist`)
    const agent = new Agent({ ...this.#keeping, rejectUnauthorized: true, ...(ca && { ca }) })
    known?.agent.destroy()
    this.#agents.set(url, { key, agent })
    return agent
  }
}
