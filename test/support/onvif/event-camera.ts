/** The event service of a camera without hardware: pull points by SOAP over HTTP, in the manner of a maker, with faults on command. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Habits, MakersRule } from './makers.ts'
import { dateAndTime, escaped, isSigned, notAuthorized, soap } from './soap.ts'

/**
 * - `forgets`: it knows no subscription, a new one neither
 * - `refuses`: the account is not one of ONVIF
 * - `full`: other recorders have all subscriptions
 * - `cut`: each connection is cut
 * - `endless`: an answer without an end
 * - `garbage`: no XML
 * - `entities`: a document type
 * - `deep`: elements without an end
 * - `without`: no event service
 */
export type EventFault =
  | 'forgets'
  | 'refuses'
  | 'full'
  | 'cut'
  | 'endless'
  | 'garbage'
  | 'entities'
  | 'deep'
  | 'without'

export type EventCameraOptions = {
  readonly habits?: Habits
  readonly auth?: { readonly username: string; readonly password: string }
  readonly clockAheadMs?: number
}

/** A message as it is sent. `at`: by the camera's clock; default: now. */
export type Message = Pick<MakersRule, 'topic' | 'source'> & {
  readonly data: Readonly<Record<string, string>>
  readonly operation?: 'Initialized' | 'Changed' | 'Deleted'
  readonly at?: Date
}

type Say = (text: string, status?: number) => void
type Point = { readonly queue: Message[]; waiting: (() => void) | undefined; endsMs: number }

const tev = 'http://www.onvif.org/ver10/events/wsdl'
const wsnt = 'http://docs.oasis-open.org/wsn/b-2'
const usual: Habits = { naming: 'query', renews: true }
const lifeMs = 60_000
/** ONVIF leaves the tolerance to the camera; five seconds are usual. */
const toleranceMs = 5000

export class EventCamera {
  fault: EventFault | undefined
  /** How often each operation was asked for. */
  readonly asked: Record<string, number> = {}
  /** Questions about a subscription that did not name it. */
  unnamed = 0
  /** The state of its rules, which it sends first in each subscription, as `Initialized`. */
  initial: readonly Message[] = []
  readonly #options: EventCameraOptions
  readonly #points = new Map<string, Point>()
  readonly #server: Server
  #last = 0

  constructor(options: EventCameraOptions = {}) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  /** The device service. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/onvif/device_service`
  }

  get subscriptions(): number {
    return this.#points.size
  }

  /** Restarts, and forgets all subscriptions. */
  restart(): void {
    this.#points.clear()
    this.#server.closeAllConnections()
  }

  emit(...messages: Message[]): void {
    for (const { queue, waiting } of this.#points.values()) {
      queue.push(...messages)
      waiting?.()
    }
  }

  begin({ topic, source, on }: MakersRule): void {
    this.emit({ topic, ...(source && { source }), data: on })
  }

  end({ topic, source, off }: MakersRule): void {
    if (off) this.emit({ topic, ...(source && { source }), data: off })
  }

