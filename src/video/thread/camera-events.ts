import type { EventKind } from '../../config/index.ts'
import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { EventLink } from '../events/event-link.ts'
import { eventWords } from '../events/failures.ts'
import { type EventsView, RuleBook } from '../events/rule-book.ts'
import type { Credentials, Notice } from '../events/soap.ts'
import type { CameraSettings } from '../messages.ts'
import { neverBad, type Trouble } from '../motion/impairment.ts'
import { usualPlace } from '../onvif/messages.ts'

export type CameraEventsNeeds = {
  /** Returns the settings as they are now. */
  readonly settings: () => CameraSettings
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  readonly readSecret: (path: string) => string
  /** Takes what a rule has found, in a time on the monotonic clock. `isNew` is false while it goes on. */
  readonly onFound: (found: { readonly kinds: readonly EventKind[]; readonly motionMs: number }, isNew: boolean) => void
}

/** Motion that goes on is reported this often, well within the second after which it would be over. */
const goesOnMs = 500
const wrongTimes =
  'The events of the camera state times that cannot be, so the time of their arrival counts. Set the clock of the camera, by NTP.'

/** Hears the analytics of one camera, while its settings ask for it. */
export class CameraEvents {
  readonly #needs: CameraEventsNeeds
  readonly #book = new RuleBook()
  #link: EventLink | undefined
  /** Settings of the link that runs. */
  #linked = ''
  /** Credentials of the newest attempt. */
  #tried = ''
  readonly #ending = new Set<Promise<void>>()
  #trouble = neverBad
  #cancel = () => {}

  constructor(needs: CameraEventsNeeds) {
    this.#needs = needs
  }

  /** Returns what is heard; undefined while the analytics do not count. */
  get view(): EventsView | undefined {
    const { events } = this.#needs.settings()
    if (!this.#link || !events) return undefined
    const { view } = this.#link
    const problem = view.isUp ? null : view.problem
    const words = problem === null ? null : eventWords(problem)
    return {
      ...{ isUp: view.isUp, problem, rules: this.#book.seen(events.rules) },
      words: words ? `${words.what} ${words.hint}` : this.#book.hasWrongTimes ? wrongTimes : null,
    }
  }

  /** Whether no events come though motion is found by them alone, and since when. */
  get trouble(): Trouble {
    const { detecting, events } = this.#needs.settings()
    const isBad = detecting && events?.source === 'camera' && this.#link !== undefined && !this.#link.view.isUp
    if (isBad !== this.#trouble.isBad)
      this.#trouble = { isBad, sinceMs: this.#link?.view.sinceMs ?? this.#needs.clock.monotonic() }
    return this.#trouble
  }

  /** Begins, replaces or ends the subscription, as the settings want it. */
  run(): void {
    const { detecting, events, url, username, passwordFile } = this.#needs.settings()
    const wanted = detecting && events ? JSON.stringify([events.url, url, username, passwordFile]) : ''
    if (wanted === this.#linked) return
    this.#linked = wanted
    this.#end()
    if (wanted === '' || !events) return
    const { clock, random, log } = this.#needs
    this.#link = new EventLink({
      ...{ clock, random, log, url: events.url ?? usualUrl(url) },
      credentials: () => {
        this.#tried = JSON.stringify(this.#tryCredentials())
        return this.#credentials()
      },
      onNotices: (notices, offsetMs) => this.#take(notices, offsetMs),
      onChange: () => this.#changed(),
    })
  }

  /** Reads the password again: with another one, a wait ends. */
  recheckCredentials(): void {
    if (this.#link && JSON.stringify(this.#tryCredentials()) !== this.#tried) this.#link.retry()
  }

  /** Ends a wait, so that the next attempt begins now. */
  retry(): void {
    this.#link?.retry()
  }

  /** Ends the subscription. Resolves when the camera was informed, or after two seconds. */
  async stop(): Promise<void> {
    this.#linked = ''
    this.#end()
    await Promise.all(this.#ending)
  }

  #end(): void {
    this.#cancel()
    this.#book.forgetStates()
    const ended = this.#link?.stop()
    this.#link = undefined
    if (!ended) return
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  #tryCredentials(): Credentials | null {
    try {
      return this.#credentials()
    } catch {
      return null
    }
  }

  #credentials(): Credentials | null {
    const { url, username, passwordFile } = this.#needs.settings()
    const within = new URL(url)
    if (username === null && within.username === '') return null
    if (username === null)
      return { username: decodeURIComponent(within.username), password: decodeURIComponent(within.password) }
    return { username, password: passwordFile === null ? '' : this.#needs.readSecret(passwordFile) }
  }

  #take(notices: readonly Notice[], offsetMs: number): void {
    const { clock, settings, onFound } = this.#needs
    const { events } = settings()
    if (!events) return
    const moment = { monotonicMs: clock.monotonic(), wallMs: clock.now(), offsetMs }
    for (const found of this.#book.take(notices, moment, events.rules)) onFound(found, true)
    this.#goOn()
  }

  /** Without a subscription, no message says when something ends. */
  #changed(): void {
    if (!this.#link?.view.isUp) this.#book.forgetStates()
  }

  #goOn(): void {
    const { clock, onFound } = this.#needs
    this.#cancel()
    if (this.#book.on(clock.monotonic()).length === 0) return
    this.#cancel = clock.after(goesOnMs, () => {
      const kinds = this.#book.on(clock.monotonic())
      if (kinds.length > 0) onFound({ kinds, motionMs: clock.monotonic() }, false)
      this.#goOn()
    })
  }
}

/** ONVIF's device service, where nearly all cameras have it. */
function usualUrl(stream: string): string {
  return `http://${new URL(stream).hostname}:${usualPlace.port}${usualPlace.path}`
}
