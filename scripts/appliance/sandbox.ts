import { readFileSync } from 'node:fs'

/** Settings for the start and the end of the service; they grant and deny nothing. */
const lifecycle = /^(Type|NotifyAccess|Exec(Start|Reload)|Restart\w*|Timeout\w+|WatchdogSec|WorkingDirectory)$/

/**
 * Returns the arguments for systemd-run that isolate a command as the unit does. A program under test can then be
 * started in its place.
 *
 * @param programs folders besides those of the unit from which programs may be run
 */
export function sandboxOf(unit: string, programs: readonly string[]): string[] {
  const service = readFileSync(unit, 'utf8').split('[Service]')[1]?.split('[Install]')[0] ?? ''
  const settings = service.split('\n').filter((line) => /^\w+=/.test(line) && !lifecycle.test(line.split('=')[0] ?? ''))
  return settings.map((line) => `--property=${line.startsWith('ExecPaths=') ? `${line} ${programs.join(' ')}` : line}`)
}
