import { readFileSync } from 'node:fs'

/** What says how the service starts and ends, not what it may do. */
const lifecycle = /^(Type|NotifyAccess|Exec(Start|Reload)|Restart\w*|Timeout\w+|WatchdogSec|WorkingDirectory)$/

/**
 * Returns the arguments for systemd-run that shut a command off as the unit does, so that a program under test can be
 * started in its place. @param programs folders besides those of the unit from which programs may be run
 */
export function sandboxOf(unit: string, programs: readonly string[]): string[] {
  const service = readFileSync(unit, 'utf8').split('[Service]')[1]?.split('[Install]')[0] ?? ''
  const settings = service.split('\n').filter((line) => /^\w+=/.test(line) && !lifecycle.test(line.split('=')[0] ?? ''))
  return settings.map((line) => `--property=${line.startsWith('ExecPaths=') ? `${line} ${programs.join(' ')}` : line}`)
}
