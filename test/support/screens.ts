import type { BrowserContextOptions } from 'playwright-core'

/** The screens that every view is looked at on. */
export const screens = {
  desktop: { viewport: { width: 1280, height: 800 } },
  tablet: { viewport: { width: 800, height: 1280 }, hasTouch: true },
  handheld: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
} as const satisfies Record<string, BrowserContextOptions>

export const themes = ['light', 'dark'] as const

/** A path for a picture of a view in the folder VIEW_SHOTS, for somebody to look at; undefined without the folder. */
export function pictureOf(name: string): string | undefined {
  const folder = process.env['VIEW_SHOTS']
  return folder === undefined ? undefined : `${folder}/${name.replaceAll(/\W+/g, '-')}.png`
}
