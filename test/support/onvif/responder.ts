/**
 * The ONVIF side of a camera without hardware. Answers WS-Discovery on loopback (UDP 3702) and SOAP over HTTP, with the
 * digests of WS-Security, and fails on command. Needs Node alone.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  dateAndTime,
  deviceInformation,
  isSigned,
  notAuthorized,
  type OfferedProfile,
  probeMatches,
  profiles,
  services,
  streamUri,
} from './soap.ts'

/**
 * Fault of its answers over HTTP.
 *
 * - `endless`: an answer without an end
 * - `slow`: a byte now and then
 * - `entities`: a document type that multiplies itself
 * - `redirect`: a redirect to another address
 * - `garbage`: no XML
 * - `nested`: very deep XML
 */
export type Fault = 'endless' | 'slow' | 'entities' | 'redirect' | 'garbage' | 'nested'

export type ResponderOptions = {
  readonly profiles?: readonly OfferedProfile[]
  readonly auth?: { readonly username: string; readonly password: string }
  readonly manufacturer?: string
  readonly model?: string
  readonly name?: string
  readonly clockAheadMs?: number
  readonly fault?: Fault
  /** Its host name in answers; default: its address. */
  readonly namedHost?: string
}

export type Responder = {
  readonly port: number
  /** How many requests came over HTTP. */
  readonly requests: () => number
  /** All that was sent to it. */
  readonly heard: () => string
  stop(): Promise<void>
}

const group = '239.255.255.250'
const discoveryPort = 3702

export async function startResponder(options: ResponderOptions = {}): Promise<Responder> {
  const device = new Device(options)
  await device.start()
  return {
    port: device.port,
    requests: () => device.requests,
    heard: () => device.heard,
    stop: () => device.stop(),
  }
}

class Device {
  requests = 0
  heard = ''
  readonly #options: ResponderOptions
  readonly #server: Server
  readonly #udp: UdpSocket
  readonly #sockets = new Set<Socket>()

  constructor(options: ResponderOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
    })
    this.#udp = createSocket({ type: 'udp4', reuseAddr: true })
    this.#udp.on('message', (message, { port, address }) => this.#probed(message.toString(), port, address))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    this.#udp.bind(discoveryPort)
    await Promise.all([once(this.#server, 'listening'), once(this.#udp, 'listening')])
    this.#udp.addMembership(group, '127.0.0.1')
  }

  async stop(): Promise<void> {
    this.#udp.close()
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(this.#server, 'close')
  }

  get #base(): string {
    return `http://${this.#options.namedHost ?? '127.0.0.1'}:${this.port}`
  }

  #probed(message: string, port: number, address: string): void {
    const id = /<(?:\w+:)?MessageID[^>]*>([^<]+)</.exec(message)?.[1]
    if (!id || !message.includes('Probe')) return
    const name = encodeURIComponent(this.#options.name ?? 'Camera')
    const scopes = ['onvif://www.onvif.org/type/video_encoder', `onvif://www.onvif.org/name/${name}`]
    const answer = probeMatches(id, `urn:uuid:${this.port}`, scopes, `${this.#base}/onvif/device_service`)
    this.#udp.send(answer, port, address)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    this.heard += body
    const { fault } = this.#options
    if (fault) misbehave(fault, response)
    else {
      const answer = this.#answer(body)
      const status = answer.includes(':Fault>') ? 400 : 200
      response.writeHead(status, { 'Content-Type': 'application/soap+xml; charset=utf-8' }).end(answer)
    }
  }

  #answer(body: string): string {
    const { auth, clockAheadMs = 0, manufacturer = 'Maker', model = 'Model 1' } = this.#options
    const offered = this.#options.profiles ?? []
    if (body.includes('GetSystemDateAndTime')) return dateAndTime(new Date(Date.now() + clockAheadMs))
    if (body.includes('GetServices')) return services(this.#base)
    if (auth && !isSigned(body, auth)) return notAuthorized()
    if (body.includes('GetDeviceInformation')) return deviceInformation(manufacturer, model)
    if (body.includes('GetProfiles')) return profiles(offered)
    const token = /ProfileToken>([^<]*)</.exec(body)?.[1]
    return streamUri(offered.find((one) => one.token === token)?.url ?? '')
  }
}

function misbehave(fault: Fault, response: ServerResponse): void {
  switch (fault) {
    case 'garbage':
      response.end('\u0000\u001b[31m<<<<&&& no xml')
      break
    case 'redirect':
      response.writeHead(302, { Location: 'http://127.0.0.1:1/elsewhere' }).end()
      break
    case 'entities':
      response.end(`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${multiplied()}]><x>&h;</x>`)
      break
    case 'nested':
      response.end('<a>'.repeat(200_000))
      break
    case 'endless':
      pour(response)
      break
    case 'slow':
      drip(response)
      break
  }
}

function multiplied(): string {
  const names = 'abcdefgh'
  return [...names.slice(1)].map((name, i) => `<!ENTITY ${name} "${`&${names[i]};`.repeat(10)}">`).join('')
}

function pour(response: ServerResponse): void {
  const more = () => {
    if (!response.destroyed && response.write('<a xmlns:b="c">'.repeat(4000))) setImmediate(more)
  }
  response.on('drain', more)
  more()
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 300)
  response.once('close', () => clearInterval(timer))
}
