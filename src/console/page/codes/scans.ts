import { errorMessage } from '../../../platform/faults.ts'
import { ask, Refused, Unreachable } from '../data/ask.ts'
import type { ScanAnswer } from '../data/shapes.ts'
import { scanFieldTexts as texts } from './scan-field-texts.ts'
import { foundWords, placeOf, printable, wantedBy } from './scan-place.ts'

/**
 * A scan as the page shows it.
 *
 * - `to`: the view that it opens
 * - `isHeld`: not opened, because typed text would be lost
 * - `isRefused`: it is no code, so it opens nothing
 */
export type Scan = {
  readonly n: number
  readonly code: string
  readonly words: string
  readonly to: string | undefined
  readonly isHeld?: boolean
  readonly isRefused?: boolean
}

export type Scans = { readonly recent: readonly Scan[]; readonly isBusy: boolean }

const kept = 10
const longestWaitMs = 10_000

/**
 * Looks scans up one after the other, in the order in which they came. Each is shown with its result. The view of the last one is
 * opened, unless typed text would be lost by it. A scan without an answer stays in the list and says it.
 */
export class ScanDesk {
  readonly #open: (view: string) => void
  readonly #holds: (view: string) => boolean
  readonly #tell: (scans: Scans) => void
  readonly #origins: readonly string[]
  #recent: readonly Scan[] = []
  #waiting: string[] = []
  #isBusy = false
  #n = 0

  constructor(parts: {
    open: (view: string) => void
    holds: (view: string) => boolean
    tell: (scans: Scans) => void
    origins: readonly string[]
  }) {
    this.#open = parts.open
    this.#holds = parts.holds
    this.#tell = parts.tell
    this.#origins = parts.origins
  }

  /** Takes a scan; it is looked up after earlier ones. */
  take(text: string): void {
    const code = text.trim()
    if (code === '') return
    this.#waiting.push(code)
    if (!this.#isBusy) void this.#work()
  }

  /** Shows a scan that was not taken. */
  say(code: string, words: string): void {
    this.#recent = [{ n: ++this.#n, code, words, to: undefined, isRefused: true }, ...this.#recent].slice(0, kept)
    this.#tell({ recent: this.#recent, isBusy: this.#isBusy })
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    for (let code = this.#waiting.shift(); code !== undefined; code = this.#waiting.shift()) {
      const scan = await this.#look(code)
      const isHeld = scan.to !== undefined && this.#holds(scan.to)
      this.#recent = [{ ...scan, isHeld }, ...this.#recent].slice(0, kept)
      this.#isBusy = this.#waiting.length > 0
      this.#tell({ recent: this.#recent, isBusy: this.#isBusy })
      if (!this.#isBusy && scan.to !== undefined && !isHeld) this.#open(scan.to)
    }
    this.#isBusy = false
  }

  async #look(text: string): Promise<Scan> {
    const n = ++this.#n
    const wanted = wantedBy(text, this.#origins)
    if ('view' in wanted) return { n, code: text, words: texts.view, to: wanted.view }
    const { code } = wanted
    try {
      const answer = await askPatiently(`/api/whms/scan/${encodeURIComponent(code)}`)
      return { n, code, words: foundWords(answer), to: placeOf(answer) }
    } catch (error) {
      const why = error instanceof Unreachable ? texts.notReached : errorMessage(error)
      return { n, code, words: texts.notLookedUp(printable(code), why), to: undefined }
    }
  }
}

/** Asks again once when the gateway says how long to wait. */
async function askPatiently(path: string): Promise<ScanAnswer> {
  try {
    return await ask<ScanAnswer>(path)
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 429 && error.status !== 503)) throw error
    const waitMs = Math.min(Math.max(error.retryAfterSeconds, 1) * 1000, longestWaitMs)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    return await ask<ScanAnswer>(path)
  }
}