  get #habits(): Habits {
    return this.#options.habits ?? usual
  }

  #nowMs(): number {
    return Date.now() + (this.#options.clockAheadMs ?? 0)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const name = /<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)/.exec(body)?.[1] ?? ''
    this.asked[name] = (this.asked[name] ?? 0) + 1
    const answerWith = (text: string, status?: number) => say(response, text, status)
    if (this.fault === 'cut') return void response.destroy()
    if (this.fault === 'endless') return pour(response)
    if (this.fault === 'garbage') return void answerWith('\u0000\u001b[31m<<<&&& no xml')
    if (this.fault === 'entities') return void answerWith('<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>')
    if (this.fault === 'deep') return void answerWith('<a>'.repeat(50_000))
    if (name === 'GetSystemDateAndTime') return void answerWith(dateAndTime(new Date(this.#nowMs())))
    if (this.fault === 'refuses' || !this.#mayAsk(body)) return void answerWith(notAuthorized(), 400)
    if (name === 'GetCapabilities') return void answerWith(this.#capabilities())
    if (name === 'CreatePullPointSubscription') return this.#subscribe(answerWith)
    const pullMs = Number(/Timeout>PT(\d+)S</.exec(body)?.[1] ?? 0) * 1000
    const id = this.#named(request.url ?? '', body)
    const answer = this.#ofPoint(name, id, answerWith)
    if (answer) this.#hold(answer, pullMs, response)
  }

  /** A digest of another time could be one that was heard before. */
  #mayAsk(body: string): boolean {
    const { auth } = this.#options
    if (!auth) return true
    const created = Date.parse(/<(?:\w+:)?Created[^>]*>([^<]*)</.exec(body)?.[1] ?? '')
    return isSigned(body, auth) && Math.abs(created - this.#nowMs()) < toleranceMs
  }

  #capabilities(): string {
    const base = this.#base
    const events =
      this.fault === 'without'
        ? ''
        : `<tt:Events><tt:XAddr>${base}/onvif/event_service</tt:XAddr><tt:WSPullPointSupport>true</tt:WSPullPointSupport></tt:Events>`
    return soap(
      `<tds:GetCapabilitiesResponse><tds:Capabilities>${events}</tds:Capabilities></tds:GetCapabilitiesResponse>`,
    )
  }

  get #base(): string {
    return `http://${this.#habits.namedHost ?? new URL(this.url).host}`
  }

  #subscribe(say: Say): void {
    if (this.fault === 'full') {
      say(fault('ter:Action', 'MaxPullPoints reached'), 500)
      return
    }
    this.#last += 1
    const id = String(this.#last)
    this.#points.set(id, { queue: [...this.initial], waiting: undefined, endsMs: Date.now() + lifeMs })
    const { naming } = this.#habits
    const address = {
      path: `/onvif/event_service/${id}`,
      query: `/onvif/events?Idx=${id}`,
      parameters: '/onvif/services',
    }
    const parameters =
      naming === 'parameters'
        ? `<wsa5:ReferenceParameters><dom0:SubscriptionId xmlns:dom0="http://www.axis.com/2009/event">${id}</dom0:SubscriptionId></wsa5:ReferenceParameters>`
        : ''
    say(
      soap(
        `<tev:CreatePullPointSubscriptionResponse xmlns:tev="${tev}" xmlns:wsa5="http://www.w3.org/2005/08/addressing"><tev:SubscriptionReference><wsa5:Address>${this.#base}${address[naming]}</wsa5:Address>${parameters}</tev:SubscriptionReference>${this.#times()}</tev:CreatePullPointSubscriptionResponse>`,
      ),
    )
  }

  #named(path: string, body: string): string {
    if (this.#habits.naming === 'path') return /service\/(\d+)$/.exec(path)?.[1] ?? ''
    if (this.#habits.naming === 'query') return /Idx=(\d+)/.exec(path)?.[1] ?? ''
    return /<(\w+):SubscriptionId[^>]*xmlns:\1="http:\/\/www.axis.com\/2009\/event"[^>]*>(\d+)</.exec(body)?.[2] ?? ''
  }

  /** Answers a question about a subscription. Returns the subscription when it is a pull. */
  #ofPoint(name: string, id: string, say: Say): Point | undefined {
    if (id === '') this.unnamed += 1
    const point = this.#points.get(id)
    if (!point || point.endsMs < Date.now() || this.fault === 'forgets') {
      this.#points.delete(id)
      say(fault('wsrf-rw:ResourceUnknownFault', 'The subscription does not exist'), 400)
      return undefined
    }
    if (name === 'Unsubscribe') {
      this.#points.delete(id)
      say(soap(`<wsnt:UnsubscribeResponse xmlns:wsnt="${wsnt}"/>`))
      return undefined
    }
    if (name === 'Renew' && !this.#habits.renews) {
      say(fault('ter:ActionNotSupported', 'Optional Action'), 500)
      return undefined
    }
    point.endsMs = Date.now() + lifeMs
    if (name !== 'Renew') return point
    say(soap(`<wsnt:RenewResponse xmlns:wsnt="${wsnt}">${this.#times()}</wsnt:RenewResponse>`))
    return undefined
  }

  /** Answers a pull when there is something, or after its time. */
  #hold(point: Point, pullMs: number, response: ServerResponse): void {
    const answer = () => {
      clearTimeout(timer)
      point.waiting = undefined
      say(response, this.#messages(point.queue.splice(0, 50)))
    }
    const timer = setTimeout(answer, this.#habits.hasty ? 0 : pullMs)
    response.once('close', () => clearTimeout(timer))
    if (point.queue.length > 0) answer()
    else point.waiting = answer
  }

  #times(): string {
    const [now, end] = [this.#nowMs(), this.#nowMs() + lifeMs].map((ms) => new Date(ms).toISOString())
    return `<wsnt:CurrentTime xmlns:wsnt="${wsnt}">${now}</wsnt:CurrentTime><wsnt:TerminationTime xmlns:wsnt="${wsnt}">${end}</wsnt:TerminationTime>`
  }

  #messages(messages: readonly Message[]): string {
    const items = (of: Readonly<Record<string, string>> = {}) =>
      Object.entries(of)
        .map(([name, value]) => `<tt:SimpleItem Name="${escaped(name)}" Value="${escaped(value)}"/>`)
        .join('')
    const one = ({ topic, source, data, operation = 'Changed', at }: Message) => {
      const time = this.#habits.has1970 ? new Date(0) : (at ?? new Date(this.#nowMs()))
      return `<wsnt:NotificationMessage><wsnt:Topic Dialect="${tev.replace('events', 'tev')}">${escaped(topic)}</wsnt:Topic><wsnt:Message><tt:Message UtcTime="${time.toISOString()}" PropertyOperation="${operation}"><tt:Source>${items(source)}</tt:Source><tt:Data>${items(data)}</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage>`
    }
    return soap(
      `<tev:PullMessagesResponse xmlns:tev="${tev}" xmlns:wsnt="${wsnt}">${this.#times()}${messages.map(one).join('')}</tev:PullMessagesResponse>`,
    )
  }
}

function say(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/soap+xml; charset=utf-8' }).end(text)
}

function fault(code: string, text: string): string {
  return soap(
    `<env:Fault><env:Code><env:Value>env:Sender</env:Value><env:Subcode><env:Value>${code}</env:Value></env:Subcode></env:Code><env:Reason><env:Text xml:lang="en">${text}</env:Text></env:Reason></env:Fault>`,
  )
}

function pour(response: ServerResponse): void {
  const more = () => {
    if (!response.destroyed && response.write('<a xmlns:b="c">'.repeat(4000))) setImmediate(more)
  }
  response.on('drain', more)
  more()
}
