import { answerBounds } from '../../platform/index.ts'

/** Bytes for ffmpeg, or the reason why the connection ends. */
export type Passed = { readonly bytes: Buffer } | { readonly refusal: Refusal }

/** `detail`: the address of a redirect, the text that is no RTSP, or the error of the system. */
export type Refusal = { readonly problem: 'redirected' | 'not-a-stream' | 'unreachable'; readonly detail: string }

const dollar = 0x24
const lineFeed = 0x0a
const carriageReturn = 0x0d
/** ffmpeg reads 16 KiB of a description. */
const mostBodyBytes = 64 * 1024

type Head = { readonly length: number; readonly lines: readonly string[] }

/**
 * Reads the answers of a camera until it plays, and refuses a redirect: ffmpeg follows one, and sends the password there. Each answer
 * is written anew, so that ffmpeg cannot read another one in the same bytes. Interleaved frames and requests of the camera are
 * dropped.
 */
export class RtspAnswers {
  #bytes: Buffer = Buffer.alloc(0)

  /** The beginning of an answer that is not complete. */
  get beginning(): string {
    return this.#bytes.toString('latin1', 0, 100)
  }

  take(bytes: Buffer): Passed {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    const answers: Buffer[] = []
    for (;;) {
      const next = this.#next()
      if (next === undefined) return { bytes: Buffer.concat(answers) }
      if ('refusal' in next) return next
      answers.push(next.bytes)
    }
  }

  #next(): Passed | undefined {
    const begins = this.#bytes.findIndex((byte) => byte !== carriageReturn && byte !== lineFeed)
    this.#skip(begins < 0 ? this.#bytes.length : begins)
    return this.#bytes[0] === dollar ? this.#frame() : this.#message()
  }

  #frame(): Passed | undefined {
    const length = this.#bytes.length < 4 ? Infinity : 4 + this.#bytes.readUInt16BE(2)
    return length > this.#bytes.length ? undefined : this.#dropped(length)
  }

  #message(): Passed | undefined {
    const head = headOf(this.#bytes)
    if (!head) return this.#bytes.length > answerBounds.rtsp.bytes ? refused(this.beginning) : undefined
    const [first = ''] = head.lines
    const isRequest = requestLine.test(first)
    const length = bodyLength(head.lines)
    if (!(isRequest || answerLine.test(first)) || length > mostBodyBytes) return refused(first)
    const end = head.length + length
    if (end > this.#bytes.length) return undefined
    if (isRequest) return this.#dropped(end)
    const passed = answer(head.lines, this.#bytes.subarray(head.length, end))
    this.#skip(end)
    return passed
  }

  #dropped(length: number): Passed {
    this.#skip(length)
    return { bytes: Buffer.alloc(0) }
  }

  #skip(length: number): void {
    this.#bytes = this.#bytes.subarray(length)
  }
}

const refused = (detail: string): Passed => ({ refusal: { problem: 'not-a-stream', detail } })
const requestLine = /^[A-Z_]+ \S+ RTSP\/1\.\d$/
const answerLine = /^RTSP\/1\.\d +(\d{3})(?: +(.*))?$/
/** ffmpeg takes `$` at the beginning of a line for a frame, and other lines have no meaning. */
const headerLine = /^([A-Za-z0-9-]+):/
const lengthLine = /^content-length[ \t]*:[ \t]*(\d{1,9})[ \t]*$/i

/** Lines end as ffmpeg ends them: at a line feed. Undefined as long as the empty line is missing. */
function headOf(bytes: Buffer): Head | undefined {
  const lines: string[] = []
  for (let from = 0; ; ) {
    const to = bytes.indexOf(lineFeed, from)
    if (to < 0) return undefined
    const line = bytes.toString('latin1', from, to).replaceAll('\r', '')
    from = to + 1
    if (line === '') return { length: from, lines }
    lines.push(line)
  }
}

function bodyLength(lines: readonly string[]): number {
  return Number(lines.map((line) => lengthLine.exec(line)?.[1]).find((digits) => digits !== undefined) ?? 0)
}

function answer([first = '', ...lines]: readonly string[], body: Buffer): Passed {
  const [, status = '', reason = ''] = answerLine.exec(first) ?? []
  const headers = lines.filter((line) => headerLine.test(line))
  if (status.startsWith('3')) {
    const location = headers.map((line) => /^location:[ \t]*(.*)$/i.exec(line)?.[1]).find((to) => to !== undefined)
    return { refusal: { problem: 'redirected', detail: location ?? '' } }
  }
  const others = headers.filter((line) => !/^content-length:/i.test(line))
  const lengths = body.length > 0 ? [`Content-Length: ${body.length}`] : []
  const head = [`RTSP/1.0 ${status} ${reason}`, ...others, ...lengths, '', ''].join('\r\n')
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), body]) }
}
