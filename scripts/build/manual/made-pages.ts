import type { Command } from 'commander'
import { gatehouseCommand } from '../../../src/cli/run.ts'
import { configReference } from '../../../src/config/index.ts'
import type { madeTopics } from '../../../src/console/help/topics.ts'
import { type CatalogueEntry, catalogue } from '../../../src/errors/index.ts'
import { environment, exitStatuses, filesOfBox, leavesOf, termsOf } from '../../package/man.ts'
import { alertsPage } from './alerts.ts'

type MadeTopic = (typeof madeTopics)[number]

/** Makes the pages that no one writes, as Markdown. */
export const madePages: Readonly<Record<MadeTopic, () => string>> = {
  commands: commandsPage,
  config: configReference,
  errors: errorsPage,
  alerts: alertsPage,
}

function commandsPage(): string {
  return `# Commands

Each command of \`gatehouse\` with its arguments and options. \`gatehouse COMMAND --help\` prints the same at the box.

${leavesOf(gatehouseCommand(), [])
  .map(({ command, path }) => commandPart(command, path.join(' ')))
  .join('\n')}
## Exit status

${table(['status', 'meaning'], exitStatuses)}
## Environment

${table(['variable', 'meaning'], environment)}
## Files

${table(['path', 'content'], filesOfBox)}`
}

function commandPart(command: Command, path: string): string {
  const sentence = command.description()
  const usage = `${path} ${command.usage()}`.trim()
  const terms = termsOf(command).filter(([term]) => term !== '-h, --help')
  return `## ${path}

${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.

\`\`\`sh
${usage}
\`\`\`

${table(['argument or option', 'meaning'], terms)}`
}

function errorsPage(): string {
  const entries: [string, CatalogueEntry][] = Object.entries(catalogue)
  return `# Error codes

A refused request is answered with \`{"success": false, "error": {"code": …}}\`. Each code has one HTTP status.

${entries.map(errorPart).join('\n')}`
}

function errorPart([code, { status, retry, hint }]: [string, CatalogueEntry]): string {
  const later = retry ? 'The same request can succeed later.' : 'The same request fails again.'
  return `## ${code}

HTTP ${status}. ${later} ${hint}
`
}

/** Formats terms with their meaning as a table; the terms are code. */
function table(head: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return ''
  const cells = rows.map(([term, words]) => [`\`${term}\``, words.replaceAll('<', '\\<')])
  const lines = [head, ['---', '---'], ...cells]
  return `${lines.map((line) => `| ${line.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')}\n`
}
