import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { newRoot, sendFile } from '../../src/http/index.ts'
import { sha256 } from '../../src/log/index.ts'
import type { Logger } from '../../src/platform/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-file-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'clip.mp4')
const bytes = Buffer.from('0123456789')
const hash = sha256(bytes).toString('hex')

/** The file at `/clip`, and what the log says. */
function served() {
  const logged: string[] = []
  const log = { error: (_: object, message: string) => logged.push(message) } as unknown as Logger
  const root = newRoot({
    log: { child: () => log, isLevelEnabled: () => false } as unknown as Logger,
    makeRequestId: () => 'request-1',
    addressOf: () => '',
  })
  root.get('/clip', (c) => sendFile(c, { path, mediaType: 'video/mp4', sizeBytes: bytes.length, sha256: hash }))
  const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await root.request('/clip', { headers, method })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return { ask, logged }
}

t.test('a clip is answered whole, in the range that a player asks for, or not at all when it is known', async (t) => {
  writeFileSync(path, bytes)
  const { ask, logged } = served()
  const whole = await ask()
  t.match(whole, { status: 200, text: '0123456789' })
  t.equal(whole.headers.get('content-length'), '10')
  t.equal(whole.headers.get('etag'), `"${hash}"`)
  for (const [range, text, said] of [
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=0-999', '0123456789', 'bytes 0-9/10'],
    ['Bytes=9-99999999999999999999', '9', 'bytes 9-9/10'],
    ['bytes=-99999999999999999999', '0123456789', 'bytes 0-9/10'],
  ] as const) {
    const part = await ask({ Range: range })
    t.match(part, { status: 206, text }, range)
    t.equal(part.headers.get('content-range'), said)
  }
  const behind = await ask({ Range: 'bytes=10-' })
  t.equal(behind.status, 416)
  t.equal(behind.headers.get('content-range'), 'bytes */10')
  t.match(await ask({ 'If-None-Match': `"${hash}"` }), { status: 304, text: '' })
  t.match(await ask({ Range: 'bytes=2-4', 'If-Range': '"another"' }), { status: 200, text: '0123456789' })
  const head = await ask({ Range: 'bytes=2-4' }, 'HEAD')
  t.match(head, { status: 200, text: '' })
  t.equal(head.headers.get('content-length'), '10')
  t.same(logged, [])
})

t.test('bytes that the caller has are not sent again, however its If-None-Match names them', async (t) => {
  writeFileSync(path, bytes)
  const { ask } = served()
  for (const known of [`W/"${hash}"`, `"another", "${hash}"`, `"another",W/"${hash}"`, '*']) {
    for (const method of ['GET', 'HEAD'])
      t.match(await ask({ 'If-None-Match': known }, method), { status: 304, text: '' }, known)
  }
  for (const unknown of ['"another"', hash, `"${hash}x"`, 'W/"another", "*"'])
    t.match(await ask({ 'If-None-Match': unknown }), { status: 200, text: '0123456789' }, unknown)
  t.match(await ask({ Range: 'bytes=2-4', 'If-Range': `W/"${hash}"` }), { status: 200 }, 'a weak tag names no bytes')
})

t.test('a file that is gone, or has lost its end, is not found, and the log says so', async (t) => {
  const { ask, logged } = served()
  rmSync(path)
  t.match(await ask(), { status: 404, text: /NOT_FOUND/ })
  writeFileSync(path, '01234')
  t.match(await ask({ Range: 'bytes=2-4' }), { status: 404 })
  t.match(logged, [/is not there/, /has another size/])
})
