import { Agent as HttpAgent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { answerBounds, type Clock, outsideRequest } from '../../platform/index.ts'
import { uplinkProbesOf, type WebhookSettings } from '../settings.ts'
import type { Authorities } from './authorities.ts'
import { type Resolve, sharedLookup } from './guarded-agent.ts'

/** A result of this age is used again, so that many failures of one moment ask once. */
const freshMs = 1000

/** Answer from the address of a probe. */
export type ProbeAnswer = {
  /** Under a certificate that was verified for the name asked for. */
  readonly isVerified: boolean
  readonly status: number
  readonly contentType: string | undefined
  /** The beginning of the body. */
  readonly beginning: string
}

/** Statuses of an intercepting proxy that has no connection itself. */
const proxyTroubles = [502, 503, 504]

/**
 * Returns whether an answer proves that the gateway is online. A captive portal answers everything with a redirect or a page, but
 * has no certificate for the name. Over HTTPS, any other answer than an intercepting proxy's trouble is a proof. Over plain HTTP,
 * only a 2xx that is no page is one: the 204 of the usual connectivity checks, or a line of text.
 */
export function provesUplink(answer: ProbeAnswer): boolean {
  if (answer.isVerified) return !proxyTroubles.includes(answer.status)
  if (answer.status < 200 || answer.status >= 300) return false
  return !/html/i.test(answer.contentType ?? '') && !answer.beginning.trimStart().startsWith('<')
}

type UplinkNeeds = {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly settings: () => WebhookSettings
  readonly authorities: Authorities
  readonly resolve: Resolve
}

/** Finds out whether the gateway itself is online, by asking the addresses of `uplink.probes`. */
export class Uplink {
  readonly #needs: UplinkNeeds
  readonly #lookup: LookupFunction
  #round: Promise<boolean | undefined> | undefined
  #last: { readonly isDown: boolean; readonly atMs: number } | undefined
  /** When all probes were last seen to fail. */
  #downMs = Number.NEGATIVE_INFINITY
  #giveUp = new AbortController()

  constructor(needs: UplinkNeeds) {
    this.#needs = needs
    this.#lookup = sharedLookup(needs.resolve)
  }

  /**
   * Resolves with whether the gateway is offline, or was at some time since `sinceMs` (monotonic); then failures meanwhile say
   * nothing about the endpoint. False without probes; undefined when given up by `abandon`.
   */
  async wasDown(sinceMs: number): Promise<boolean | undefined> {
    if (uplinkProbesOf(this.#needs.settings()).length === 0) return false
    if (this.#downMs >= sinceMs) return true
    if (this.#last && this.#needs.clock.monotonic() - this.#last.atMs <= freshMs) return this.#last.isDown
    this.#round ??= this.#ask().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  /** Gives up the probes under way. */
  abandon(): void {
    this.#giveUp.abort()
    this.#giveUp = new AbortController()
  }

  /** One round: the first probe that succeeds ends it. */
  async #ask(): Promise<boolean | undefined> {
    const { signal } = this.#giveUp
    const over = new AbortController()
    const cancel = this.#needs.clock.after(answerBounds.uplinkProbe.totalMs, () => over.abort())
    const cut = AbortSignal.any([signal, over.signal])
    try {
      await Promise.any(uplinkProbesOf(this.#needs.settings()).map((url) => this.#probe(url, cut)))
      return this.#seen(false)
    } catch {
      return signal.aborted ? undefined : this.#seen(true)
    } finally {
      cancel()
      over.abort()
    }
  }

  #seen(isDown: boolean): boolean {
    const atMs = this.#needs.clock.monotonic()
    this.#last = { isDown, atMs }
    if (isDown) this.#downMs = atMs
    return isDown
  }

  /** Resolves when the address proves the uplink; rejects otherwise. Uses a fresh connection. */
  async #probe(url: string, cut: AbortSignal): Promise<void> {
    const { secureContext } = this.#needs.authorities.current()
    const fresh = { keepAlive: false, lookup: this.#lookup }
    const request = outsideRequest(url, {
      agent: {
        http: new HttpAgent(fresh),
        https: new HttpsAgent({ ...fresh, ...(secureContext && { secureContext }) } as AgentOptions),
      },
      https: { rejectUnauthorized: true },
    })
    const answer = await answerOf(request, new URL(url).protocol === 'https:', cut)
    if (!provesUplink(answer)) throw new Error(`HTTP ${answer.status} is no proof`)
  }
}

/** The head and the beginning of the body; the connection is gone then. Rejects on any failure, or when it is cut. */
function answerOf(
  request: ReturnType<typeof outsideRequest>,
  isVerified: boolean,
  cut: AbortSignal,
): Promise<ProbeAnswer> {
  return new Promise<ProbeAnswer>((resolve, reject) => {
    const fail = (error: unknown) => {
      request.destroy()
      reject(error)
    }
    cut.addEventListener('abort', () => fail(new Error('no answer in time')), { once: true })
    if (cut.aborted) fail(new Error('no answer in time'))
    // Stays for the life of the request, which ends with an error when it is destroyed.
    request.on('error', fail)
    request.once('response', (response: { statusCode: number; headers: Record<string, string | undefined> }) => {
      let beginning = ''
      const done = () => {
        resolve({ isVerified, status: response.statusCode, contentType: response.headers['content-type'], beginning })
        request.destroy()
      }
      if (isVerified) return done()
      request.on('data', (part: Buffer) => {
        beginning += part.toString('latin1')
        if (beginning.length >= answerBounds.uplinkProbe.bytes) done()
      })
      request.once('end', done)
    })
  })
}
