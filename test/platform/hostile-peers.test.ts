import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { statusThroughDaemon } from '../../src/app/index.ts'
import { StorageAgents } from '../../src/auth/storage/agents.ts'
import { StorageClient } from '../../src/auth/storage/client.ts'
import { joinHub } from '../../src/cli/hub/join.ts'
import { EvidenceClient } from '../../src/evidence/index.ts'
import { verifyStampReply } from '../../src/evidence/timestamps/token.ts'
import { judgeFeed } from '../../src/feed/verdict.ts'
import {
  answerBounds,
  isBoundedDer,
  outsideFetch,
  outsideJson,
  systemClock,
  xmlEvents,
} from '../../src/platform/index.ts'
import { Dav } from '../../src/upload/dav/dav.ts'
import { DavFolder } from '../../src/upload/dav/folder.ts'
import { Throttle } from '../../src/upload/dav/throttle.ts'
import { askOptions } from '../../src/video/stream/rtsp-options.ts'
import { systemResolve } from '../../src/webhooks/sending/guarded-agent.ts'
import { Uplink } from '../../src/webhooks/sending/uplink.ts'
import { hostileDer } from '../support/hostile/der.ts'
import { type HostileAnswer, hostileAnswers, hostilePeer } from '../support/hostile/peer.ts'

t.setTimeout(240_000)
t.jobs = 4

/** Two hundred times as fast, so that the limits of seconds pass. Time is the subject of the peers that answer slowly. */
const fast = { ...systemClock, after: (ms: number, call: () => void) => systemClock.after(ms / 200, call) }
const slow: readonly HostileAnswer[] = [
  ...(['a byte now and then', 'a header byte now and then', 'silence after the head', 'silence'] as const),
]
const clockFor = (kind: HostileAnswer) => (slow.includes(kind) ? fast : systemClock)
const version = '0'

type Ask = (url: string, kind: HostileAnswer) => Promise<unknown>

/** Each way in which the gateway asks another machine by HTTP, with the most bytes that it may take. */
const ways: Record<string, { readonly ask: Ask; readonly bytes: number }> = {
  'sign-in at the storage server': {
    bytes: answerBounds.signIn.bytes,
    ask: (url, kind) =>
      new StorageClient({ clock: clockFor(kind), instances: () => [{ url, caFile: null }], version }).ask(
        url,
        'Basic x',
      ),
  },
  'OpenID provider': {
    bytes: answerBounds.provider.bytes,
    ask: (url, kind) => {
      const agent = new StorageAgents().of({ url, caFile: null })
      const get = outsideFetch(answerBounds.provider, () => agent, { clock: clockFor(kind) })
      return get(`${url}/x`, { method: 'GET', headers: {} })
    },
  },
  'upload by WebDAV': {
    bytes: answerBounds.upload.bytes,
    ask: (url, kind) => {
      const clock = clockFor(kind)
      const throttle = new Throttle({ clock: systemClock, limit: () => null })
      const dav = new Dav({ clock, throttle, version, signal: new AbortController().signal })
      return dav.send({ url, caFile: null }, 'Basic x', { method: 'PROPFIND', url: `${url}/x` })
    },
  },
  'list of the storage server': {
    bytes: answerBounds.storageList.bytes,
    ask: (url, kind) => folderAt(url, kind).list('x'),
  },
  'file of the storage server': {
    bytes: answerBounds.storageFile.bytes,
    ask: (url, kind) => folderAt(url, kind).read('x'),
  },
  'witness, time stamp authority and head office': {
    bytes: answerBounds.evidence.bytes,
    ask: (url, kind) =>
      new EvidenceClient({ clock: clockFor(kind), version }).post(
        { url, caFile: null },
        { path: '/x', contentType: 'text/plain', body: 'x' },
      ),
  },
  'probe of the uplink': {
    bytes: answerBounds.uplinkProbe.bytes,
    ask: (url, kind) => {
      const clock = { ...systemClock, after: clockFor(kind).after }
      const settings = () => ({ uplinkProbes: [url], allowNetworks: [], timeoutMs: 1000 })
      const authorities = { current: () => ({ key: '', secureContext: undefined }) }
      // A probe reads these of the settings and the authorities alone.
      return new Uplink({ clock, settings, authorities, resolve: systemResolve } as never).wasDown(0)
    },
  },
}

/** Peers that answer slowly meet short limits; for the others a busy machine has its time. */
const folderAt = (url: string, kind: HostileAnswer) =>
  new DavFolder(
    { url, authorizations: [], caFile: null, version },
    { waitsMs: [0], ...(slow.includes(kind) && { silenceMs: 400, otherMs: 800, fileMs: 800 }) },
  )

/** The system and Node take some of an answer before anybody reads it. */
const inBuffers = 16 * 1024 * 1024

