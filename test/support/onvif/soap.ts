import { createHash } from 'node:crypto'

/** A stream that a camera offers over ONVIF. */
export type OfferedProfile = {
  readonly token: string
  readonly name: string
  readonly source: string
  readonly encoding: string
  readonly width: number
  readonly height: number
  readonly fps: number
  readonly url: string
}

const envelope = 'http://www.w3.org/2003/05/soap-envelope'
const addressing = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
const discovery = 'http://schemas.xmlsoap.org/ws/2005/04/discovery'
const schema = 'http://www.onvif.org/ver10/schema'

/** Escapes a text for XML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export function soap(body: string, header = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<env:Envelope xmlns:env="${envelope}" xmlns:wsa="${addressing}" xmlns:d="${discovery}" xmlns:tt="${schema}" xmlns:tds="http://www.onvif.org/ver10/device/wsdl" xmlns:trt="http://www.onvif.org/ver10/media/wsdl" xmlns:ter="http://www.onvif.org/ver10/error"><env:Header>${header}</env:Header><env:Body>${body}</env:Body></env:Envelope>`
}

/** The answer to credentials that are missing or wrong: ONVIF Core, 5.9.2. */
export function notAuthorized(): string {
  return soap(
    '<env:Fault><env:Code><env:Value>env:Sender</env:Value><env:Subcode><env:Value>ter:NotAuthorized</env:Value></env:Subcode></env:Code><env:Reason><env:Text xml:lang="en">Sender not Authorized</env:Text></env:Reason></env:Fault>',
  )
}

export function dateAndTime(at: Date): string {
  const time = `<tt:Time><tt:Hour>${at.getUTCHours()}</tt:Hour><tt:Minute>${at.getUTCMinutes()}</tt:Minute><tt:Second>${at.getUTCSeconds()}</tt:Second></tt:Time>`
  const date = `<tt:Date><tt:Year>${at.getUTCFullYear()}</tt:Year><tt:Month>${at.getUTCMonth() + 1}</tt:Month><tt:Day>${at.getUTCDate()}</tt:Day></tt:Date>`
  return soap(
    `<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType><tt:DaylightSavings>false</tt:DaylightSavings><tt:UTCDateTime>${time}${date}</tt:UTCDateTime></tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>`,
  )
}

export function services(base: string): string {
  const service = (namespace: string, path: string) =>
    `<tds:Service><tds:Namespace>${namespace}</tds:Namespace><tds:XAddr>${base}${path}</tds:XAddr><tds:Version><tt:Major>2</tt:Major><tt:Minor>60</tt:Minor></tds:Version></tds:Service>`
  return soap(
    `<tds:GetServicesResponse>${service('http://www.onvif.org/ver10/device/wsdl', '/onvif/device_service')}${service('http://www.onvif.org/ver10/media/wsdl', '/onvif/media')}</tds:GetServicesResponse>`,
  )
}

export function deviceInformation(manufacturer: string, model: string): string {
  return soap(
    `<tds:GetDeviceInformationResponse><tds:Manufacturer>${escaped(manufacturer)}</tds:Manufacturer><tds:Model>${escaped(model)}</tds:Model><tds:FirmwareVersion>1.2.3</tds:FirmwareVersion><tds:SerialNumber>0001</tds:SerialNumber><tds:HardwareId>1.0</tds:HardwareId></tds:GetDeviceInformationResponse>`,
  )
}

export function profiles(offered: readonly OfferedProfile[]): string {
  const one = ({ token, name, source, encoding, width, height, fps }: OfferedProfile) =>
    `<trt:Profiles token="${token}" fixed="true"><tt:Name>${escaped(name)}</tt:Name><tt:VideoSourceConfiguration token="vsc"><tt:Name>vsc</tt:Name><tt:UseCount>2</tt:UseCount><tt:SourceToken>${source}</tt:SourceToken></tt:VideoSourceConfiguration><tt:VideoEncoderConfiguration token="vec_${token}"><tt:Name>vec</tt:Name><tt:Encoding>${encoding}</tt:Encoding><tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution><tt:RateControl><tt:FrameRateLimit>${fps}</tt:FrameRateLimit><tt:BitrateLimit>4096</tt:BitrateLimit></tt:RateControl></tt:VideoEncoderConfiguration></trt:Profiles>`
  return soap(`<trt:GetProfilesResponse>${offered.map(one).join('')}</trt:GetProfilesResponse>`)
}

export function streamUri(url: string): string {
  return soap(
    `<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>${escaped(url)}</tt:Uri><tt:InvalidAfterConnect>false</tt:InvalidAfterConnect></trt:MediaUri></trt:GetStreamUriResponse>`,
  )
}

/** WS-Discovery, 5.3: the answer to a probe. */
export function probeMatches(relatesTo: string, urn: string, scopes: readonly string[], xaddr: string): string {
  return soap(
    `<d:ProbeMatches><d:ProbeMatch><wsa:EndpointReference><wsa:Address>${urn}</wsa:Address></wsa:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>${scopes.map(escaped).join(' ')}</d:Scopes><d:XAddrs>${escaped(xaddr)}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion></d:ProbeMatch></d:ProbeMatches>`,
    `<wsa:RelatesTo>${relatesTo}</wsa:RelatesTo><wsa:Action>${discovery}/ProbeMatches</wsa:Action>`,
  )
}

/** Says whether a request has the digest of WS-Security UsernameToken 1.0 for these credentials. */
export function isSigned(request: string, { username, password }: { username: string; password: string }): boolean {
  const of = (tag: string) => new RegExp(`<(?:\\w+:)?${tag}(?: [^>]*)?>([^<]*)<`).exec(request)?.[1] ?? ''
  const sum = createHash('sha1')
    .update(Buffer.from(of('Nonce'), 'base64'))
    .update(of('Created'))
    .update(password)
  return of('Username') === username && of('Password') === sum.digest('base64')
}
