import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { violations } from './axe.ts'
import { open, signIn } from './browser.ts'
import { pictureOf, screens, themes } from './screens.ts'

/** Contrast is the same on every screen, so each theme is looked at on one or two of them; for pictures on all. */
const shownIn = { desktop: ['light'], tablet: ['dark'], handheld: ['light'] } as const
const isForPictures = pictureOf('any') !== undefined

type View = {
  /** Behind the address of the gateway. */
  readonly path: string
  /** Waits until the view shows what it has. */
  readonly ready: (page: Page) => Promise<unknown>
}

type Look = { readonly browser: Browser | undefined; readonly url: string; readonly as: string }

/** Shows views on every screen, and in both themes: axe finds nothing, nothing goes sideways, the browser logs no error. */
export async function lookAt(t: Test, { browser, url, as }: Look, views: readonly View[]): Promise<void> {
  for (const [screen, context] of Object.entries(screens)) {
    const { page, faults } = await open(t, browser, `${url}${views[0]?.path}`, { ...context, reducedMotion: 'reduce' })
    await signIn(page, as)
    for (const [index, { path, ready }] of views.entries()) {
      if (index > 0) await page.goto(`${url}${path}`)
      await ready(page)
      for (const colorScheme of isForPictures ? themes : shownIn[screen as keyof typeof screens]) {
        await page.emulateMedia({ colorScheme })
        t.same(await violations(page), [], `${path}, ${screen}, ${colorScheme}`)
        const picture = pictureOf(`${path} ${screen} ${colorScheme}`)
        if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true })
      }
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, context.viewport.width, `${path}, ${screen}: not sideways`)
    }
    t.same(faults, [])
    await page.context().close()
  }
}
