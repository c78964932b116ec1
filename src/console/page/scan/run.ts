import type { Item } from './items.ts'

/** Most events in one request; the gateway takes no more. */
export const mostInRun = 100
/** The gateway takes 1 MiB; the rest is for the fields that a photo adds to an event. */
const mostBytes = 900_000
const eventsPath = '/api/whms/events'

/** Returns an item as the gateway takes it. */
export const bodyOf = ({ body, at, sentPhoto }: Item): Readonly<Record<string, unknown>> => ({
  ...body,
  timestamp: at,
  ...(sentPhoto && { photo_url: sentPhoto.url, photo_sha256: sentPhoto.sha256 }),
})

type Choice = {
  /** Whether it is the turn of an item: it waits, is not held, and its person is signed in. */
  readonly isDue: (item: Item) => boolean
  /** Whether an item goes alone, because the gateway failed at it before. */
  readonly isAlone: (item: Item) => boolean
  /** Most items of the run. */
  readonly most: number
  /** The run ends in front of the items behind this number. */
  readonly upTo: number
}

/**
 * Returns the next items to send in one request: the first due items, without a gap, all of one person and all events. A move or a
 * scan of a count goes alone. Empty: nothing is due. `items`: all, in their order. Pure.
 */
export function nextRun(items: readonly Item[], { isDue, isAlone, most, upTo }: Choice): readonly Item[] {
  const due = items.filter(isDue)
  const [first] = due
  if (!first) return []
  const goesAlone = (item: Item) => item.path !== eventsPath || isAlone(item)
  if (goesAlone(first)) return [first]
  const end = due.findIndex((item, i) => i >= most || item.n > upTo || item.by !== first.by || goesAlone(item))
  return withinBytes(end < 0 ? due : due.slice(0, Math.max(end, 1)))
}

function withinBytes(run: readonly Item[]): readonly Item[] {
  const text = new TextEncoder()
  let bytes = 0
  const end = run.findIndex((item, i) => {
    bytes += text.encode(JSON.stringify(bodyOf(item))).length
    return i > 0 && bytes > mostBytes
  })
  return end < 0 ? run : run.slice(0, end)
}

/**
 * Cuts a run that makes the gateway fail as a whole: into halves, down to single items. So the failing item is found and all others
 * pass.
 */
export class Halves {
  #most = mostInRun
  #upTo = Number.POSITIVE_INFINITY

  /** Says how long the run may be that begins with this item. */
  limitFor({ n }: Item): { readonly most: number; readonly upTo: number } {
    if (n > this.#upTo) this.done()
    return { most: this.#most, upTo: this.#upTo }
  }

  /** The gateway failed at this run. */
  cut(run: readonly Item[]): void {
    this.#most = Math.ceil(run.length / 2)
    this.#upTo = run.at(-1)?.n ?? this.#upTo
  }

  /** It is found, or was none. */
  done(): void {
    this.#most = mostInRun
    this.#upTo = Number.POSITIVE_INFINITY
  }
}