for (const [way, { ask, bytes }] of Object.entries(ways))
  t.test(`${way}: a hostile answer ends, and neither fills the memory nor leads elsewhere`, async (t) => {
    for (const kind of hostileAnswers) {
      const peer = await hostilePeer(t, kind)
      await ask(peer.url, kind).catch((error: unknown) => t.ok(error instanceof Error, kind))
      await peer.left()
      t.ok(peer.sentBytes() <= bytes + inBuffers, `${kind}: ${peer.sentBytes()} bytes`)
      t.equal(peer.requests(), 1, `${kind}: one request`)
    }
  })

t.test('a camera that answers OPTIONS without an end is given up', async (t) => {
  for (const kind of hostileAnswers) {
    const { port, left, sentBytes } = await hostilePeer(t, kind)
    const source = { url: `rtsp://127.0.0.1:${port}/a`, username: null, password: null }
    const answer = await askOptions(source, clockFor(kind), 2000)
    await left()
    t.notOk(answer?.isRtsp, kind)
    t.ok(sentBytes() <= inBuffers, `${kind}: ${sentBytes()} bytes`)
  }
})

t.test('a head office that answers `hub join` without an end is given up', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-hostile-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const configFile = join(folder, 'g.yaml')
  writeFileSync(configFile, JSON.stringify({ site: { id: 'dc-7' }, dataDir: folder, runtimeDir: folder }))
  for (const kind of hostileAnswers.filter((one) => !slow.includes(one))) {
    const peer = await hostilePeer(t, kind, { secure: true })
    await t.rejects(
      joinHub({ url: peer.url, code: 'code.fingerprint', configFile }),
      { exitCode: 1, message: /cannot be reached|certificate authority/ },
      kind,
    )
    await peer.left()
    t.ok(peer.sentBytes() <= answerBounds.enrolment.bytes + inBuffers, `${kind}: ${peer.sentBytes()} bytes`)
    t.equal(peer.requests(), 1, `${kind}: one request`)
  }
})

t.test('a program at the control socket that is not the daemon is given up', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-hostile-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const kind of ['sends without an end', 'provisional answers without an end', 'no HTTP'] as const) {
    const at = join(folder, String(hostileAnswers.indexOf(kind)))
    const peer = await hostilePeer(t, kind, { runtimeDir: at })
    await t.rejects(statusThroughDaemon(at), { exitCode: 1, message: /cannot be reached/ }, kind)
    t.ok(peer.sentBytes() <= answerBounds.daemon.bytes + inBuffers, `${kind}: ${peer.sentBytes()} bytes`)
  }
})

t.test('JSON of another machine is parsed within bounds alone', async (t) => {
  t.strictSame(outsideJson('{"a":["[[[","\\"{",{"b":[1,2]}]}'), { a: ['[[[', '"{', { b: [1, 2] }] })
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  t.ok(outsideJson(deep(32)))
  t.equal(outsideJson(deep(33)), undefined)
  t.ok(outsideJson(`[${'1,'.repeat(499_990)}1]`))
  t.equal(outsideJson(`[${'1,'.repeat(500_000)}1]`), undefined)
  t.equal(outsideJson('{'), undefined)
  t.match(judgeFeed({ status: 200, type: '', body: Buffer.from(deep(10_000)), retryAfterSeconds: undefined }, 1), {
    finding: 'bad-answer',
  })
})

t.test('XML of another machine is parsed within bounds alone', async (t) => {
  const read = (xml: string) => [...xmlEvents(xml)].length
  const deep = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  t.equal(read(deep(32)), 64)
  t.throws(() => read(deep(33)), /deeper than 32/)
  t.throws(() => read(`<a>${'<b/>'.repeat(500_000)}</a>`), /more than 500000 elements/)
  t.throws(() => read(`<a>${'x'.repeat(65_537)}</a>`), /more than 65536 characters/)
  t.throws(() => read('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), /no element/)
})

t.test('ASN.1 of a time stamp authority reaches the library within bounds alone', async (t) => {
  const asked = { data: Buffer.from('x'), nonce: Buffer.alloc(8) }
  for (const [kind, reply] of Object.entries(hostileDer)) {
    t.match(await verifyStampReply(reply, asked, ''), { kind: 'refused' }, kind)
    // A library stops at once at a tag or a length that cannot be.
    if (!/tag$|length without/.test(kind)) t.notOk(isBoundedDer(reply), kind)
  }
  const granted = Buffer.from('3003020100', 'hex')
  t.ok(isBoundedDer(granted))
  const indefinite = (depth: number) => Buffer.from('3080'.repeat(depth) + '0000'.repeat(depth), 'hex')
  t.ok(isBoundedDer(indefinite(48)))
  t.notOk(isBoundedDer(indefinite(49)))
  t.ok(isBoundedDer(Buffer.concat([indefinite(2), Buffer.from('0603550406', 'hex')])))
})
