import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A network that the config names, as address and prefix length. */
export type Network = readonly [Address, number]

/** Networks from CIDRs; a bare address means itself. Unreadable text names no network. */
export function parseNetworks(cidrs: readonly string[]): Network[] {
  return cidrs.map(parseNetwork).filter((network) => network !== undefined)
}

function parseNetwork(cidr: string): Network | undefined {
  if (ipaddr.isValidCIDR(cidr)) return ipaddr.parseCIDR(cidr)
  const address = parse(cidr)
  return address && [address, address.kind() === 'ipv4' ? 32 : 128]
}

/**
 * Why a webhook must not go to an address: one or two words such as `loopback`; undefined when it may. Only what is globally
 * routable passes by itself. A named network passes too. An address in it that carries an IPv4 address (NAT64, 6to4 …) passes only
 * when that IPv4 address may be called as well. Naming the translator does not name the hosts behind it.
 */
export function refusalOf(address: string, named: readonly Network[]): string | undefined {
  const parsed = parse(address)
  if (!parsed) return 'not an address'
  const kind = kindOf(parsed)
  if (kind === undefined) return undefined
  if (!isNamed(parsed, named)) return kind
  const inner = embeddedIPv4(parsed)
  return inner && refusalOf(inner.toString(), named)
}

/** Whether a host name means this machine whatever the resolver says (RFC 6761): localhost and all below it. */
export function isLoopbackName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.+$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}

/** Where a loopback name leads, as far as the config names it. */
export function loopbackAddresses(named: readonly Network[]): string[] {
  return ['127.0.0.1', '::1'].filter((address) => refusalOf(address, named) === undefined)
}

/** The host of a URL as `net` and the resolver want it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

const kinds: Record<string, string> = {
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  carrierGradeNat: 'carrier-grade NAT',
  linkLocal: 'link-local',
  ipv4Mapped: 'translated',
  rfc6145: 'translated',
  rfc6052: 'translated',
  '6to4': 'translated',
  teredo: 'translated',
  loopback: 'loopback',
  multicast: 'multicast',
  broadcast: 'broadcast',
  unspecified: 'unspecified',
}

/** Azure's metadata service answers at a public address; those of other clouds lie in link-local or private networks. */
const metadataAddress = '168.63.129.16'

function kindOf(address: Address): string | undefined {
  const range: string = address.range()
  if (range !== 'unicast') return kinds[range] ?? 'reserved'
  if (address.toString() === metadataAddress) return 'metadata'
  // Global IPv6 is 2000::/3; the rest, such as ::/96 with its embedded IPv4, is unassigned or long deprecated.
  const global = address.kind() === 'ipv4' || ((address as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1
  return global ? undefined : 'reserved'
}

function parse(address: string): Address | undefined {
  const family = isIP(address)
  if (family === 0) return undefined
  return family === 4 ? ipaddr.IPv4.parse(address) : ipaddr.IPv6.parse(address)
}

function isNamed(address: Address, named: readonly Network[]): boolean {
  const plain = isMapped(address) ? address.toIPv4Address() : address
  return named.some(([network, bits]) =>
    [plain, address].some((one) => one.kind() === network.kind() && one.match(network, bits)),
  )
}

function isMapped(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()
}

function embeddedIPv4(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined
  const { parts } = address as ipaddr.IPv6
  switch (address.range()) {
    case 'ipv4Mapped':
    case 'rfc6145':
    case 'rfc6052':
      return ipv4(parts[6], parts[7])
    case '6to4':
      return ipv4(parts[1], parts[2])
    case 'teredo':
      return ipv4((parts[6] ?? 0) ^ 0xffff, (parts[7] ?? 0) ^ 0xffff)
    default:
      return undefined
  }
}

function ipv4(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])
}
