import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

const head = '<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">'
const tail = '</d:multistatus>'
const mebibyte = 1024 * 1024

/** Answers of a storage server that wants to bring the gateway down. */
export const hostileAnswers = {
  'eight million elements': (response) => send(response, '<a/>', 31 * mebibyte),
  'elements in elements': (response) => send(response, '<a>', 8 * mebibyte),
  'one list entry after another': (response) =>
    send(response, '<d:response><d:href>/f</d:href><d:propstat/></d:response>', 31 * mebibyte),
  'a name without an end': (response) => send(response, '<', 1, `<${'a'.repeat(4 * mebibyte)}`),
  'references to characters': (response) => send(response, '&#65;', 16 * mebibyte),
  'entities that grow': (response) =>
    send(response, '', 0, '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;">]><a>&d;</a>'),
  'an answer without an end': (response) => send(response, '<d:response/>', 64 * mebibyte),
} as const satisfies Record<string, (response: ServerResponse) => Promise<void>>

/** Starts a server on loopback that answers each request so. Returns its address. */
export async function hostileStorage(t: Test, kind: keyof typeof hostileAnswers): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(207, { 'content-type': 'application/xml' })
    void hostileAnswers[kind](response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function send(response: ServerResponse, part: string, bytes: number, instead?: string): Promise<void> {
  response.on('error', () => {})
  const closed = once(response, 'close')
  response.write(instead ?? head)
  const piece = part.repeat(Math.max(1, Math.floor((256 * 1024) / Math.max(1, part.length))))
  for (let sent = 0; instead === undefined && sent < bytes && !response.destroyed; sent += piece.length) {
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
  }
  response.end(instead === undefined ? tail : '')
}
