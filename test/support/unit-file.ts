import { readFileSync } from 'node:fs'

/** Returns the settings of a systemd unit file: `section.Name` with its values in their order. */
export function unitFile(path: string): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>()
  let section = ''
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, opened] = /^\[(\w+)\]$/.exec(line) ?? []
    if (opened !== undefined) section = opened
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const key = `${section}.${name}`
    settings.set(key, [...(settings.get(key) ?? []), value])
  }
  return settings
}
