import { readFile } from 'node:fs/promises'
import type { Context } from 'hono'
import type { Admission } from '../../auth/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Api, type AppEnv, pageLanguage } from '../../http/index.ts'
import { assetPath } from '../../platform/bundle.ts'
import { consoleFiles } from '../files.ts'
import { sendPublic } from '../sending.ts'
import { type HelpFrame, helpList, helpPage, helpScripts } from './help-page.ts'
import { manual, pageFor } from './manual.ts'
import { helpTopics } from './topics.ts'

const types = {
  page: 'text/html; charset=utf-8',
  index: 'application/json; charset=utf-8',
  // Shown, not downloaded: an auditor reads a script before running it.
  script: 'text/plain; charset=utf-8',
} as const

/** Adds the manual: /help, a page for each topic, the index of its search, and the scripts of the auditor. It needs no sign-in. */
export function helpRoutes(api: Api, { admission }: { readonly admission: Admission }): void {
  const serve = (
    path: string,
    type: keyof typeof types,
    textFor: (c: Context<AppEnv>) => Promise<string | undefined>,
  ) =>
    api.get(path, async (c) => {
      admission.anybody('console', c.get('address'))
      const text = await textFor(c)
      if (text === undefined) throw AppError.notFound('Page')
      const answer = sendPublic(c, { type: types[type], immutable: false, text })
      if (type === 'script') return answer
      answer.headers.set('Content-Language', pageLanguage(c))
      answer.headers.append('Vary', 'Accept-Language')
      return answer
    })
  serve('/help', 'page', async (c) => helpList(await frameFor(c)))
  for (const topic of helpTopics)
    serve(`/help/${topic}`, 'page', async (c) => {
      const frame = await frameFor(c)
      const found = pageFor(frame.manual, topic, frame.language)
      return found && helpPage(frame, topic, found)
    })
  serve('/help/search.json', 'index', async (c) => (await manual()).search[pageLanguage(c)])
  for (const name of helpScripts) serve(`/help/${name}`, 'script', () => readFile(assetPath(name), 'utf8'))
}

async function frameFor(c: Context<AppEnv>): Promise<HelpFrame> {
  const names = [...(await consoleFiles()).keys()]
  const named = (stem: string, ending: string) =>
    names.find((name) => name.startsWith(`assets/${stem}-`) && name.endsWith(ending)) ?? ''
  const language = pageLanguage(c)
  return {
    manual: await manual(),
    language,
    isChosen: c.req.query('language') === language,
    styles: [named('style', '.css'), named('help', '.css')],
    script: named('help', '.js'),
  }
}
