import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A stranger where the redirects of a hostile camera lead: it asks for the password in clear, and keeps all that it gets. */
export type Stranger = { readonly url: string; readonly received: () => string; readonly connections: () => number }

const sdp =
  'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n'
const basic = 'WWW-Authenticate: Basic realm="camera"\r\n'

type Asked = { readonly method: string; readonly cseq: string; readonly isSignedIn: boolean }
const answer = (status: string, { cseq }: Asked, headers = '', body = ''): string =>
  `RTSP/1.0 ${status}\r\nCSeq: ${cseq}\r\n${headers}${body ? `Content-Length: ${body.length}\r\n` : ''}\r\n${body}`
const moved = (asked: Asked, to: string, status = '302 Found') => answer(status, asked, `Location: ${to}\r\n`)

/** Answers as a camera does, until PLAY. */
function wellBehaved(asked: Asked): string {
  if (asked.method === 'DESCRIBE' && !asked.isSignedIn) return answer('401 Unauthorized', asked, basic)
  if (asked.method === 'DESCRIBE') return answer('200 OK', asked, 'Content-Type: application/sdp\r\n', sdp)
  if (asked.method === 'SETUP')
    return answer('200 OK', asked, 'Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n')
  return answer('200 OK', asked, 'Session: 1\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY\r\n')
}

/** Frame of four bytes that holds so many bytes of a channel. */
const frame = (bytes: string) => `$\u0000${String.fromCharCode(bytes.length >> 8, bytes.length & 255)}${bytes}`

/** A redirect, openly or hidden from a reader that reads the answers in another way than ffmpeg. `to`: where the stranger is. */
const redirects = {
  'OPTIONS, 302': (asked, to) => (asked.method === 'OPTIONS' ? moved(asked, to) : wellBehaved(asked)),
  'OPTIONS, 301': (asked, to) =>
    asked.method === 'OPTIONS' ? moved(asked, to, '301 Moved Permanently') : wellBehaved(asked),
  'DESCRIBE, 302': (asked, to) => (asked.method === 'DESCRIBE' ? moved(asked, to) : wellBehaved(asked)),
  'DESCRIBE, 305': (asked, to) =>
    asked.method === 'DESCRIBE' ? moved(asked, to, '305 Use Proxy') : wellBehaved(asked),
  'DESCRIBE, with the password': (asked, to) =>
    asked.method === 'DESCRIBE' && asked.isSignedIn ? moved(asked, to) : wellBehaved(asked),
  SETUP: (asked, to) => (asked.method === 'SETUP' ? moved(asked, to) : wellBehaved(asked)),
  'after an interleaved frame': (asked, to) =>
    asked.method === 'DESCRIBE' ? frame('RTSP/1.0 200 OK\r\n\r\n') + moved(asked, to) : wellBehaved(asked),
  'behind a line that begins a frame': (asked, to) =>
    asked.method === 'OPTIONS'
      ? `RTSP/1.0 200 OK\r\nCSeq: ${asked.cseq}\r\n$\u0000\u0000\u0002\r\n\r\n${moved(asked, to)}`
      : wellBehaved(asked),
  'in the body of another answer': (asked, to) =>
    asked.method === 'OPTIONS'
      ? `RTSP/1.0 200 OK\r\nCSeq: ${asked.cseq}\r\nContent-Length : ${moved(asked, to).length}\r\n\r\n${moved(asked, to)}`
      : wellBehaved(asked),
  'after two lengths': (asked, to) =>
    asked.method === 'OPTIONS'
      ? `RTSP/1.0 200 OK\r\nCSeq: ${asked.cseq}\r\nContent-Length: ${moved(asked, to).length}\r\nContent-Length: 0\r\n\r\n${moved(asked, to)}`
      : wellBehaved(asked),
  'before it is asked': (asked, to) =>
    asked.method === 'OPTIONS' ? wellBehaved(asked) + moved({ ...asked, cseq: '2' }, to) : wellBehaved(asked),
  'with bare line feeds': (asked, to) =>
    asked.method === 'OPTIONS' ? moved(asked, to).replaceAll('\r', '') : wellBehaved(asked),
  'after a request of its own': (asked, to) =>
    asked.method === 'OPTIONS' ? `ANNOUNCE * RTSP/1.0\r\nCSeq: 9\r\n\r\n${moved(asked, to)}` : wellBehaved(asked),
} as const satisfies Record<string, (asked: Asked, to: string) => string>

export type Redirect = keyof typeof redirects
export const hostileRedirects = Object.keys(redirects) as Redirect[]

/** Starts a camera on loopback that leads its clients to `stranger`. Returns its port. */
export async function redirectingCamera(
  t: Pick<Test, 'teardown'>,
  kind: Redirect,
  stranger: Stranger,
): Promise<number> {
  const port = await listening(t, (socket, text) => {
    for (const [, method = '', rest = ''] of text.matchAll(/^([A-Z_]+) rtsp:\S+ RTSP\/1\.0\r\n((?:.+\r\n)*)/gm)) {
      const cseq = /^CSeq: *(\d+)/im.exec(rest)?.[1] ?? '0'
      socket.write(
        redirects[kind]({ method, cseq, isSignedIn: /^Authorization:/im.test(rest) }, stranger.url),
        'latin1',
      )
    }
  })
  return port
}

/** Starts the place where redirects lead. */
export async function stranger(t: Pick<Test, 'teardown'>): Promise<Stranger> {
  let received = ''
  let connections = 0
  const onConnection = () => {
    connections += 1
  }
  const port = await listening(
    t,
    (socket, text) => {
      received += text
      for (const [, cseq = '0'] of text.matchAll(/^CSeq: *(\d+)/gim))
        socket.write(answer('401 Unauthorized', { method: '', cseq, isSignedIn: false }, basic))
    },
    onConnection,
  )
  return { url: `rtsp://127.0.0.1:${port}/here`, received: () => received, connections: () => connections }
}

async function listening(
  t: Pick<Test, 'teardown'>,
  onText: (socket: Socket, text: string) => void,
  onConnection = () => {},
): Promise<number> {
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    onConnection()
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    socket.setEncoding('latin1').on('data', (text: string) => onText(socket, text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
