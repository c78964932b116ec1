import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { alertKinds as severities } from '../../../src/config/index.ts'
import { alertWords } from '../../../src/console/page/i18n/alert-words.ts'
import { anchorOf } from '../../../src/console/page/kit/help-anchor.ts'
import { root } from '../inputs.ts'
import { monitoringFiles } from './sources.ts'

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

const [runbookFile = '', rulesFile = ''] = monitoringFiles

/** Returns the page of alerts as Markdown: those of the console, then those of Prometheus, each with what to do. */
export function alertsPage(): string {
  const rules = (parse(textOf(rulesFile)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
  return `# Alerts

Every alert of the gateway by its kind, with its meaning and the next step. Prometheus has its own alerts, which follow them.

${alertKinds()
  .map((kind) => ofConsole(kind, rules))
  .join('\n')}
${runbook(rules)}`
}

/** Lists the kinds of alerts that need somebody; those that report the end of a trouble need no one. */
export const alertKinds = (): string[] => Object.keys(severities)

function ofConsole(kind: string, rules: readonly Rule[]): string {
  const { means, todo } = alertWords(kind)
  const matching = rules.filter(({ expr }) => isAbout(expr, kind)).map(({ alert }) => `[${alert}](#${anchorOf(alert)})`)
  const also = matching.length === 0 ? '' : `\n- Alert of Prometheus: ${matching.join(', ')}`
  return `## ${kind}

- Meaning: ${means}
- Next: ${todo}${also}
`
}

function isAbout(expr: string, kind: string): boolean {
  return [...expr.matchAll(/kind=(~?)"([^"]+)"/g)].some(([, isPattern, text = '']) =>
    isPattern ? new RegExp(`^(?:${text.replaceAll('\\\\', '\\')})$`).test(kind) : text === kind,
  )
}

/** The runbook with the severity of each alert; its first heading is that of the page, so it is left out. */
function runbook(rules: readonly Rule[]): string {
  const [, ...sections] = textOf(runbookFile).split(/^## /m)
  return sections
    .map((section) => {
      const [name = '', ...text] = section.split('\n')
      const rule = rules.find(({ alert }) => alert === name)
      if (!rule) throw new Error(`${runbookFile} has "${name}", which is no alert of ${rulesFile}`)
      const summary = rule.annotations.summary
        .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '{$1}')
        .replaceAll('{{ $value }}', '{value}')
      return `## ${name}\n\nSeverity ${rule.labels.severity}: \`${summary}\`\n${text.join('\n')}`
    })
    .join('')
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
