import type { ElementHandle, Page } from 'playwright-core'
import type { Scanner } from './scanner.ts'
import type { Chance } from './scenes/chance.ts'
import { waitUntil } from './waiting.ts'

/** How many changes the gateway has refused on this page. */
export type Refusals = { count: number }

/** Something that was typed and not sent. */
export type Typed = { readonly field: Handle; readonly text: string }

/**
 * The act, and the input that the page lost. A field holds `typed` from now on. With `isHarmless`, text that was typed elsewhere
 * must still be there.
 */
export type Outcome = {
  readonly act: string
  readonly lost?: string
  readonly typed?: Typed
  readonly isHarmless?: boolean
}

type Hands = { readonly chance: Chance; readonly scanner: Scanner; readonly refusals: Refusals }

/** The properties that the explorer reads of an element. */
type Element = {
  readonly localName: string
  readonly textContent: string
  readonly isConnected: boolean
  readonly readOnly?: boolean
  readonly disabled?: boolean
  readonly type?: string
  readonly maxLength?: number
  readonly value?: string
  getAttribute(name: string): string | null
  closest(selector: string): object | null
}
type Handle = ElementHandle<Element>

const keys = [
  ...['Tab', 'Tab', 'Tab', 'Shift+Tab', 'Enter', 'Escape', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'PageDown', 'Home'],
  ...['End', ' ', 'j', 'k', 'v', 'd', '+', '-', '0'],
]
/** Controls that need a person: the browser's dialogs for files and for printing. */
const untouched = /print|drucken|download|herunterladen|full screen|vollbild|camera|kamera/i
const typed = ['A-01', '12', 'Zoë & Söhne', '0', '-1', '=1+1', '2026-03-02', '<b>x</b>', 'https://127.0.0.1:9/hooks']
const tappable = 'a[href], button, summary, select, input, textarea, [role=button], canvas'
const settledMs = 120
const roundMs = 400
/** On an idle machine it takes a fifth of a second. */
const seenWithinMs = 30_000

/** Does one thing that a person could do, by chance. */
export async function actOnce(page: Page, hands: Hands): Promise<Outcome> {
  const draw = hands.chance.below(20)
  if (draw === 0) return goBack(page)
  if (draw === 1) return scan(page, hands)
  if (draw < 5) return press(page, hands.chance)
  const all = (await page.locator(tappable).elementHandles()) as unknown as Handle[]
  for (let tries = 0; tries < 5 && all.length > 0; tries += 1) {
    const one = all[hands.chance.below(all.length)] as Handle
    const label = await one.evaluate((it) => `${it.getAttribute('aria-label') ?? ''} ${it.textContent}`).catch(() => '')
    if (untouched.test(label) || !(await one.isVisible().catch(() => false))) continue
    const done = await touch(page, one, hands)
    if (done) return { ...done, act: `${done.act} ${label.trim().replaceAll(/\s+/g, ' ').slice(0, 50)}`.trim() }
  }
  return { act: 'found nothing to tap' }
}

async function goBack(page: Page): Promise<Outcome> {
  // Pages before the gateway's first page are not its own. The length of the history also counts the pages ahead.
  const hasPast = await page.evaluate<boolean>('navigation.currentEntry.index > 0')
  if (hasPast) await page.goBack({ timeout: 5000 }).catch(() => {})
  return { act: 'went back', isHarmless: true }
}

async function press(page: Page, chance: Chance): Promise<Outcome> {
  const key = keys[chance.below(keys.length)] ?? 'Tab'
  await page.keyboard.press(key)
  await page.waitForTimeout(settledMs)
  return { act: `pressed ${key}`, isHarmless: key.endsWith('Tab') }
}

