import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import type { Test } from 'tap'

const mebibyte = 1024 * 1024
const json = 'content-type: application/json\r\n'
const chunked = `${json}transfer-encoding: chunked\r\n`
const bomb = gzipSync(Buffer.alloc(64 * mebibyte))

/** Answers to any request by HTTP, written by the byte. `head` has the status line; each resolves when the peer stops. */
const answers = {
  'announces a terabyte': (to) => endless(to, `${to.head}${json}content-length: 1099511627776\r\n\r\n`, filler),
  'sends without an end': (to) => endless(to, `${to.head}${chunked}\r\n`, chunk(filler)),
  'elements in elements': (to) => whole(to, `${'['.repeat(mebibyte)}${']'.repeat(mebibyte)}`),
  'a million elements': (to) => whole(to, `{"a":[${'{},'.repeat(mebibyte)}{}]}`),
  'a byte now and then': (to) => slowly(to, `${to.head}${chunked}\r\n`, chunk(' ')),
  'a header byte now and then': (to) => slowly(to, to.head, 'a'),
  'headers without an end': (to) => endless(to, to.head, 'x-more: of them\r\n'.repeat(1000)),
  'provisional answers without an end': (to) => endless(to, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)),
  'a redirect to itself': (to) =>
    end(to, `HTTP/1.1 307 Temporary Redirect\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n`),
  'a gzip bomb': (to) =>
    end(to, `${to.head}${json}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb),
  'silence after the head': (to) => end(to, `${to.head}${json}content-length: 10\r\n\r\n`),
  silence: (to) => end(to, ''),
  'no HTTP': (to) => end(to, `${'\u0000\u00ff'.repeat(1000)}\r\n\r\n`),
} as const satisfies Record<string, (to: Peer) => Promise<void>>

export type HostileAnswer = keyof typeof answers
export const hostileAnswers = Object.keys(answers) as HostileAnswer[]

type Peer = { readonly socket: Socket; readonly head: string }
const filler = 'x'.repeat(64 * 1024)
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

/** A server on loopback that answers every request in one hostile way, and what it got and gave. */
export type HostilePeer = {
  readonly url: string
  readonly port: number
  readonly requests: () => number
  /** Bytes of answers that the system took, over all connections. */
  readonly sentBytes: () => number
  /** Resolves when no connection is open. */
  readonly left: () => Promise<void>
}

/**
 * @param status of the answers
 * @param secure by TLS, with a new certificate
 * @param runtimeDir at the control socket below it, in place of the daemon
 */
export async function hostilePeer(
  t: Pick<Test, 'teardown'>,
  kind: HostileAnswer,
  { status = 200, secure = false, runtimeDir }: { status?: number; secure?: boolean; runtimeDir?: string } = {},
): Promise<HostilePeer> {
  let requests = 0
  let closedBytes = 0
  const open = new Set<Socket>()
  let onLeft: (() => void)[] = []
  const serve = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      closedBytes += socket.bytesWritten
      if (open.size > 0) return
      for (const done of onLeft) done()
      onLeft = []
    })
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      const hadHead = received.includes('\r\n\r\n')
      received = hadHead ? received : received + text
      if (hadHead || !received.includes('\r\n\r\n')) return
      requests += 1
      void answers[kind]({ socket, head: `HTTP/1.1 ${status} Very Well\r\n` })
    })
  }
  const server: Server = secure ? createTlsServer(await certificate(), serve) : createServer(serve)
  if (runtimeDir !== undefined) {
    mkdirSync(runtimeDir, { recursive: true })
    server.listen(join(runtimeDir, 'control.sock'))
  } else server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const port = runtimeDir === undefined ? (server.address() as AddressInfo).port : 0
  return {
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests: () => requests,
    sentBytes: () => closedBytes + [...open].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    left: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => onLeft.push(resolve))),
  }
}

/** Returns a new certificate of 127.0.0.1, with its key. */
export async function certificate(): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: '127.0.0.1' }])
  return { key: made.private, cert: made.cert }
}

async function end({ socket }: Peer, head: string, body?: Buffer): Promise<void> {
  socket.write(head)
  if (body) socket.write(body)
}

const whole = (to: Peer, body: string): Promise<void> =>
  end(to, `${to.head}${json}content-length: ${body.length}\r\n\r\n`, Buffer.from(body))

/** Writes as fast as the other side reads, until it leaves. */
async function endless({ socket }: Peer, head: string, piece: string): Promise<void> {
  const closed = closeOf(socket)
  socket.write(head)
  while (!socket.destroyed) {
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
}

async function slowly({ socket }: Peer, head: string, piece: string): Promise<void> {
  socket.write(head)
  const timer = setInterval(() => socket.write(piece), 20)
  await closeOf(socket)
  clearInterval(timer)
}

/** An error of the socket comes before its close. */
const closeOf = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve))
