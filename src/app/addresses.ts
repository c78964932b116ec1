import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Returns a function that finds the client's address: the peer's, unless the peer is a configured proxy. Behind one it is the last
 * address in X-Forwarded-For that is not a configured proxy. Addresses that a client writes into that header itself are never used.
 */
export function addressResolver(trustedProxies: readonly string[]) {
  const isTrusted = within(trustedProxies)
  return ({ peer, forwarded }: { peer: string | undefined; forwarded: string | undefined }): string => {
    const direct = normalise(peer ?? 'unknown')
    if (!forwarded || !isTrusted(direct)) return direct
    const hops = forwarded.split(',').map((hop) => hop.trim())
    const client = hops.findLast((hop) => !isTrusted(hop))
    return client !== undefined && ipaddr.isValid(client) ? normalise(client) : direct
  }
}

/** Returns a function that decides whether the client uses TLS, with us or with a configured proxy that reports it. */
export function tlsResolver(trustedProxies: readonly string[]) {
  const isTrusted = within(trustedProxies)
  return (raw: { encrypted: boolean; peer: string | undefined; proto: string | undefined }): boolean =>
    raw.encrypted || (raw.proto === 'https' && isTrusted(normalise(raw.peer ?? 'unknown')))
}

export function within(cidrs: readonly string[]): (address: string) => boolean {
  const networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return networks.some(([network, bits]) =>
      address instanceof ipaddr.IPv4
        ? network instanceof ipaddr.IPv4 && address.match(network, bits)
        : network instanceof ipaddr.IPv6 && address.match(network, bits),
    )
  }
}

function normalise(address: string): string {
  // As the system writes it, which is how nearly every peer comes.
  if (isIPv4(address)) return address
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
