import { isIPv6 } from 'node:net'
import { isLoopback } from './kinds.ts'
import type { Config, Parsed } from './schema.ts'

/** Fills in the defaults that follow from other keys. The result is frozen all the way down. */
export function withDerivedDefaults(parsed: Parsed, hostName: string): Config {
  const [first] = parsed.listen
  return freeze({
    ...parsed,
    site: { ...parsed.site, url: parsed.site.url ?? (first ? listenerUrl(first, hostName) : `http://${hostName}`) },
    cameras: parsed.cameras.map((camera) => ({ ...camera, name: camera.name ?? `Camera ${camera.id}` })),
  })
}

type Address = { readonly host: string; readonly port: number; readonly tls: object | null }

/** Where a listener can be asked; one on every address of the machine under the machine's name. */
function listenerUrl({ host, port, tls }: Address, hostName: string): string {
  const name = host === '0.0.0.0' || host === '::' ? hostName : host
  const url = `${tls ? 'https' : 'http'}://${isIPv6(name) ? `[${name}]` : name}:${port}`
  // A machine may be called what no URL can hold (`1.2.3.4.5`).
  return URL.canParse(url) ? new URL(url).origin : listenerUrl({ host: 'localhost', port, tls }, hostName)
}

/** Whether the derived `site.url` can be meant: from another machine only the admin knows the right address. */
export function derivedUrlIsSure({ listen, site }: Parsed): boolean {
  const [first] = listen
  return site.url !== null || (first !== undefined && first.port > 0 && isLoopback(first.host))
}

/** What a name of this machine has to be changed to, to serve as `site.id` and inside a URL. */
export function siteIdOf(hostName: string): string {
  return (
    hostName
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[._-]+/, '')
      .slice(0, 64) || 'gatehouse'
  )
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}
