import type { CDPSession, Page } from 'playwright-core'

const codes: Readonly<Record<string, number>> = { Enter: 13, Tab: 9, Shift: 16 }

type Press = { key: string; altKey?: boolean }

/** A scanner at the keyboard of the browser: its keys come in steps of `gapMs`, by the clock of the keyboard. */
export class Scanner {
  readonly #keys: CDPSession
  #nowS = Date.now() / 1000

  constructor(keys: CDPSession) {
    this.#keys = keys
  }

  /**
   * With `shifts` it presses Shift for capital letters. With `lateAfter`, so many keys come in time, and the rest only when the
   * page has waited. With `pauseAfter`, the scanner itself pauses after so many keys, for `pauseMs`.
   */
  async scan(
    code: string,
    {
      gapMs = 4,
      ends = ['Enter'] as readonly string[],
      altKey = false,
      shifts = false,
      lateAfter = 0,
      pauseAfter = 0,
      pauseMs = 90,
    } = {},
  ): Promise<void> {
    this.#nowS = Math.max(this.#nowS + 0.3, Date.now() / 1000)
    // The page tells by its own clock that no key follows: keys of a time to come would be none of a scan.
    const aheadMs = this.#nowS * 1000 - Date.now()
    if (ends.length === 0 && aheadMs > 0) await this.#pageWaits(aheadMs)
    const keys = [...code, ...ends]
    if (pauseAfter > 0) {
      for (const key of keys.slice(0, pauseAfter)) await Promise.all(this.#press({ key, altKey }, gapMs))
      await this.#pageWaits(pauseMs)
      this.#nowS += pauseMs / 1000
    }
    const rest = keys.slice(pauseAfter)
    for (const part of [rest.slice(0, lateAfter), rest.slice(lateAfter)]) {
      // All at once, as a keyboard queues them: waiting for each would make pauses that the scanner did not make.
      await Promise.all(
        part.flatMap((key) => [
          ...(shifts && /[A-Z]/.test(key) && key.length === 1 ? this.#press({ key: 'Shift' }, gapMs) : []),
          ...this.#press({ key, altKey }, gapMs),
        ]),
      )
      if (part.length < rest.length && part.length === lateAfter) await this.#pageWaits(ends.length === 0 ? 80 : 150)
    }
  }

  async #pageWaits(ms: number): Promise<void> {
    const expression = `new Promise((then) => setTimeout(then, ${ms}))`
    await this.#keys.send('Runtime.evaluate', { expression, awaitPromise: true })
  }

  #press({ key, altKey }: Press, gapMs: number): Promise<unknown>[] {
    this.#nowS += gapMs / 1000
    const text = key === 'Enter' ? '\r' : key.length === 1 && !altKey ? key : undefined
    const windowsVirtualKeyCode = codes[key] ?? key.toUpperCase().charCodeAt(0)
    const common = { key, modifiers: altKey ? 1 : 0, windowsVirtualKeyCode, timestamp: this.#nowS }
    return [
      this.#keys.send('Input.dispatchKeyEvent', {
        type: text ? 'keyDown' : 'rawKeyDown',
        ...common,
        ...(text && { text }),
      }),
      this.#keys.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common }),
    ]
  }
}

export const scannerAt = async (page: Page): Promise<Scanner> => new Scanner(await page.context().newCDPSession(page))
