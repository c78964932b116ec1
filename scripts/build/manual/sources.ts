import { globSync } from 'node:fs'
import { root } from '../inputs.ts'

/** The runbook and the alert rules, which the page of alerts is made from. */
export const monitoringFiles = ['systemd/monitoring/RUNBOOK.md', 'systemd/monitoring/alerts.yml']

/** Lists everything that the manual is made from: the written pages, the program whose help it prints, and the build itself. */
export function manualSources(): string[] {
  const own = globSync(['src/**/*.{ts,md}', 'scripts/build/manual{.ts,/*.ts}', 'scripts/package/man.ts'], { cwd: root })
  return ['package-lock.json', ...monitoringFiles, ...own.toSorted()]
}
