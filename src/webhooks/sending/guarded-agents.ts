import type { WebhookSettings } from '../settings.ts'
import { parseNetworks } from './address-guard.ts'
import type { Authorities } from './authorities.ts'
import { GuardedAgent, type Resolve } from './guarded-agent.ts'

type GuardedAgentsNeeds = {
  readonly settings: () => WebhookSettings
  readonly resolve: Resolve
  readonly authorities: Authorities
}

/** The agent of the current settings. */
export class GuardedAgents {
  readonly #needs: GuardedAgentsNeeds
  #agent: { readonly key: string; readonly agent: GuardedAgent } | undefined

  constructor(needs: GuardedAgentsNeeds) {
    this.#needs = needs
  }

  /** Returns one agent for as long as the settings and the file of authorities stay the same. */
  current(): GuardedAgent {
    const { allowNetworks } = this.#needs.settings()
    const { key: trusted, secureContext } = this.#needs.authorities.current()
    const key = JSON.stringify([allowNetworks, trusted])
    if (this.#agent?.key === key) return this.#agent.agent
    const agent = new GuardedAgent({ named: parseNetworks(allowNetworks), resolve: this.#needs.resolve, secureContext })
    this.#agent = { key, agent }
    return agent
  }

  /** Closes the connections of the agent. */
  destroy(): void {
    this.#agent?.agent.destroy()
    this.#agent = undefined
  }
}
