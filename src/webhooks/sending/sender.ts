import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { Recent } from '../../auth/index.ts'
import { errorCode, errorMessage } from '../../platform/faults.ts'
import { answerBounds, type Clock, outsideHttpsRequest } from '../../platform/index.ts'
import type { WebhookSettings } from '../settings.ts'
import { hostOf } from './address-guard.ts'
import { excerptOf, excerptSourceBytes } from './excerpt.ts'
import type { GuardedAgents } from './guarded-agents.ts'
import { isOffline, rootsOf } from './offline.ts'
import { headersOf, type Secrets, type SignedMessage } from './signature.ts'
import type { Uplink } from './uplink.ts'

/** How an attempt ended. */
export type Outcome =
  | {
      readonly kind: 'delivered'
      readonly status: number
      /** The beginning of the answer's body. */
      readonly answer?: string | null
      readonly durationMs: number
    }
  | {
      readonly kind: 'failed'
      /** HTTP status; null when there was no answer. */
      readonly status: number | null
      /** One line for the admin. */
      readonly error: string
      /** The answer's Retry-After. */
      readonly retryAfter?: string | undefined
      /** The beginning of the answer's body, if there was one. */
      readonly answer?: string | null
      /** To the answer's headers, or to the failure. */
      readonly durationMs: number
    }
  /** The gateway itself did not get out: says nothing about the endpoint. `error` as above. */
  | { readonly kind: 'offline'; readonly status: null; readonly error: string; readonly durationMs: number }

/** The gateway gave it up itself, because it is stopping: says nothing about the endpoint. */
export type Abandoned = { readonly kind: 'abandoned' }

type Answer = { status: number; retryAfter: string | undefined; atMs: number; answer?: string | null }
/** An answer whose body has not been read. */
type Head = { response: IncomingMessage; atMs: number }
type Failure = { error: string; offline: boolean; connectionWasOld: boolean; atMs: number }

/** Where to send: an address that was read already, and whether its host is a name, for which there may be a resolver to wait. */
type Target = { readonly options: RequestOptions; readonly isName: boolean }

/** So many addresses are kept read; a site has a few endpoints. */
const targetsKept = 200

/** Cuts an exchange; `abandon` calls it. Its effect depends on how far the exchange has come. */
type Cut = { now: () => void }

const nothing = () => {}

type SenderNeeds = {
  readonly clock: Clock
  readonly settings: () => WebhookSettings
  readonly version: string
  readonly agents: Pick<GuardedAgents, 'current' | 'destroy'>
  readonly uplink: Pick<Uplink, 'wasDown' | 'abandon'>
}

/** Sends one attempt of a delivery, and returns its outcome. It has no database and does not retry. */
export class Sender {
  readonly #needs: SenderNeeds
  readonly #underWay = new Set<Cut>()
  readonly #targets = new Recent<Target>(targetsKept)

  constructor(needs: SenderNeeds) {
    this.#needs = needs
  }

  /**
   * Signs and sends, and waits for the answer's headers. Never rejects: whatever happens is an outcome. A connection
   * that was kept from an earlier attempt and turns out to be closed is replaced once: that is no failure of the receiver.
   */
  async send(url: string, message: SignedMessage, secrets: Secrets): Promise<Outcome | Abandoned> {
    const startedMs = this.#needs.clock.monotonic()
    const headers = headersOf(message, secrets, this.#needs.version, this.#needs.clock.now())
    let result = await this.#exchange(url, headers, message.body, secrets)
    if (result !== undefined && 'connectionWasOld' in result && result.connectionWasOld) {
      result = await this.#exchange(url, headers, message.body, secrets)
    }
    if (result === undefined) return { kind: 'abandoned' }
    return this.#judge(outcomeOf(result, Math.round(result.atMs - startedMs)), startedMs)
  }

  /**
   * A missing answer while the gateway itself was cut off is no failure of the receiver. A router's refusal, the certificate of a
   * captive portal and silence are alike in this.
   */
  async #judge(outcome: Outcome, startedMs: number): Promise<Outcome | Abandoned> {
    if (outcome.kind !== 'failed' || outcome.status !== null) return outcome
    const wasDown = await this.#needs.uplink.wasDown(startedMs)
    if (wasDown === undefined) return { kind: 'abandoned' }
    if (!wasDown) return outcome
    const { error, durationMs } = outcome
    return { kind: 'offline', status: null, error: `${error}; no address of uplink.probes answers`, durationMs }
  }

