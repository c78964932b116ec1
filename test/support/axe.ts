import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const require = createRequire(import.meta.url)
/** Half as much to send and to parse as `axe.source`. */
const source = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** Every level of WCAG 2.2 and what axe counts as good practice, whatever its impact. */
const levels = ['wcag2a', 'wcag2aa', 'wcag2aaa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * axe looks at every text once for the contrast of level AA, then once more for the texts between AA and AAA. Here its look for AAA
 * finds all below AAA, so the look for AA would only find some of them again. The looks take half of its time.
 */
const everyContrast = {
  rules: { 'color-contrast': { enabled: false } },
  checks: {
    'color-contrast-enhanced': {
      options: { contrastRatio: { normal: { minThreshold: 0 }, large: { minThreshold: 0 } } },
    },
  },
}

type Finding = { id: string; impact: string; nodes: { html: string; any: { message: string }[] }[] }

/** Lists what axe has against the page, one line an element. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(source)
  const options = { runOnly: { type: 'tag', values: levels }, resultTypes: ['violations'], ...everyContrast }
  const found: Finding[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, any }) => `${id} (${impact}): ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
  )
}
