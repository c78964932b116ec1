/** RTSP messages (RFC 2326) on a connection that also carries interleaved packets. */

export type Request = {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

export type Response = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const reasons: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  453: 'Not Enough Bandwidth',
  454: 'Session Not Found',
  461: 'Unsupported Transport',
  503: 'Service Unavailable',
}

const dollar = 0x24
const longestHead = 64 << 10

/** Cuts what a client sends into requests; the packets between them (its receiver reports) are passed over. */
export class RequestReader {
  #bytes = Buffer.alloc(0)

  /** The requests that these bytes complete. Throws when what comes cannot be RTSP. */
  take(bytes: Buffer): Request[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    const requests: Request[] = []
    for (let length = this.#messageLength(); length !== undefined; length = this.#messageLength()) {
      const message = this.#bytes.subarray(0, length)
      this.#bytes = this.#bytes.subarray(length)
      if (message[0] !== dollar) requests.push(parse(message.toString('latin1')))
    }
    return requests
  }

  /** Undefined as long as the first message is not complete. */
  #messageLength(): number | undefined {
    const length = this.#bytes[0] === dollar ? this.#packetLength() : this.#requestLength()
    return length !== undefined && length <= this.#bytes.length ? length : undefined
  }

  #packetLength(): number | undefined {
    return this.#bytes.length < 4 ? undefined : 4 + this.#bytes.readUInt16BE(2)
  }

  #requestLength(): number | undefined {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0 && this.#bytes.length > longestHead) throw new Error('no end of the request')
    if (end < 0) return undefined
    const body = /\r\ncontent-length: *(\d+)/i.exec(this.#bytes.toString('latin1', 0, end))?.[1]
    return end + 4 + Number(body ?? 0)
  }
}

/** The bytes of a response. Header values are written as they are. */
export function format(response: Response, cseq: string | undefined): string {
  const { status, headers = {}, body = '' } = response
  const lines = [`RTSP/1.0 ${status} ${reasons[status] ?? 'Status'}`]
  if (cseq !== undefined) lines.push(`CSeq: ${cseq}`)
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body) lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

function parse(message: string): Request {
  const [first = '', ...lines] = message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n')
  const [, method, url] = /^([A-Z_]+) (\S+) RTSP\/1\.\d$/.exec(first) ?? []
  if (!method || !url) throw new Error(`no RTSP request: ${first}`)
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { method, url, headers: Object.fromEntries(headers) }
}
