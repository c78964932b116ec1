import { createHash } from 'node:crypto'
import { escapedMarkup } from '../../platform/index.ts'
import { type Element, found, foundAll } from './xml-tree.ts'

export type Credentials = { readonly username: string; readonly password: string }

/** A request to a service of the camera. `reference`: header elements that belong to its subscription. */
export type Question = { readonly action: string; readonly body: string; readonly reference?: string }

/** A message of a camera about one of its rules, as it came. */
export type Notice = {
  readonly topic: string
  /** `Initialized`, `Changed`, `Deleted`, or empty. */
  readonly operation: string
  /** By the camera's clock; null when it states none. */
  readonly atMs: number | null
  readonly source: Items
  readonly data: Items
}
export type Items = ReadonlyMap<string, string>

const oasis = 'http://docs.oasis-open.org'
const wss = `${oasis}/wss/2004/01/oasis-200401-wss`
const device = 'http://www.onvif.org/ver10/device/wsdl'
const events = 'http://www.onvif.org/ver10/events/wsdl'
const notification = `${oasis}/wsn/bw-2`

/** For how long a subscription lives without `Renew`. */
export const livesSeconds = 60
const mostMessages = 50
/** More of one answer is dropped: a camera is asked for `mostMessages`. */
const mostNotices = 200

export const questions = {
  clock: { action: `${device}/GetSystemDateAndTime`, body: `<GetSystemDateAndTime xmlns="${device}"/>` },
  capabilities: {
    action: `${device}/GetCapabilities`,
    body: `<GetCapabilities xmlns="${device}"><Category>Events</Category></GetCapabilities>`,
  },
  subscribe: {
    action: `${events}/EventPortType/CreatePullPointSubscriptionRequest`,
    body: `<CreatePullPointSubscription xmlns="${events}"><InitialTerminationTime>PT${livesSeconds}S</InitialTerminationTime></CreatePullPointSubscription>`,
  },
  renew: {
    action: `${notification}/SubscriptionManager/RenewRequest`,
    body: `<Renew xmlns="${oasis}/wsn/b-2"><TerminationTime>PT${livesSeconds}S</TerminationTime></Renew>`,
  },
  unsubscribe: {
    action: `${notification}/SubscriptionManager/UnsubscribeRequest`,
    body: `<Unsubscribe xmlns="${oasis}/wsn/b-2"/>`,
  },
} satisfies Record<string, Question>

/** Asks for events. The camera waits so long when it has none. */
export function pullWithin(seconds: number): Question {
  return {
    action: `${events}/PullPointSubscription/PullMessagesRequest`,
    body: `<PullMessages xmlns="${events}"><Timeout>PT${seconds}S</Timeout><MessageLimit>${mostMessages}</MessageLimit></PullMessages>`,
  }
}

/** Returns the envelope of a request to `to`. `token`: the header that signs it. */
export function envelope({ action, body, reference = '' }: Question, to: string, token: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://www.w3.org/2005/08/addressing"><s:Header>${token}<a:Action>${action}</a:Action><a:To>${escapedMarkup(to)}</a:To>${reference}</s:Header><s:Body>${body}</s:Body></s:Envelope>`
}

/** Returns the UsernameToken of WS-Security 1.0. `createdMs`: by the camera's clock, which refuses other times. */
export function signature({ username, password }: Credentials, createdMs: number, nonce: Uint8Array): string {
  const created = new Date(createdMs).toISOString()
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  return `<Security s:mustUnderstand="1" xmlns="${wss}-wssecurity-secext-1.0.xsd"><UsernameToken><Username>${escapedMarkup(username)}</Username><Password Type="${wss}-username-token-profile-1.0#PasswordDigest">${digest}</Password><Nonce EncodingType="${wss}-soap-message-security-1.0#Base64Binary">${Buffer.from(nonce).toString('base64')}</Nonce><Created xmlns="${wss}-wssecurity-utility-1.0.xsd">${created}</Created></UsernameToken></Security>`
}

/** Returns code and text of a fault; undefined for another answer. */
export function faultIn(answer: Element): string | undefined {
  const fault = found(answer, 'Fault')
  return fault && [...foundAll(fault, 'Value'), ...foundAll(fault, 'Text')].map(({ text }) => text).join(' ')
}

/** Returns the camera's time; undefined when it names none in UTC. */
export function clockIn(answer: Element): number | undefined {
  const utc = found(answer, 'UTCDateTime')
  const part = (name: string) => Number(found(utc, name)?.text ?? Number.NaN)
  const ms = Date.UTC(part('Year'), part('Month') - 1, part('Day'), part('Hour'), part('Minute'), part('Second'))
  return utc && Number.isFinite(ms) ? ms : undefined
}

/** Returns path and query of the event service; undefined when the camera has none. */
export function eventPathIn(answer: Element): string | undefined {
  const path = pathOf(found(found(answer, 'Events'), 'XAddr')?.text ?? '')
  return path === '/' ? undefined : path
}

export type Subscription = {
  /** Path and query of its address. The host is the one that was asked, because a camera may name any. */
  readonly path: string | undefined
  /** Header elements that each request about it repeats. */
  readonly reference: string
}

export function subscriptionIn(answer: Element): Subscription | undefined {
  const reference = found(answer, 'SubscriptionReference')
  if (!reference) return undefined
  const parameters = found(reference, 'ReferenceParameters')?.children ?? []
  return { path: pathOf(found(reference, 'Address')?.text ?? ''), reference: parameters.map(written).join('') }
}

/** Returns for how long a subscription lives from now on; undefined when the answer does not state it. */
export function lifetimeIn(answer: Element): number | undefined {
  const [now, end] = ['CurrentTime', 'TerminationTime'].map((name) => Date.parse(found(answer, name)?.text ?? ''))
  const ms = (end ?? Number.NaN) - (now ?? Number.NaN)
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

export function noticesIn(answer: Element): Notice[] {
  return foundAll(answer, 'NotificationMessage').slice(0, mostNotices).flatMap(noticeOf)
}

function noticeOf(notice: Element): Notice[] {
  const topic = notice.children.find(({ name }) => name === 'Topic')?.text ?? ''
  const outer = notice.children.find(({ name }) => name === 'Message')
  const message = outer && (found(outer.children[0], 'Message') ?? outer)
  if (topic === '' || !message) return []
  const atMs = Date.parse(message.attributes.get('UtcTime') ?? '')
  return [
    {
      topic,
      operation: message.attributes.get('PropertyOperation') ?? '',
      atMs: Number.isNaN(atMs) ? null : atMs,
      source: itemsIn(message, 'Source'),
      data: itemsIn(message, 'Data'),
    },
  ]
}

function itemsIn(message: Element, part: string): Items {
  const items = message.children.filter(({ name }) => name === part).flatMap((one) => foundAll(one, 'SimpleItem'))
  return new Map(items.map(({ attributes }) => [attributes.get('Name') ?? '', attributes.get('Value') ?? '']))
}

function pathOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { pathname, search } = new URL(address)
  return `${pathname}${search}`
}

function written({ name, namespace, text, children }: Element): string {
  return `<r:${name} xmlns:r="${escapedMarkup(namespace)}" a:IsReferenceParameter="true">${escapedMarkup(text)}${children.map(written).join('')}</r:${name}>`
}
