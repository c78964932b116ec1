import { answerBounds, type Clock, outsideRequest, type RandomBytes, wholeAnswer } from '../../platform/index.ts'
import { EventFailure, problemOfFault } from './failures.ts'
import {
  type Credentials,
  clockIn,
  envelope,
  eventPathIn,
  faultIn,
  lifetimeIn,
  livesSeconds,
  type Notice,
  noticesIn,
  pullWithin,
  type Question,
  questions,
  type Subscription,
  signature,
  subscriptionIn,
} from './soap.ts'
import { type Element, readTree } from './xml-tree.ts'

export type EventServiceNeeds = {
  readonly clock: Clock
  readonly random: RandomBytes
  /** The device service. */
  readonly url: string
  readonly credentials: Credentials | null
}

/** A subscription that ends must not keep the gateway from stopping. */
const farewellMs = 2000
/** The camera's answer leaves the fraction of the second out. */
const halfSecondMs = 500

/** Speaks to the event service of one camera. Each method rejects with an EventFailure. */
export class EventService {
  readonly #needs: EventServiceNeeds
  #eventsUrl: string
  #subscription: (Subscription & { readonly url: string }) | undefined
  #offsetMs = 0

  constructor(needs: EventServiceNeeds) {
    this.#needs = needs
    this.#eventsUrl = needs.url
  }

  /** The camera's clock minus ours, as it was when the subscription began. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** Subscribes to all events. Resolves with the time that the subscription lives. */
  async subscribe(signal: AbortSignal): Promise<number> {
    await this.#measureClock(signal)
    const offered = await this.#ask(this.#needs.url, questions.capabilities, signal)
    const path = eventPathIn(offered)
    if (path === undefined) throw new EventFailure('no-events', 'the camera names no event service')
    this.#eventsUrl = this.#at(path)
    const answer = await this.#ask(this.#eventsUrl, questions.subscribe, signal)
    const subscription = subscriptionIn(answer)
    if (!subscription) throw new EventFailure('unreadable', 'the answer names no subscription')
    const url = subscription.path === undefined ? this.#eventsUrl : this.#at(subscription.path)
    this.#subscription = { ...subscription, url }
    return lifetimeIn(answer) ?? livesSeconds * 1000
  }

  /** Waits for events. Resolves with none after so many seconds. */
  async pull(seconds: number, signal: AbortSignal): Promise<Notice[]> {
    return noticesIn(await this.#askSubscription(pullWithin(seconds), signal))
  }

  /** Resolves with the time that the subscription lives from now on. */
  async renew(signal: AbortSignal): Promise<number> {
    return lifetimeIn(await this.#askSubscription(questions.renew, signal)) ?? livesSeconds * 1000
  }

  /** Ends the subscription, if there is one. Never rejects: the camera ends it by itself too. */
  async unsubscribe(): Promise<void> {
    if (!this.#subscription) return
    const signal = new AbortController().signal
    await this.#askSubscription(questions.unsubscribe, signal, farewellMs).catch(() => {})
    this.#subscription = undefined
  }

  /** Digests state a time, which the camera compares with its own clock. */
  async #measureClock(signal: AbortSignal): Promise<void> {
    const { clock, url } = this.#needs
    const sentAt = clock.now()
    const cameraMs = clockIn(await this.#ask(url, questions.clock, signal, { isSigned: false }))
    const middle = (sentAt + clock.now()) / 2
    this.#offsetMs = cameraMs === undefined ? 0 : cameraMs + halfSecondMs - middle
  }

  #askSubscription(question: Question, signal: AbortSignal, totalMs?: number): Promise<Element> {
    const { url, reference } = this.#subscription ?? { url: this.#eventsUrl, reference: '' }
    return this.#ask(url, { ...question, reference }, signal, totalMs === undefined ? {} : { totalMs })
  }

  async #ask(
    to: string,
    question: Question,
    signal: AbortSignal,
    {
      isSigned = true,
      totalMs = answerBounds.onvifEvents.totalMs,
    }: { readonly isSigned?: boolean; readonly totalMs?: number } = {},
  ): Promise<Element> {
    const { clock, random, credentials } = this.#needs
    const token = credentials && isSigned ? signature(credentials, clock.now() + this.#offsetMs, random(16)) : ''
    const request = outsideRequest(to, {
      method: 'POST',
      headers: {
        'content-type': `application/soap+xml; charset=utf-8; action="${question.action}"`,
        // Many cameras close idle connections without a word, so each question has its own.
        connection: 'close',
      },
      body: envelope(question, to, token),
      // Cameras make their certificates themselves; credentials are sent as digests only.
      https: { rejectUnauthorized: false },
    })
    const limits = { bytes: answerBounds.onvifEvents.bytes, totalMs }
    const answer = await wholeAnswer(request, limits, { clock, signal })
    if (answer.kind === 'none')
      throw new EventFailure(answer.limit === 'bytes' ? 'too-large' : 'unreachable', answer.why)
    return readAnswer(answer.head.statusCode, answer.body)
  }

  /** A camera may name any host as the address of a service, so only its path is used. */
  #at(path: string): string {
    return new URL(path.replace(/^\/+/, '/'), this.#needs.url).href
  }
}

function readAnswer(status: number, body: Buffer): Element {
  if (status === 401) throw new EventFailure('refused', 'HTTP 401')
  if (status === 404) throw new EventFailure('no-events', 'HTTP 404')
  const tree = treeOf(body)
  const fault = tree && faultIn(tree)
  if (fault !== undefined) throw new EventFailure(problemOfFault(fault), fault.slice(0, 200))
  if (!tree || status !== 200) throw new EventFailure('unreadable', `HTTP ${status}, and no answer by SOAP`)
  return tree
}

function treeOf(body: Buffer): Element | undefined {
  try {
    return readTree(body.toString())
  } catch {
    return undefined
  }
}
