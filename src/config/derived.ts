import { isIPv6 } from 'node:net'
import { isLoopback } from './kinds.ts'
import type { Config, Parsed } from './schema.ts'

/** Fills in the defaults that follow from other keys. Returns a deeply frozen config. */
export function withDerivedDefaults(parsed: Parsed, hostName: string): Config {
  return freeze({
    ...parsed,
    site: { ...parsed.site, url: siteUrlOf(parsed, hostName) },
    cameras: parsed.cameras.map((camera) => ({ ...camera, name: camera.name ?? `Camera ${camera.id}` })),
  })
}

/** Returns `site.url`, or the address of the first listener. */
export function siteUrlOf(
  { site, listen }: Pick<Parsed, 'listen'> & { site: { url: string | null } },
  hostName: string,
) {
  const [first] = listen
  return site.url ?? (first ? listenerUrl(first, hostName) : `http://${hostName}`)
}

type Address = { readonly host: string; readonly port: number; readonly tls: object | null }

/** Returns the URL of a listener; of one on every address, the URL with the machine's name. */
function listenerUrl({ host, port, tls }: Address, hostName: string): string {
  const name = host === '0.0.0.0' || host === '::' ? hostName : host
  const url = `${tls ? 'https' : 'http'}://${isIPv6(name) ? `[${name}]` : name}:${port}`
  // A machine's name may be invalid in a URL (`1.2.3.4.5`).
  return URL.canParse(url) ? new URL(url).origin : listenerUrl({ host: 'localhost', port, tls }, hostName)
}

/** Says whether the derived `site.url` is certain: only the admin knows the address that other machines use. */
export function derivedUrlIsSure({ listen, site }: Parsed): boolean {
  const [first] = listen
  return site.url !== null || (first !== undefined && first.port > 0 && isLoopback(first.host))
}

/** Returns the machine's name in a form that is valid as `site.id` and in a URL. */
export function siteIdOf(hostName: string): string {
  return (
    hostName
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[._-]+/, '')
      .slice(0, 64) || 'gatehouse'
  )
}

/** Freezes a value and all that it holds. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}
