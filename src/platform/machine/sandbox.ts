import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Owner } from './folder-owner.ts'

const unitName = 'gatehouse.service'

/** Settings of the unit about the life and the folders of the daemon. All others are limits of what its processes may do. */
const ofDaemonAlone =
  /^(Type|NotifyAccess|Exec(Condition|Start|StartPre|StartPost|Reload|Stop|StopPost)|User|Group|Restart\w*|Timeout\w*|WatchdogSec|KillMode|WorkingDirectory|(State|Runtime|Logs|Configuration)Directory\w*)$/

/** Returns the limits in the text of a unit file, with its drop-ins, as `Name=value` in their order. */
export function unitLimits(text: string): string[] {
  const limits: string[] = []
  let section = ''
  for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    section = /^\[(\w+)\]\s*$/.exec(line)?.[1] ?? section
    const [whole, name = ''] = /^(\w+)\s*=.*$/.exec(line) ?? []
    if (whole !== undefined && section === 'Service' && !ofDaemonAlone.test(name)) limits.push(whole.trim())
  }
  return limits
}

/** Text of the unit on this box, with the changes of its admin; undefined where systemd does not run it. */
export function unitText(): string | undefined {
  if (!existsSync('/run/systemd/system')) return undefined
  try {
    return execFileSync('systemctl', ['cat', unitName], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

/**
 * Returns a command line by which root runs a command as `owner`, within the limits of the daemon's unit. Without the unit it has
 * no privileges, cannot get any, and leaves no core.
 */
export function sandboxed(owner: Owner, unit: string | undefined, command: readonly string[]): string[] {
  const { uid, gid } = owner
  if (unit === undefined) {
    const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
    const privileges = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all']
    return ['prlimit', '--core=0', '--', 'setpriv', ...identity, ...privileges, '--', ...command]
  }
  const settings = [`User=${uid}`, `Group=${gid}`, ...unitLimits(unit)].map((one) => `--property=${one}`)
  return [
    'systemd-run',
    '--pipe',
    '--wait',
    '--collect',
    '--quiet',
    '--service-type=exec',
    ...settings,
    '--',
    ...command,
  ]
}
