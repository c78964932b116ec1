import { errorMessage } from '../../../platform/faults.ts'
import { onSignedInAgain } from '../data/again.ts'
import { ask, gatewayNow, keepExactTime, Refused, Unreachable } from '../data/ask.ts'
import { Calm, layoutPace } from '../data/calm.ts'
import type { Heard } from '../data/heard.ts'
import { listen } from '../data/live.ts'
import { keysOf } from '../data/parsing.ts'
import type {
  Alert,
  Camera,
  Detection,
  Health,
  List,
  Permission,
  PlacementEvent,
  SignedIn,
  Slot,
  Warehouse,
  Webhook,
  Zone,
} from '../data/shapes.ts'
import { withStates } from '../data/verify-queue.ts'
import { floorTexts } from './floor-texts.ts'

const words = floorTexts.trouble

/**
 * The answers that the page has. A part is undefined until it was answered, and `absent` while the gateway answers 404 or
 * 403.
 */
export type Known = {
  readonly events?: List<PlacementEvent>
  readonly slots?: List<Slot>
  readonly zones?: List<Zone>
  readonly warehouses?: List<Warehouse>
  readonly cameras?: List<Camera>
  readonly detections?: List<Detection>
  readonly webhooks?: List<Webhook>
  readonly alerts?: List<Alert>
  readonly health?: Health
  readonly absent: ReadonlySet<Part>
  /** Undefined while all is well. */
  readonly trouble?: string
  /** Time of the last complete round, by the gateway's clock. */
  readonly updatedMs?: number
}

type Part = 'events' | 'slots' | 'zones' | 'warehouses' | 'cameras' | 'detections' | 'webhooks' | 'alerts' | 'health'

type Source = {
  readonly path: string
  readonly everyMs: number
  /** Interval while the stream sends changes. Default: `everyMs`. */
  readonly liveMs?: number
  readonly permission?: Permission
}

const beatMs = 5000

/** Interval for parts that the stream sends too, in case the stream or the page fails. */
const whileLiveMs = 600_000

/**
 * While the stream sends changes, about 15 requests a minute; without it about 40, below the usual limit of 100. Without
 * it, slots are requested after each new event, and at times without one, because an admin may change the plan.
 */
const sources: Record<Part, Source> = {
  events: { path: '/api/whms/events?limit=40', everyMs: beatMs, liveMs: whileLiveMs },
  slots: { path: '/api/whms/slots', everyMs: 6 * beatMs, liveMs: whileLiveMs },
  zones: { path: '/api/whms/zones', everyMs: 12 * beatMs, liveMs: whileLiveMs },
  warehouses: { path: '/api/whms/warehouses', everyMs: 12 * beatMs, liveMs: whileLiveMs },
  cameras: { path: '/api/iot/cctv', everyMs: 2 * beatMs, liveMs: 12 * beatMs, permission: 'cameras:read' },
  detections: {
    path: '/api/iot/detection-events?limit=5&trigger=all',
    everyMs: 2 * beatMs,
    permission: 'cameras:read',
  },
  webhooks: { path: '/api/webhooks', everyMs: 4 * beatMs, permission: 'webhooks:manage' },
  alerts: {
    path: '/api/alerts?acknowledged=false&limit=20',
    everyMs: 4 * beatMs,
    liveMs: whileLiveMs,
    permission: 'alerts:read',
  },
  health: { path: '/api/health', everyMs: 2 * beatMs },
}
const parts = keysOf(sources)
/** Parts that events change. */
const derived: readonly Part[] = ['slots']
const absentEveryMs = 12 * beatMs
const retryMs = [1000, 2000, beatMs] as const

/** A stream that does not start within this time may never start: the page begins to poll. */
const firstMs = 1500
/** Parts that layouts consist of. */
const layout: readonly Part[] = ['slots', 'zones', 'warehouses']
const mostEvents = 40

/** Follows the stream while the page is visible, polls the other parts, and reports all known answers. */
export class Feed {
  readonly #caller: SignedIn
  readonly #tell: (known: Known) => void
  readonly #signedOut: () => void
  readonly #due = new Map<Part, number>()
  #known: Known = { absent: new Set() }
  #timer: ReturnType<typeof setTimeout> | undefined
  #seen: string | undefined
  #failures = 0
  #round: Promise<void> | undefined
  #stopped = false
  #isLive = false
  #unlisten = () => {}
  #unwatch = () => {}
  /** The sign-in has ended: nothing is requested until somebody has signed in again. */
  #isOut = false
  readonly #relaid = new Calm(() => this.#readLayout(), layoutPace)
  #telling = 0
  /** Messages of the stream during a round: the answers of the round may be older. */
  #meanwhile: Heard[] = []
  #isStale = false

