import type { Clock, SecretBox } from '../platform/index.ts'

export const acknowledgePath = '/acknowledge'

/** How long a link acknowledges; a later message of an escalation has a new one. */
const validMs = 4 * 60 * 60_000
const sealedFor = 'acknowledgement of an alert'

export type LinkClaim = { readonly alertId: number; readonly channel: string }
type Sealed = LinkClaim & { readonly untilMs: number }

type LinksNeeds = {
  readonly box: SecretBox
  /** Never goes back, so that a wrong clock brings no link back to life. */
  readonly clock: Pick<Clock, 'now'>
  readonly siteUrl: () => string
}

/** Makes and reads links that acknowledge one alert. An alert is acknowledged once, so a link works once. */
export class Links {
  readonly #needs: LinksNeeds

  constructor(needs: LinksNeeds) {
    this.#needs = needs
  }

  linkTo({ alertId, channel }: LinkClaim): string {
    const claim: Sealed = { alertId, channel, untilMs: this.#needs.clock.now() + validMs }
    const token = this.#needs.box.seal(JSON.stringify(claim), sealedFor).toString('base64url')
    return `${this.#needs.siteUrl()}${acknowledgePath}?signed=${token}`
  }

  /** Returns the claim of a token; undefined for a forged one and for one that has expired. */
  read(token: string): LinkClaim | undefined {
    try {
      const claim: Sealed = JSON.parse(this.#needs.box.open(Buffer.from(token, 'base64url'), sealedFor))
      return claim.untilMs > this.#needs.clock.now() ? claim : undefined
    } catch {
      return undefined
    }
  }
}
