import { lookup } from 'node:dns'
import { Agent, type AgentOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import { isLoopbackName, loopbackAddresses, type Network, refusalOf } from './address-guard.ts'

/** Every address of a host name. Rejects as `dns.lookup` does. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The system's resolver, which also knows the hosts file. */
export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, order: 'verbatim' }, (error, found) => {
      if (error) reject(error)
      else resolve(found.map(({ address }) => address))
    })
  })

/** A connection that was refused because of its address. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress'
  readonly code = 'FORBIDDEN_ADDRESS'

  constructor(address: string, kind: string) {
    super(`${address} is ${kind}; webhooks.allowNetworks does not name its network`)
  }
}

/**
 * Returns the addresses of a host. Throws ForbiddenAddress when one of them is forbidden, even if others are allowed: a name
 * that also points inside is refused as a whole. Otherwise rejects as the resolver does.
 */
export async function allowedAddresses(
  host: string,
  named: readonly Network[],
  resolve: Resolve,
): Promise<readonly string[]> {
  const addresses = await addressesOf(host, named, resolve)
  for (const address of addresses) {
    const kind = refusalOf(address, named)
    if (kind !== undefined) throw new ForbiddenAddress(address, kind)
  }
  return addresses
}

async function addressesOf(host: string, named: readonly Network[], resolve: Resolve): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  if (!isLoopbackName(host)) return resolve(host)
  const known = loopbackAddresses(named)
  return known.length > 0 ? known : ['127.0.0.1']
}

/** A name without an address is one that is not found. Node ends the process over an empty list. */
function someOf(found: readonly string[], host: string): readonly string[] {
  if (found.length > 0) return found
  throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
}

/**
 * Returns a `lookup` for connections that asks for each name once at a time. A look-up occupies one of the four threads of the pool
 * until the resolver answers.
 */
export function sharedLookup(resolve: Resolve): LookupFunction {
  const underWay = new Map<string, Promise<readonly string[]>>()
  const addresses = (host: string) => {
    const known = underWay.get(host)
    if (known) return known
    const asked = resolve(host)
      .then((found) => someOf(found, host))
      .finally(() => underWay.delete(host))
    underWay.set(host, asked)
    return asked
  }
  return (host, options, callback) => {
    addresses(host).then(
      (found) => {
        const all = found.map((address) => ({ address, family: isIP(address) }))
        if (options.all) callback(null, all)
        else callback(null, all[0]?.address ?? '', all[0]?.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

/** Idle connections are closed before the receivers close theirs (Node's servers after 5 s), or both would race. */
const idleMs = 4000

export type GuardedAgentOptions = {
  readonly named: readonly Network[]
  readonly resolve: Resolve
  /** Trust other than the built-in authorities; made once, because reading 150 certificates for each connection is slow. */
  readonly secureContext?: SecureContext | undefined
}

/**
 * HTTPS connections to allowed addresses only. The check is made at the connection, because only there nothing can happen between
 * check and use. A name may resolve differently each time, and Node does not call `lookup` for literals.
 */
export class GuardedAgent extends Agent {
  readonly #named: readonly Network[]
  readonly #lookup: LookupFunction

  constructor({ named, resolve, secureContext }: GuardedAgentOptions) {
    super({ keepAlive: true, timeout: idleMs, ...(secureContext && { secureContext }) } as AgentOptions)
    this.#named = named
    this.#lookup = sharedLookup((host) => allowedAddresses(host, named, resolve))
  }

  override createConnection(
    options: AgentOptions & { host?: string | null; path?: string | null },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const host = options.host ?? ''
    const kind = isIP(host) === 0 ? undefined : refusalOf(host, this.#named)
    if (kind === undefined)
      return super.createConnection({ ...options, lookup: this.#lookup } as typeof options, callback)
    // Beside an error there is no socket; the type of the callback asks for one.
    callback?.(new ForbiddenAddress(host, kind), undefined as never)
    return undefined
  }
}