  constructor(options: { caller: SignedIn; tell: (known: Known) => void; signedOut: () => void }) {
    this.#caller = options.caller
    this.#tell = options.tell
    this.#signedOut = options.signedOut
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#look)
    addEventListener('online', this.#look)
    addEventListener('offline', this.#lost)
    this.#unlisten = listen(this.#hear)
    this.#unwatch = onSignedInAgain(this.#again)
    this.#timer = setTimeout(this.#look, firstMs)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#look)
    removeEventListener('online', this.#look)
    removeEventListener('offline', this.#lost)
    this.#relaid.stop()
    this.#unwatch()
    this.#unlisten()
  }

  /** Continues after a new sign-in: the floor stays as it was, and is requested again. */
  readonly #again = (): void => {
    if (!this.#isOut) return
    this.#isOut = false
    this.#due.clear()
    this.#unlisten = listen(this.#hear)
    this.#look()
  }

  /** Asks for these parts at once, for example after a change by this page. */
  refresh(...these: Part[]): void {
    for (const part of these) this.#due.delete(part)
    this.#look()
  }

  /** Asks for something at once: without a connection nothing else may be due. */
  readonly #lost = (): void => {
    this.#isLive = false
    this.#due.clear()
    this.#look()
  }

  readonly #hear = (heard: Heard): void => {
    if (heard.kind === 'lost') {
      if (this.#isLive) this.#lost()
      return
    }
    if (heard.kind === 'hello') {
      this.#isLive = true
      if (!heard.data.resumed) {
        this.#due.clear()
        this.#isStale = this.#round !== undefined
      }
      this.#look()
      return
    }
    if (this.#round) this.#meanwhile.push(heard)
    this.#known = afterHearing(this.#known, heard)
    if (heard.kind === 'event') this.#seen = idsOf(this.#known)
    if (heard.kind === 'floor' && heard.data.layoutChanged) this.#relaid.soon()
    this.#tellSoon()
  }

  /** A round under way may have read the layout before the change. */
  #readLayout(): void {
    if (this.#round) {
      this.#relaid.soon()
      return
    }
    for (const part of layout) this.#due.delete(part)
    this.#look()
  }

  /** Reports once for messages that come together. */
  #tellSoon(): void {
    cancelAnimationFrame(this.#telling)
    this.#telling = requestAnimationFrame(() => {
      if (this.#stopped) return
      this.#known = { ...this.#known, ...(this.#known.trouble === undefined && { updatedMs: gatewayNow() }) }
      this.#tell(this.#known)
    })
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer)
    if (this.#stopped || this.#isOut || document.hidden || this.#round) return
    this.#round = this.#askRound().then((waitMs) => {
      this.#round = undefined
      if (this.#isStale) this.#due.clear()
      const nextMs = this.#isStale ? 0 : waitMs
      this.#isStale = false
      if (!this.#stopped && !this.#isOut && !document.hidden) this.#timer = setTimeout(this.#look, nextMs)
    })
  }

  /** Asks one round. @returns milliseconds until the next one */
  async #askRound(): Promise<number> {
    try {
      await this.#askFor(parts.filter((part) => this.#isDue(part)))
      // All ids: a late event is new, but not the newest.
      const seen = idsOf(this.#known)
      if (seen !== this.#seen) {
        // Due until answered, also when this round fails.
        for (const part of derived) this.#due.delete(part)
        this.#seen = seen
        await this.#askFor(derived)
      }
      this.#failures = 0
      const { trouble: _, ...well } = this.#known
      this.#known = { ...well, updatedMs: gatewayNow() }
      return beatMs
    } catch (error) {
      return this.#failed(error)
    } finally {
      for (const heard of this.#meanwhile) this.#known = afterHearing(this.#known, heard)
      this.#meanwhile = []
      if (!this.#stopped) this.#tell(this.#known)
    }
  }

  #isDue(part: Part): boolean {
    const { permission } = sources[part]
    if (permission !== undefined && !this.#caller.permissions.includes(permission)) return false
    return (this.#due.get(part) ?? 0) <= performance.now()
  }

  /** Requests all parts at once. Stores the answers even when one part fails, and then throws that error. */
  async #askFor(these: readonly Part[]): Promise<void> {
    const answers = await Promise.allSettled(these.map((part) => this.#askPart(part)))
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (failure) throw failure.reason
  }

  async #askPart(part: Part): Promise<void> {
    const { path, everyMs, liveMs = everyMs } = sources[part]
    try {
      const answer = withKnownRows(this.#known[part], await ask<object>(path))
      // Half a beat earlier, because beats are never exactly equal.
      this.#due.set(part, performance.now() + (this.#isLive ? liveMs : everyMs) - beatMs / 2)
      this.#known = { ...this.#known, [part]: answer, absent: without(this.#known.absent, part) }
      if (part === 'health' && this.#known.health?.timestamp) keepExactTime(this.#known.health.timestamp)
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 404 && error.status !== 403)) throw error
      this.#due.set(part, performance.now() + absentEveryMs)
      this.#known = { ...this.#known, absent: new Set([...this.#known.absent, part]) }
    }
  }

  #failed(error: unknown): number {
    this.#failures += 1
    const waitMs = retryMs[Math.min(this.#failures, retryMs.length) - 1] ?? beatMs
    if (error instanceof Refused && error.isSignedOut) {
      this.#isOut = true
      this.#unlisten()
      this.#signedOut()
      return waitMs
    }
    if (error instanceof Refused && error.retryAfterSeconds > 0) {
      const what = error.status === 429 ? words.tooMany : error.message
      const trouble = `${what}. ${words.asksToWait(error.retryAfterSeconds)}.`
      this.#known = { ...this.#known, trouble }
      return error.retryAfterSeconds * 1000
    }
    const isLost = error instanceof Unreachable
    const trouble = isLost ? words.lost : words.cannotAnswer(errorMessage(error))
    this.#known = { ...this.#known, trouble }
    return waitMs
  }
}

const idsOf = ({ events }: Known): string | undefined => events?.data.map(({ id }) => id).join()

/** Returns the answers updated by a message of the stream. */
function afterHearing(known: Known, heard: Heard): Known {
  switch (heard.kind) {
    case 'floor':
      if (!known.slots || heard.data.slots.length === 0) return known
      return { ...known, slots: { ...known.slots, data: withStates(known.slots.data, heard.data.slots) } }
    case 'event': {
      if (!known.events) return known
      const others = known.events.data.filter(({ id }) => id !== heard.data.id)
      const data = [heard.data, ...others].toSorted((a, b) =>
        a.timestamp === b.timestamp ? b.id - a.id : a.timestamp < b.timestamp ? 1 : -1,
      )
      return { ...known, events: { ...known.events, data: data.slice(0, mostEvents) } }
    }
    case 'camera': {
      if (!known.cameras) return known
      const data = known.cameras.data.map((one) => (one.id === heard.data.id ? { ...one, ...heard.data } : one))
      return { ...known, cameras: { ...known.cameras, data } }
    }
    case 'alert': {
      if (!known.alerts) return known
      const others = known.alerts.data.filter(({ id }) => id !== heard.data.id)
      const data = heard.data.acknowledgedAt === null ? [heard.data, ...others] : others
      return { ...known, alerts: { ...known.alerts, data } }
    }
    case 'health':
      return { ...known, health: heard.data }
    default:
      return known
  }
}

type Row = { readonly id: number | string }

/** Returns the answer with unchanged rows as the same objects, so that they are not drawn again. */
function withKnownRows(before: object | undefined, answer: object): object {
  const [old, now] = [rowsOf(before), rowsOf(answer)]
  if (!old || !now) return answer
  const oldById = new Map(old.map((row) => [row.id, row]))
  const data = now.map((row) => {
    const known = oldById.get(row.id)
    return known && JSON.stringify(known) === JSON.stringify(row) ? known : row
  })
  const isSame = data.length === old.length && data.every((row, index) => row === old[index])
  return isSame && before ? before : { ...answer, data }
}

const rowsOf = (answer: object | undefined): readonly Row[] | undefined =>
  answer && 'data' in answer && Array.isArray(answer.data) ? answer.data : undefined

function without(set: ReadonlySet<Part>, part: Part): ReadonlySet<Part> {
  return set.has(part) ? new Set([...set].filter((one) => one !== part)) : set
}
