import { isIP } from 'node:net'
import type { OnvifAddress, OnvifFailure, OnvifNews, OnvifProfile, Sighting } from './messages.ts'

/** A device of the network, as it is shown. All texts are clean. */
export type OnvifDevice = {
  readonly address: OnvifAddress
  readonly name: string
  readonly manufacturer: string
  readonly model: string
  readonly firmware: string
  /** Its clock against ours; null: unknown. */
  readonly clockAheadSeconds: number | null
  readonly channels: readonly OnvifChannel[]
  /** Why it did not tell everything; null: it did. `slow`: the time was over. */
  readonly failure: OnvifFailure | 'slow' | 'credentials-needed' | null
}

/** One picture of a device; a camera has one, a recorder several. */
export type OnvifChannel = {
  readonly profiles: readonly OnvifProfile[]
  /** For clips. */
  readonly main: OnvifProfile
  /** For detection; null: none is smaller. */
  readonly sub: OnvifProfile | null
}

const longestText = 120
const longestUrl = 2000
/** Detection looks at 160 x 90; below this width there is little left to scale down. */
const narrowestSub = 300

/** Removes characters that could act on a terminal: control characters, also those that change the direction of text. */
export function cleanText(text: string, longest = longestText): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, ' ').replace(/ {2,}/g, ' ')
  return visible.trim().slice(0, longest)
}

/** Returns where the service of a device is that answered a search. Only an address that answered is ever asked. */
export function addressOf({ from, xaddrs }: Sighting): OnvifAddress {
  const named = xaddrs
    .split(/\s+/)
    .slice(0, 16)
    .map((text) => (URL.canParse(text) ? new URL(text) : undefined))
    .filter((url) => url !== undefined && /^https?:$/.test(url.protocol))
  const url = named.find((one) => one?.hostname === from) ?? named[0]
  const secure = url?.protocol === 'https:'
  const path = url ? url.pathname.slice(0, longestUrl) : '/onvif/device_service'
  return { host: from, port: Number(url?.port || (secure ? 443 : 80)), path, secure }
}

/** Returns the name that a device gives itself in its scopes. */
export function nameIn(scopes: string): string {
  const part = (what: string) =>
    new RegExp(`onvif://www\\.onvif\\.org/${what}/(\\S{1,300})`, 'i').exec(scopes)?.[1] ?? ''
  return cleanText(decoded(part('name') || part('hardware')))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Puts together the answers of a device. `ended`: whether it answered all in time. */
export function deviceOf(
  address: OnvifAddress,
  scopes: string,
  news: readonly OnvifNews[],
  asking: { readonly ended: boolean; readonly withCredentials: boolean },
): OnvifDevice {
  const model = news.find((one) => one.kind === 'model')
  const failed = news.find((one) => one.kind === 'failed')
  const profiles = news.flatMap((one) => (one.kind === 'profile' ? usable(one.profile, address) : []))
  const refused = failed?.failure === 'refused' && !asking.withCredentials
  return {
    address,
    name: nameIn(scopes),
    manufacturer: cleanText(model?.manufacturer ?? ''),
    model: cleanText(model?.model ?? ''),
    firmware: cleanText(model?.firmware ?? ''),
    clockAheadSeconds: news.find((one) => one.kind === 'clock')?.aheadSeconds ?? null,
    channels: channelsOf(profiles),
    failure: refused ? 'credentials-needed' : (failed?.failure ?? (asking.ended ? null : 'slow')),
  }
}

/**
 * Returns a profile with clean texts and a stream at the device's own address. Cameras behind a router, or with an old
 * address in their settings, name another one; a false answer could name any.
 */
function usable(profile: OnvifProfile, { host }: OnvifAddress): OnvifProfile[] {
  const { url, width, height, picturesPerSecond } = profile
  if (url.length > longestUrl || cleanText(url, longestUrl) !== url || !URL.canParse(url)) return []
  const stream = new URL(url)
  if (stream.protocol !== 'rtsp:' && stream.protocol !== 'rtsps:') return []
  const rest = url.slice(url.indexOf('//') + 2).replace(/^[^/?#]*/, '')
  const name = isIP(host) === 6 ? `[${host}]` : host
  const port = stream.port ? `:${stream.port}` : ''
  return [
    {
      name: cleanText(profile.name),
      source: cleanText(profile.source),
      codec: cleanText(profile.codec, 20).toUpperCase(),
      width: Math.round(width),
      height: Math.round(height),
      picturesPerSecond,
      url: `${stream.protocol}//${name}${port}${rest}`,
    },
  ]
}

function channelsOf(profiles: readonly OnvifProfile[]): OnvifChannel[] {
  const sources = [...new Set(profiles.map(({ source }) => source))]
  return sources.flatMap((source) => {
    const own = profiles.filter((profile) => profile.source === source)
    const main = best(own, (a, b) => pixels(b) - pixels(a))
    if (!main) return []
    const smaller = own.filter(
      (one) => pixels(one) * 2 <= pixels(main) && one.width >= narrowestSub && one.url !== main.url,
    )
    return [{ profiles: own, main, sub: best(smaller, (a, b) => pixels(a) - pixels(b)) ?? null }]
  })
}

/** Prefers streams that are recorded as they are: H.264, then H.265, then the rest. */
function best(
  profiles: readonly OnvifProfile[],
  order: (a: OnvifProfile, b: OnvifProfile) => number,
): OnvifProfile | undefined {
  const rank = ({ codec }: OnvifProfile) => (codec === 'H264' ? 0 : codec === 'H265' ? 1 : 2)
  return [...profiles].sort((a, b) => rank(a) - rank(b) || order(a, b))[0]
}

function pixels({ width, height }: OnvifProfile): number {
  return width * height
}
