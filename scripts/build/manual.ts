/**
 * Makes the manual: one JSON file with its pages as Markdown and HTML, and the index of its search. The build puts it into
 * the binary; in the source tree the gateway and `gatehouse manual` run this program first.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HelpPage, Manual } from '../../src/console/help/manual.ts'
import type { HelpTopic } from '../../src/console/help/topics.ts'
import type { SearchedPart } from '../../src/console/page/help/search.ts'
import type { PageLanguage } from '../../src/http/answers/page-language.ts'
import { assets } from '../../src/platform/bundle.ts'
import { writeFileDurably } from '../../src/platform/files.ts'
import { root, say } from './inputs.ts'
import { manualSources } from './manual/sources.ts'

const output = join(root, assets['manual.json']())
const stampFile = `${output}.stamp`

/** Makes the file unless it is there already and made from the same sources. */
export async function buildManual(): Promise<void> {
  const stamp = stampOf()
  if (existsSync(output) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return
  writeFileDurably(output, JSON.stringify(await makeManual()), 0o644)
  writeFileDurably(stampFile, stamp, 0o644)
}

function stampOf(): string {
  const hash = createHash('sha256')
  for (const file of manualSources()) {
    const content = readFileSync(join(root, file))
    hash.update(`\n${file} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

async function makeManual(): Promise<Manual> {
  // Loaded here: it holds the whole command line, which takes a second.
  const [{ manualPages }, { render }] = await Promise.all([import('./manual/pages.ts'), import('./manual/render.ts')])
  const pages: Record<PageLanguage, Partial<Record<HelpTopic, HelpPage>>> = { en: {}, de: {} }
  const parts: Record<PageLanguage, SearchedPart[]> = { en: [], de: [] }
  for (const { topic, language, markdown } of manualPages()) {
    const rendered = render(topic, markdown)
    pages[language][topic] = rendered.page
    parts[language].push(...rendered.parts)
  }
  const german = [...parts.de, ...parts.en.filter(({ topic }) => parts.de.every((one) => one.topic !== topic))]
  return { pages, search: { en: JSON.stringify(parts.en), de: JSON.stringify(german) } }
}

if (import.meta.main) {
  await buildManual().catch((error: Error) => {
    say(error.message)
    process.exitCode = 1
  })
}
