import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HelpTopic, madeTopics, writtenTopics } from '../../../src/console/help/topics.ts'
import { type PageLanguage, pageLanguages } from '../../../src/http/answers/page-language.ts'
import { root } from '../inputs.ts'
import { madePages } from './made-pages.ts'

export type ManualPage = {
  readonly topic: HelpTopic
  readonly language: PageLanguage
  readonly markdown: string
  /** Path of a written page below the source tree; undefined: the build makes the page. */
  readonly file?: string
}

/** Lists the pages of the manual: those that are written, then those that are made from the program. */
export function manualPages(): ManualPage[] {
  const made = madeTopics.map((topic) => ({ topic, language: 'en' as const, markdown: madePages[topic]() }))
  return [...writtenPages(), ...made]
}

/** Lists the pages that are written. One that is missing is left out; the check of the manual names it. */
export function writtenPages(): (ManualPage & { readonly file: string })[] {
  return pageLanguages.flatMap((language) =>
    writtenTopics.flatMap((topic) => {
      const file = fileOf(topic, language)
      const path = join(root, file)
      return existsSync(path) ? [{ topic, language, file, markdown: readFileSync(path, 'utf8') }] : []
    }),
  )
}

export const fileOf = (topic: HelpTopic, language: PageLanguage): string => `src/console/help/${language}/${topic}.md`