  /** Cuts what is under way; its sends resolve as abandoned. */
  abandon(): void {
    for (const cut of [...this.#underWay]) cut.now()
    this.#needs.uplink.abandon()
    this.#needs.agents.destroy()
  }

  async #exchange(
    url: string,
    headers: Record<string, string>,
    body: Uint8Array,
    secrets: Secrets,
  ): Promise<Answer | Failure | undefined> {
    const cut: Cut = { now: nothing }
    this.#underWay.add(cut)
    try {
      const { options, isName } = this.#targetOf(url)
      const request = this.#request(options, headers, body)
      const result = await answerTo(request, {
        clock: this.#needs.clock,
        timeoutMs: this.#needs.settings().timeoutMs,
        cut,
        isName,
      })
      if (result === undefined || 'error' in result) return result
      const { response, atMs } = result
      const beginning = await readAway(request, response, this.#needs.clock, cut)
      const retryAfter = response.headers['retry-after']
      return { status: response.statusCode ?? 0, retryAfter, atMs, answer: excerptOf(beginning, secrets) }
    } catch (error) {
      return { error: describe(error), offline: false, connectionWasOld: false, atMs: this.#needs.clock.monotonic() }
    } finally {
      this.#underWay.delete(cut)
    }
  }

  #targetOf(url: string): Target {
    const known = this.#targets.get(url)
    if (known) return known
    const read = new URL(url)
    const target = { options: urlToHttpOptions(read), isName: isIP(hostOf(read)) === 0 }
    this.#targets.set(url, target)
    return target
  }

  /** Follows no redirect and unpacks nothing: the body of an answer is only looked at. */
  #request(target: RequestOptions, headers: Record<string, string>, body: Uint8Array): ClientRequest {
    const request = outsideHttpsRequest({
      ...target,
      method: 'POST',
      headers: { ...headers, 'Content-Length': body.length },
      agent: this.#needs.agents.current(),
    })
    request.end(body)
    return request
  }
}

function outcomeOf(result: Answer | Failure, durationMs: number): Outcome {
  if ('error' in result) {
    return { kind: result.offline ? 'offline' : 'failed', status: null, error: result.error, durationMs }
  }
  const { status, retryAfter, answer = null } = result
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer, durationMs }
  const error = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`
  return { kind: 'failed', status, error, retryAfter, answer, durationMs }
}

type Exchange = {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly cut: Cut
  /** Whether the endpoint is given by name: then there may be a resolver to wait for. */
  readonly isName: boolean
}

/**
 * The first of: headers, failure, deadline, cut (undefined). One deadline over name, connection, TLS and waiting,
 * which timeouts of sockets do not give. Except after headers, the connection is gone then.
 */
function answerTo(
  request: ClientRequest,
  { clock, timeoutMs, cut, isName }: Exchange,
): Promise<Head | Failure | undefined> {
  return new Promise((resolve) => {
    let isLookedUp = !isName
    const settle = (result: Head | Failure | undefined) => {
      cancel()
      // An error may come while the body is read, which has set another.
      if (cut.now === giveUp) cut.now = nothing
      if (!result || 'error' in result) request.destroy()
      resolve(result)
    }
    const giveUp = () => settle(undefined)
    const fail = (error: string, offline: boolean, connectionWasOld = false) =>
      settle({ error, offline, connectionWasOld, atMs: clock.monotonic() })
    const cancel = clock.after(timeoutMs, () => {
      // Several silent resolvers in turn take longer than the time of an attempt; that is EAI_AGAIN on its way.
      fail(`no answer ${isLookedUp ? '' : 'from the resolver '}within ${timeoutMs / 1000} s`, !isLookedUp)
    })
    cut.now = giveUp
    request.once('socket', (socket) => {
      if (!socket.connecting) isLookedUp = true
      else socket.once('lookup', () => (isLookedUp = true))
    })
    request.once('response', (response) => settle({ response, atMs: clock.monotonic() }))
    // Stays for the life of the request: what goes wrong after the answer changes nothing any more.
    request.on('error', (error) => fail(describe(error), isOffline(error), wasClosedWhileIdle(request, error)))
  })
}

/** Reads the body to its end, so that the connection can be used again, or cuts it at the limits. Returns how it began. */
function readAway(request: ClientRequest, response: IncomingMessage, clock: Clock, cut: Cut): Promise<Uint8Array> {
  return new Promise((resolve) => {
    let size = 0
    let beginning = Buffer.alloc(0)
    let whole = false
    const stop = () => {
      cancel()
      cut.now = nothing
      if (!whole) request.destroy()
      resolve(beginning)
    }
    const cancel = clock.after(answerBounds.receiver.answerMs, stop)
    cut.now = stop
    response.on('data', (part: Uint8Array) => {
      size += part.length
      if (beginning.length < excerptSourceBytes)
        beginning = Buffer.concat([beginning, part.subarray(0, excerptSourceBytes - beginning.length)])
      if (size > answerBounds.receiver.bytes) stop()
    })
    response.once('end', () => {
      whole = true
      stop()
    })
    response.once('close', stop)
    response.on('error', stop)
  })
}

function wasClosedWhileIdle(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

/** Code and text of a failure in one line; for several addresses, the failure of each. */
function describe(error: unknown): string {
  const lines = rootsOf(error).length > 1 ? rootsOf(error).map(lineOf) : [lineOf(error)]
  return lines.join('; ').slice(0, 300)
}

/** A certificate of an authority that is not known here. The text of Node advises how to start Node. */
const isUntrusted = (code: string | undefined) =>
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/.test(code ?? '')

function lineOf(error: unknown): string {
  const code = errorCode(error)
  const message = errorMessage(error)
  if (isUntrusted(code))
    return `${code}: no authority that this gateway trusts signed its certificate; webhooks.caFile names more`
  const text = message.includes(code ?? '') ? message : `${code}: ${message}`
  return text.replace(/\s+/g, ' ').trim() || code || 'failed'
}
