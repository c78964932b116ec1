import { readFile } from 'node:fs/promises'
import type { PageLanguage } from '../../http/index.ts'
import { assetPath, makeAsset } from '../../platform/bundle.ts'
import { anchorOf } from '../page/kit/help-anchor.ts'
import type { HelpTopic } from './topics.ts'

export type HelpPage = {
  readonly title: string
  /** Its first paragraph, as plain text. */
  readonly purpose: string
  readonly markdown: string
  /** Without the heading of the page. */
  readonly html: string
  /** Its headings of the second level. */
  readonly parts: readonly { readonly anchor: string; readonly title: string }[]
}

export type HelpPages = Readonly<Partial<Record<HelpTopic, HelpPage>>>

/** The manual as the build makes it. */
export type Manual = {
  /** English has all pages, German some of them. */
  readonly pages: Readonly<Record<PageLanguage, HelpPages>>
  /** The index of the search for readers of each language, as JSON: a list of `SearchedPart`. */
  readonly search: Readonly<Record<PageLanguage, string>>
}

let reading: Promise<Manual> | undefined

/**
 * Returns the manual, read once and cached. In the source tree it is built first when the sources are newer. Rejects when
 * that fails; the next call tries again.
 */
export function manual(): Promise<Manual> {
  reading ??= read().catch((error: unknown) => {
    reading = undefined
    throw error
  })
  return reading
}

async function read(): Promise<Manual> {
  await makeAsset('manual.json')
  return JSON.parse(await readFile(assetPath('manual.json'), 'utf8')) as Manual
}

export type ReadPage = { readonly page: HelpPage; readonly language: PageLanguage }

/** Returns a page in the language of the reader, else in English; undefined: there is none. */
export function pageFor({ pages }: Manual, topic: HelpTopic, language: PageLanguage): ReadPage | undefined {
  for (const one of [language, 'en'] as const) {
    const page = pages[one][topic]
    if (page) return { page, language: one }
  }
  return undefined
}

/** Returns the Markdown below one heading of the second level, with the heading; undefined: there is none. */
export function partOf({ markdown }: HelpPage, anchor: string): string | undefined {
  return markdown
    .split(/^(?=## )/m)
    .find((part) => part.startsWith('## ') && anchorOf(part.slice(3, part.indexOf('\n'))) === anchor)
}
