import { X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import ipaddr from 'ipaddr.js'
import { Recent } from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import { readCertificate, type TlsFiles } from '../http/index.ts'
import { asOf } from './as-of.ts'

/** Hosts that are remembered to be ours; longer ones are judged each time. */
const remembered = 256
const longestRemembered = 255

/**
 * Returns a function that decides whether a Host header names this gateway. IP addresses always do: a web page that makes its own
 * name point here (DNS rebinding) can only send that name.
 */
export function hostChecker(names: readonly string[]): (host: string) => boolean {
  const ours = new Set(['localhost', ...names.map(folded)])
  const known = new Recent<true>(remembered)
  const isOurs = (host: string) => {
    const name = folded(host.replace(/:\d*$/, ''))
    if (ours.has(name) || name.endsWith('.localhost')) return true
    if (ipaddr.isValid(name.replace(/^\[|\]$/g, ''))) return true
    const [, above = ''] = name.match(/^[^.]+\.(.+)$/) ?? []
    return ours.has(`*.${above}`)
  }
  // Each request asks, and nearly all name the same few hosts.
  return (host) => {
    if (known.get(host)) return true
    const answer = isOurs(host)
    if (answer && host.length <= longestRemembered) known.set(host, true)
    return answer
  }
}

const folded = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Settings that name this server. */
type Named = Pick<Config, 'listen'> & {
  readonly site: Pick<Config['site'], 'url'>
  readonly http: Pick<Config['http'], 'hostNames'>
}

/** Returns a `hostChecker` that follows the current config. */
export function ownHosts(config: () => Named): (host: string) => boolean {
  return asOf(config, (now) => hostChecker(hostNames(now)))
}

/**
 * Lists the names that a config accepts in Host: its own address, its certificates, the machine, and `http.hostNames`.
 */
function hostNames({ site, listen, http }: Named): string[] {
  const machine = hostname()
  const certified = listen.flatMap(({ tls }) => (tls ? namesOf(tls) : []))
  return [new URL(site.url).hostname, machine, `${machine}.local`, ...certified, ...http.hostNames]
}

/** Returns no names while the files cannot be used; the listener reports that. */
function namesOf(tls: TlsFiles): string[] {
  try {
    const { subjectAltName = '' } = new X509Certificate(readCertificate(tls).cert)
    return [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name)
  } catch {
    return []
  }
}
