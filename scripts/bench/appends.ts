import { cpSync } from 'node:fs'
import type { PeerStart } from './append-peer.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import type { Load, LoadResult } from './load.ts'
import { CommitProbe } from './machine.ts'
import { prepareHall, turns } from './seed.ts'
import { serveGateway } from './served.ts'
import { jsonHeaders, makeAccount, stateOf, writeConfig } from './site.ts'
import { median } from './statistics.ts'
import { cpuMs, type Helper, type Workshop } from './workshop.ts'

const slots = 1000
const rounds = 3
const secondsEach = 2
/** Commits of the simplest kind. The first half is left out, because the WAL grows then. */
const commits = 2000

type Side = { readonly url: string; readonly pid: number }
type Sample = LoadResult & { readonly cpuPerEventMs: number }
type Samples = { readonly daemon: Sample[]; readonly peer: Sample[] }

/**
 * Measures placements and removals over HTTP against a daemon, and against a peer that does the same without SQL. One and
 * then 64 clients send, to both sides in turns.
 */
export async function measureAppends(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('appends')
  const peerFolder = workshop.newFolder('appends-peer')
  const photoUrl = await prepareHall(stateOf(folder), slots)
  cpSync(stateOf(folder), stateOf(peerFolder), { recursive: true })
  const account = await makeAccount()
  const peerHelper = workshop.start('append-peer')
  // It signs nothing, because it keeps no leaf.
  const configFile = writeConfig(peerFolder, account, { evidence: { checkpoint: { every: '24h', leaves: 65_536 } } })
  const { url } = await peerHelper.ask<{ url: string }>({ configFile } satisfies PeerStart)
  const peer = { url, pid: peerHelper.pid }
  const daemon = await serveGateway(workshop, folder, account)
  const load = workshop.start('load')
  const bodies = turns(slots, photoUrl)
  await sameAnswers(daemon, peer, bodies)
  await inTurns(load, { daemon, peer }, bodies, 64, 1)
  const many = await inTurns(load, { daemon, peer }, bodies, 64, rounds)
  const probe = new CommitProbe(workshop.folder)
  const simplestMs = median(Array.from({ length: commits }, () => probe.measure()).slice(commits / 2))
  probe.close()
  const one = await inTurns(load, { daemon, peer }, bodies, 1, rounds - 1)
  await Promise.all([load.end(), peerHelper.end(), daemon.end()])
  return [
    figureOf('append-64', 'HTTP appends of 64 clients, against the same without SQL', many, 0.75),
    figureOf('append-1', 'HTTP appends of one client, against the same without SQL', one),
    beside(one, simplestMs),
  ]
}

/** One pallet in and out on both sides. Throws when the peer answers anything else than the daemon does. */
async function sameAnswers(daemon: Side, peer: Side, bodies: readonly string[]): Promise<void> {
  for (const body of bodies.slice(0, 2)) {
    const [ours, theirs] = await Promise.all([daemon, peer].map(({ url }) => answerTo(url, body)))
    if (ours !== theirs) throw new Error(`the peer does not do what the daemon does:\n${ours}\n${theirs}`)
  }
}

/**
 * Returns the status and the answer, without the fields that are new in each event. Leaves out `seq` too: the peer
 * furnishes no hall, so its log is shorter.
 */
async function answerTo(url: string, body: string): Promise<string> {
  const response = await fetch(`${url}/api/whms/events`, { method: 'POST', headers: jsonHeaders, body })
  const answer = (await response.json()) as Record<string, unknown>
  const { eventId: _e, timestamp: _t, received_at: _r, evidence_hash: _h, seq: _s, ...same } = answer
  return JSON.stringify({ status: response.status, ...same })
}

async function inTurns(
  load: Helper,
  sides: { daemon: Side; peer: Side },
  bodies: readonly string[],
  clients: number,
  times: number,
): Promise<Samples> {
  const samples: Samples = { daemon: [], peer: [] }
  for (let round = 0; round < times; round += 1) {
    samples.daemon.push(await sample(load, sides.daemon, bodies, clients))
    samples.peer.push(await sample(load, sides.peer, bodies, clients))
  }
  return samples
}

async function sample(load: Helper, { url, pid }: Side, bodies: readonly string[], clients: number): Promise<Sample> {
  const usedMs = cpuMs(pid)
  const result = await load.ask<LoadResult>({
    url: `${url}/api/whms/events`,
    method: 'POST',
    headers: jsonHeaders,
    bodies,
    clients,
    seconds: secondsEach,
  } satisfies Load)
  if (result.failures > 0 || result.answers === 0) throw new Error(`${result.failures} appends failed at ${url}`)
  return { ...result, cpuPerEventMs: (cpuMs(pid) - usedMs) / result.answers }
}

/** An answered event of one client, from its first byte to its last, against the least that a durable commit takes. */
function beside({ daemon }: Samples, simplestMs: number): Figure {
  const p50Ms = median(daemon.map((one) => one.p50Ms))
  return {
    id: 'append-1-commit',
    what: 'HTTP append of one client until its answer, against the simplest commit of one row',
    value: p50Ms / simplestMs,
    unit: '×',
    target: { limit: 4, sense: 'at most' },
    raw: `p50 ${millis(p50Ms)} against ${millis(simplestMs)}`,
    numbers: { p50Ms, simplestMs },
  }
}

function figureOf(id: string, what: string, { daemon, peer }: Samples, atLeast?: number): Figure {
  const of = (samples: readonly Sample[], key: keyof Sample) => median(samples.map((one) => one[key]))
  const numbers = {
    daemonPerSecond: of(daemon, 'perSecond'),
    peerPerSecond: of(peer, 'perSecond'),
    daemonCpuPerEventMs: of(daemon, 'cpuPerEventMs'),
    peerCpuPerEventMs: of(peer, 'cpuPerEventMs'),
    daemonP50Ms: of(daemon, 'p50Ms'),
    daemonP99Ms: of(daemon, 'p99Ms'),
  }
  const rates = `${thousands(numbers.daemonPerSecond)} against ${thousands(numbers.peerPerSecond)} events/s`
  const cpu = `${rounded(numbers.daemonCpuPerEventMs * 1000)} against ${rounded(numbers.peerCpuPerEventMs * 1000)} µs of CPU an event`
  return {
    id,
    what,
    value: median(daemon.map((one, i) => one.perSecond / (peer[i]?.perSecond ?? Number.NaN))),
    unit: '×',
    ...(atLeast !== undefined && { target: { limit: atLeast, sense: 'at least' as const } }),
    raw: `${rates}; ${cpu}; answered in ${millis(numbers.daemonP50Ms)} (p50), ${millis(numbers.daemonP99Ms)} (p99)`,
    numbers,
  }
}
