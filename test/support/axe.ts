import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Every level of WCAG 2.2 and what axe counts as good practice, whatever its impact. */
const levels = ['wcag2a', 'wcag2aa', 'wcag2aaa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Finding = { id: string; impact: string; nodes: { html: string; any: { message: string }[] }[] }

/** Lists what axe has against the page, one line an element. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const options = { runOnly: { type: 'tag', values: levels }, resultTypes: ['violations'] }
  const found: Finding[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, any }) => `${id} (${impact}): ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
  )
}
