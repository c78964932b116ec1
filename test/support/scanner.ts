import type { CDPSession, Page } from 'playwright-core'

type Press = { key: string; altKey?: boolean }

/** A scanner at the keyboard of the browser: its keys come in steps of `gapMs`, by the clock of the keyboard. */
export class Scanner {
  readonly #keys: CDPSession
  #nowS = Date.now() / 1000

  constructor(keys: CDPSession) {
    this.#keys = keys
  }

  async scan(code: string, { gapMs = 4, ends = ['Enter'], altKey = false } = {}): Promise<void> {
    this.#nowS = Math.max(this.#nowS + 0.3, Date.now() / 1000)
    // All at once, as a keyboard queues them: waiting for each would make pauses that the scanner did not make.
    await Promise.all([...code, ...ends].flatMap((key) => this.#press({ key, altKey }, gapMs)))
  }

  #press({ key, altKey }: Press, gapMs: number): Promise<unknown>[] {
    this.#nowS += gapMs / 1000
    const text = key === 'Enter' ? '\r' : key.length === 1 && !altKey ? key : undefined
    const windowsVirtualKeyCode = key === 'Enter' ? 13 : key === 'Tab' ? 9 : key.toUpperCase().charCodeAt(0)
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
