import type {
  Alert,
  Camera,
  Detection,
  Health,
  List,
  PlacementEvent,
  SignedIn,
  Slot,
  Utilization,
  Warehouse,
  Webhook,
  Zone,
} from './answers.ts'
import { ask, gatewayNow, Refused, Unreachable } from './ask.ts'

/**
 * What the page knows. A part is undefined until it was answered, and `absent` while the gateway answers 404 or 403.
 */
export type Known = {
  readonly events?: List<PlacementEvent>
  readonly slots?: List<Slot>
  readonly zones?: List<Zone>
  readonly warehouses?: List<Warehouse>
  readonly utilization?: Utilization
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

type Part =
  | 'events'
  | 'slots'
  | 'zones'
  | 'warehouses'
  | 'utilization'
  | 'cameras'
  | 'detections'
  | 'webhooks'
  | 'alerts'
  | 'health'

type Source = { readonly path: string; readonly everyMs: number; readonly permission?: string }

const beatMs = 5000

/**
 * Makes about 40 requests a minute, below the usual limit of 100. Slots and utilization are asked whenever an event is
 * new, and at times without one, since an admin may change the plan.
 */
const sources: Record<Part, Source> = {
  events: { path: '/api/whms/events?limit=40', everyMs: beatMs },
  slots: { path: '/api/whms/slots', everyMs: 6 * beatMs },
  utilization: { path: '/api/whms/dashboard/utilization', everyMs: 6 * beatMs },
  zones: { path: '/api/whms/zones', everyMs: 12 * beatMs },
  warehouses: { path: '/api/whms/warehouses', everyMs: 12 * beatMs },
  cameras: { path: '/api/iot/cctv', everyMs: 2 * beatMs, permission: 'cameras:read' },
  detections: { path: '/api/iot/detection-events?limit=5', everyMs: 2 * beatMs, permission: 'cameras:read' },
  webhooks: { path: '/api/webhooks', everyMs: 4 * beatMs, permission: 'webhooks:manage' },
  alerts: { path: '/api/alerts?acknowledged=false&limit=20', everyMs: 4 * beatMs, permission: 'alerts:read' },
  health: { path: '/api/health', everyMs: 2 * beatMs },
}
const parts = Object.keys(sources) as Part[]
/** Parts that events change. */
const derived: readonly Part[] = ['slots', 'utilization']
const absentEveryMs = 12 * beatMs
const retryMs = [1000, 2000, beatMs] as const

/** Polls the gateway while the page is visible, and reports what is known. */
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

  constructor(options: { caller: SignedIn; tell: (known: Known) => void; signedOut: () => void }) {
    this.#caller = options.caller
    this.#tell = options.tell
    this.#signedOut = options.signedOut
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#look)
    addEventListener('online', this.#look)
    addEventListener('offline', this.#look)
    this.#look()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#look)
    removeEventListener('online', this.#look)
    removeEventListener('offline', this.#look)
  }

  /** Asks for these parts at once, for example after a change by this page. */
  refresh(...these: Part[]): void {
    for (const part of these) this.#due.delete(part)
    this.#look()
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer)
    if (this.#stopped || document.hidden || this.#round) return
    this.#round = this.#askRound().then((waitMs) => {
      this.#round = undefined
      if (!this.#stopped && !document.hidden) this.#timer = setTimeout(this.#look, waitMs)
    })
  }

  /** Asks one round. @returns milliseconds until the next one */
  async #askRound(): Promise<number> {
    try {
      await this.#askFor(parts.filter((part) => this.#isDue(part)))
      // All ids: a late event is new, but not the newest.
      const seen = this.#known.events?.data.map(({ id }) => id).join()
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
      if (!this.#stopped) this.#tell(this.#known)
    }
  }

  #isDue(part: Part): boolean {
    const { permission } = sources[part]
    if (permission !== undefined && !this.#caller.permissions.includes(permission)) return false
    return (this.#due.get(part) ?? 0) <= performance.now()
  }

  /** Asks for all parts at once. Keeps what was answered when another part fails, and then throws that error. */
  async #askFor(these: readonly Part[]): Promise<void> {
    const answers = await Promise.allSettled(these.map((part) => this.#askPart(part)))
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (failure) throw failure.reason
  }

  async #askPart(part: Part): Promise<void> {
    const { path, everyMs } = sources[part]
    try {
      const answer = withKnownRows(this.#known[part], await ask<object>(path))
      // Half a beat earlier, because beats are never exactly equal.
      this.#due.set(part, performance.now() + everyMs - beatMs / 2)
      this.#known = { ...this.#known, [part]: answer, absent: without(this.#known.absent, part) }
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
      this.stop()
      this.#signedOut()
      return waitMs
    }
    if (error instanceof Refused && error.retryAfterSeconds > 0) {
      const waits = `The gateway asks to wait ${error.retryAfterSeconds} s`
      const trouble = error.status === 429 ? `Too many requests by this user. ${waits}.` : `${error.message}. ${waits}.`
      this.#known = { ...this.#known, trouble }
      return error.retryAfterSeconds * 1000
    }
    const isLost = error instanceof Unreachable
    const trouble = isLost ? 'No connection to the gateway.' : `The gateway can’t answer: ${(error as Error).message}.`
    this.#known = { ...this.#known, trouble }
    return waitMs
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
