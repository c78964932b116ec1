import { backoffMs } from '../../flow/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { EventService } from './event-service.ts'
import { EventFailure, type EventProblem, type Failures, waitMs } from './failures.ts'
import type { Credentials, Notice } from './soap.ts'

export type EventLinkNeeds = {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  /** The device service of the camera. */
  readonly url: string
  /** Read before each subscription. Throws when the password cannot be read. */
  readonly credentials: () => Credentials | null
  /** Takes events in their order; `offsetMs`: the camera's clock minus ours. */
  readonly onNotices: (notices: readonly Notice[], offsetMs: number) => void
  /** Called when the subscription begins or ends. */
  readonly onChange: () => void
}

/** Since `sinceMs` (monotonic). `problem`: why there is no subscription; null before the first attempt has ended. */
export type LinkView =
  | { readonly isUp: true; readonly sinceMs: number }
  | { readonly isUp: false; readonly sinceMs: number; readonly problem: EventProblem | null }

const none: Failures = { inRow: 0, refusals: 0 }
/** A subscription that was well for so long has ended the failures before it. */
const provenMs = 15_000
/** A subscription is renewed when this share of its life is over. */
const renewAfter = 0.5
/** Some cameras answer each pull at once, with nothing. */
const emptyWait = { firstMs: 250, longestMs: 2000 }
const leastPullMs = 250
/** A camera holds a pull for so long when it has nothing to report. The first one shows whether the subscription is good. */
const pullSeconds = 10
const firstPullSeconds = 1

/** Keeps one subscription at a camera. It asks one question at a time, and waits longer after each failure. */
export class EventLink {
  readonly #needs: EventLinkNeeds
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  #view: LinkView
  #failures: Failures = none
  #endWait = () => {}

  constructor(needs: EventLinkNeeds) {
    this.#needs = needs
    this.#view = { isUp: false, sinceMs: needs.clock.monotonic(), problem: null }
    this.#running = this.#run()
  }

  get view(): LinkView {
    return this.#view
  }

  /** Ends a wait, so that the next attempt begins now. */
  retry(): void {
    this.#failures = none
    this.#endWait()
  }

  /** Ends the subscription. Resolves when the camera was informed, or after two seconds. */
  async stop(): Promise<void> {
    this.#ended.abort()
    this.#endWait()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      const failure = await this.#once()
      if (signal.aborted) return
      const { problem } = failure
      const { inRow, refusals } = this.#failures
      this.#failures = { inRow: inRow + 1, refusals: refusals + (problem === 'refused' ? 1 : 0) }
      this.#lost(failure)
      const [byte = 0] = this.#needs.random(1)
      await this.#pause(waitMs(problem, this.#failures, byte / 256))
    }
  }

  /** Holds one subscription until it fails, or the link ends. Never rejects. */
  async #once(): Promise<EventFailure> {
    const { clock, random, url } = this.#needs
    const { signal } = this.#ended
    let service: EventService | undefined
    try {
      service = new EventService({ clock, random, url, credentials: this.#credentials() })
      await this.#hold(service, signal)
      return new EventFailure('forgotten', 'the link has ended')
    } catch (error) {
      return error instanceof EventFailure ? error : new EventFailure('unreadable', errorMessage(error))
    } finally {
      await service?.unsubscribe()
    }
  }

  async #hold(service: EventService, signal: AbortSignal): Promise<void> {
    const { clock, onNotices } = this.#needs
    let livesMs = await service.subscribe(signal)
    const beganMs = clock.monotonic()
    let renewedMs = beganMs
    let mayRenew = true
    for (let empty = 0; !signal.aborted; ) {
      const askedMs = clock.monotonic()
      const notices = await service.pull(this.#view.isUp ? pullSeconds : firstPullSeconds, signal)
      // Some cameras give out subscriptions and know none of them.
      if (!this.#view.isUp) this.#change({ isUp: true, sinceMs: clock.monotonic() })
      if (notices.length > 0) onNotices(notices, service.offsetMs)
      const nowMs = clock.monotonic()
      if (nowMs - beganMs >= provenMs) this.#failures = none
      if (mayRenew && nowMs - renewedMs >= livesMs * renewAfter) {
        // Cameras that cannot renew prolong a subscription with each pull, or end it; then it is made anew.
        livesMs = await service.renew(signal).catch(() => {
          mayRenew = false
          return livesMs
        })
        renewedMs = nowMs
      }
      const tookMs = nowMs - askedMs
      empty = notices.length === 0 && tookMs < emptyWait.longestMs ? Math.min(empty + 1, 16) : 0
      const leastMs = empty === 0 ? leastPullMs : backoffMs(emptyWait, empty)
      if (tookMs < leastMs) await this.#pause(leastMs - tookMs)
    }
  }

  #credentials(): Credentials | null {
    try {
      return this.#needs.credentials()
    } catch (error) {
      throw new EventFailure('password-unreadable', errorMessage(error))
    }
  }

  #lost({ problem, message }: EventFailure): void {
    const before = this.#view
    if (before.isUp || before.problem !== problem)
      this.#needs.log.warn({ problem, why: message }, 'the camera gives no events by ONVIF; it is asked again')
    const sinceMs = before.isUp ? this.#needs.clock.monotonic() : before.sinceMs
    this.#change({ isUp: false, sinceMs, problem })
  }

  #change(view: LinkView): void {
    this.#view = view
    this.#needs.onChange()
  }

  #pause(ms: number): Promise<void> {
    if (this.#ended.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#needs.clock.after(ms, resolve)
      this.#endWait = () => {
        cancel()
        resolve()
      }
    })
  }
}
