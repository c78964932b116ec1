import ipaddr from 'ipaddr.js'

/**
 * Returns the network of an address: an IPv4 address itself, or its /64 of IPv6, which one household or attacker has.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}

/** Returns the network of an address as a site has it: the /24 of an IPv4 address, or its /64 of IPv6. */
export function neighbourhoodOf(address: string): string {
  return networkOf(address).replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0/24')
}