/** A scan must show up: as a story, or in the view. */
async function scan(page: Page, { chance, scanner }: Hands): Promise<Outcome> {
  const isTaken = await page.locator('.bar .scan, .scan-entry').first().isVisible()
  if (!isTaken) return { act: 'had no scanner here' }
  const code = `P-${String(2 + chance.below(8)).padStart(3, '0')}-02`
  const act = `scanned ${code}`
  // In a field that takes codes, the scan replaces the typed text or comes below it.
  const isHarmless = !(await page.locator('[data-scan]:focus').count())
  await scanner.scan(code)
  const shown = `document.body.innerText.includes('${code}') ||
    [...document.querySelectorAll('input, textarea')].some(({ value }) => value.includes('${code}'))`
  const isShown = await isSoon(page, shown, seenWithinMs)
  return isShown ? { act, isHarmless } : { act, lost: 'the scan is not to be seen' }
}

/** Says whether an expression becomes true on the page, also over a change of pages. The page's own policy forbids it to ask itself. */
export function isSoon(page: Page, expression: string, withinMs: number): Promise<boolean> {
  return waitUntil(expression, () => page.evaluate<boolean>(expression).catch(() => false), { withinMs }).then(
    () => true,
    () => false,
  )
}

async function touch(page: Page, one: Handle, hands: Hands): Promise<Outcome | undefined> {
  const kind = await one.evaluate((it) => `${it.localName} ${it.getAttribute('type') ?? ''}`).catch(() => '')
  try {
    if (/^(textarea|input (|text|search|number|password|url))$/.test(kind.trimEnd()))
      return await type(page, one, hands)
    if (kind.startsWith('select')) return await choose(page, one, hands.chance)
    if (/^input (file|date|datetime-local|color|range)$/.test(kind)) return undefined
    await one.click({ timeout: 1000, noWaitAfter: true })
    await page.waitForTimeout(settledMs)
    return { act: `tapped ${kind.trim()}` }
  } catch {
    // It went away, or something lies over it: a person would tap elsewhere.
    return undefined
  }
}

async function choose(page: Page, one: Handle, chance: Chance): Promise<Outcome> {
  const options = await one.$$('option')
  const index = chance.below(Math.max(1, options.length))
  await one.selectOption({ index }, { timeout: 1000 })
  await page.waitForTimeout(settledMs)
  return { act: `chose option ${index} of` }
}

/** Says whether something typed is still in its field. */
export const isStill = async ({ field, text }: Typed): Promise<boolean> =>
  (await field.evaluate((it) => (it.isConnected ? it.value : undefined)).catch(() => undefined)) === text

/**
 * Types into a field, and checks that the text is still there after the page had time to show changes on the floor. Sometimes sends
 * it, and checks that a refusal does not drop it.
 */
async function type(page: Page, one: Handle, { chance, refusals }: Hands): Promise<Outcome | undefined> {
  const field = await one.evaluate((it) => ({
    isClosed: Boolean(it.readOnly || it.disabled),
    isNumber: it.type === 'number',
    isSecret: it.type === 'password',
    // A search text is not sent, and the field for codes belongs to every view.
    isKept:
      it.type !== 'search' && it.closest('main') !== null && it.closest('.scan-entry, [role=search], search') === null,
    most: it.maxLength ?? -1,
  }))
  const text = field.isNumber ? '12' : (typed[chance.below(typed.length)] ?? '0')
  if (field.isClosed || (field.most >= 0 && field.most < text.length)) return undefined
  await one.fill(text, { timeout: 1000 })
  await page.waitForTimeout(roundMs)
  const isThere = () => isStill({ field: one, text })
  if (!(await isThere())) return { act: `typed ${text} into`, lost: `“${text}” is gone from its field` }
  if (field.isSecret || !chance.happens(0.3))
    return { act: `typed ${text} into`, ...(field.isKept && { typed: { field: one, text } }) }
  const before = refusals.count
  await page.keyboard.press('Enter')
  await page.waitForTimeout(roundMs)
  const act = `typed ${text} and Enter into`
  const isRefused = refusals.count > before
  return isRefused && !(await isThere()) ? { act, lost: `“${text}” was refused, and is gone from its field` } : { act }
}
