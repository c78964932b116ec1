import { statSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { type Logger, readFileIfThere } from '../../platform/index.ts'
import type { WebhookSettings } from '../settings.ts'

export type Trust = {
  /** Differs when the config names another file, or the file has changed. */
  readonly key: string
  /** Absent: the built-in authorities alone. */
  readonly secureContext: SecureContext | undefined
}

type AuthoritiesNeeds = { settings: () => WebhookSettings; log: Logger }

/** The authorities that the gateway trusts when it sends: the built-in ones and those of `webhooks.caFile`. */
export class Authorities {
  readonly #needs: AuthoritiesNeeds
  #trust: Trust | undefined

  constructor(needs: AuthoritiesNeeds) {
    this.#needs = needs
  }

  /** Returns the trusted authorities; reads the file again when it has changed. */
  current(): Trust {
    const { caFile } = this.#needs.settings()
    const key = JSON.stringify([caFile, caFile && changedAt(caFile)])
    if (this.#trust?.key !== key) this.#trust = { key, secureContext: this.#read(caFile) }
    return this.#trust
  }

  /** Returns undefined and logs an error when the file cannot be used; receivers with public certificates still work. */
  #read(caFile: string | undefined): SecureContext | undefined {
    if (caFile === undefined) return undefined
    try {
      const pem = readFileIfThere(caFile)
      if (!pem) throw new Error('no such file')
      return createSecureContext({ ca: [...getCACertificates('default'), pem] })
    } catch (error) {
      this.#needs.log.error({ err: error, caFile }, 'webhooks.caFile cannot be used; private receivers will fail')
      return undefined
    }
  }
}

function changedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ctimeMs
}
