import { hostname, networkInterfaces } from 'node:os'
import { type Config, isLoopback } from '../config/index.ts'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'

/**
 * Lists every name and address by which a client may reach this box, the clearest one first. Throws ExitError for a bad
 * name.
 */
export function namesOf(config: Pick<Config, 'site' | 'listen'>, extra: readonly string[]): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const ours = addresses.filter((a) => !a.internal && !a.address.startsWith('fe80:')).map((a) => a.address)
  const host = hostname().toLowerCase()
  const site = new URL(config.site.url).hostname.replace(/^\[|\]$/g, '')
  const names = [
    ...extra,
    ...(isLoopback(site) ? [] : [site]),
    host,
    ...(host.includes('.') ? [] : [`${host}.local`]),
    ...config.listen.map((l) => l.host).filter((h) => h !== '0.0.0.0' && h !== '::'),
    ...ours,
    'localhost',
    '127.0.0.1',
    '::1',
  ]
  const bad = extra.find((name) => !/^(\*\.)?[A-Za-z0-9_.-]{1,253}$|^[0-9A-Fa-f:.]{2,45}$/.test(name))
  if (bad !== undefined)
    throw new ExitError(EXIT_USAGE, `this is no name or address of a machine: ${JSON.stringify(bad)}`)
  return [...new Set(names)]
}
