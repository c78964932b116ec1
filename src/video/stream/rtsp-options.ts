import { answerBounds, type Clock, dial } from '../../platform/index.ts'
import { resolveHost, type StreamSource } from './source.ts'

const defaultPort = 554

/** Facts that a server gives about itself. */
export type RtspAnswer = {
  readonly isRtsp: boolean
  /** The first line of its answer, as it came. */
  readonly firstLine: string
  /** Its clock against ours, exact to a second; null: it names no time. */
  readonly aheadSeconds: number | null
  /** Milliseconds from the request to the answer: `aheadSeconds` may be wrong by half of it, and by half a second. */
  readonly roundTripMs: number
}

/**
 * Sends OPTIONS, which needs no credentials, and reads the Date of the answer. Resolves with null when nothing answers
 * within `timeoutMs`, and for rtsps.
 */
export async function askOptions(source: StreamSource, clock: Clock, timeoutMs: number): Promise<RtspAnswer | null> {
  const { protocol, hostname, port } = new URL(source.url)
  if (protocol !== 'rtsp:') return null
  const host = (await resolveHost(source).catch(() => undefined)) ?? hostname.replace(/^\[|\]$/g, '')
  const sentAt = clock.now()
  const answer = await exchange(host, Number(port || defaultPort), requestFor(source.url), clock, timeoutMs)
  if (answer === undefined) return null
  const roundTripMs = clock.now() - sentAt
  const middle = sentAt + roundTripMs / 2
  const named = Date.parse(/^date:[ \t]*(.{1,60}?)[ \t]*$/im.exec(answer)?.[1] ?? '')
  // The header leaves the fraction out: on average half a second.
  const aheadSeconds = Number.isNaN(named) ? null : (named + 500 - middle) / 1000
  const firstLine = answer.split(/[\r\n]/, 1)[0] ?? ''
  return { isRtsp: /^RTSP\/1\.\d \d{3}/.test(answer), firstLine, aheadSeconds, roundTripMs }
}

function requestFor(url: string): string {
  const { protocol, host } = new URL(url)
  return `OPTIONS ${protocol}//${host}/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: gatehouse\r\n\r\n`
}

/** Resolves with the head of the answer, as far as it came; undefined for none. */
function exchange(
  host: string,
  port: number,
  request: string,
  clock: Clock,
  timeoutMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = dial({ host, port }, answerBounds.rtsp.bytes)
    const done = () => {
      cancel()
      socket.destroy()
      resolve(heard === '' ? undefined : heard)
    }
    const cancel = clock.after(timeoutMs, done)
    socket.setEncoding('latin1')
    socket.on('connect', () => socket.write(request))
    socket.on('error', done)
    socket.on('close', done)
    socket.on('data', (text: string) => {
      heard += text
      if (heard.includes('\r\n\r\n')) done()
    })
  })
}
