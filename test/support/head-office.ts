/** A head office with two sites whose logs tell one story, for tests that ask it. */
import { checkpointText, noteOf, type TestLog, testLog } from './evidence/forge.ts'
import { formatVkey, parseVkey } from './evidence/note.ts'
import { cheapHash, signedIn } from './gateway.ts'
import { feedOf, feedPathOf, type HubOptions, type TestHub, testHub } from './hub.ts'
import type { TestPostgres } from './postgres.ts'

export type Move = readonly [time: string, event: 'PLACED' | 'REMOVED' | 'VERIFIED', slot: number, asset: string]

/** Two sites: P-1 goes from dc-7 to dc-8, P-2 is at both, P-3 has left. */
export const story: Record<string, { logId: string; moves: readonly Move[]; lots: Record<string, string> }> = {
  'dc-7': {
    logId: '0190a5c4-3c00-7000-8000-000000000007',
    moves: [
      ['08:00', 'PLACED', 1, 'P-1'],
      ['08:10', 'PLACED', 2, 'P-2'],
      ['08:15', 'VERIFIED', 2, 'P-2'],
      ['08:20', 'PLACED', 3, 'P-3'],
      ['09:00', 'REMOVED', 1, 'P-1'],
      ['09:10', 'REMOVED', 3, 'P-3'],
      ['09:20', 'PLACED', 1, 'P-4'],
    ],
    lots: { 'P-1': 'L-7731', 'P-2': 'L-7731', 'P-3': 'L-7731', 'P-4': '=L-1' },
  },
  'dc-8': {
    logId: '0190a5c4-3c00-7000-8000-000000000008',
    moves: [
      ['11:00', 'PLACED', 1, 'P-1'],
      ['11:10', 'PLACED', 2, 'P-2'],
    ],
    lots: { 'P-1': 'L-7731' },
  },
}

/** The leaves of a site of the story. */
export function leavesOf(siteId: string): Buffer[] {
  const { logId, moves } = story[siteId] as (typeof story)[string]
  return placements({ siteId, logId, moves })
}

type Placements = {
  readonly siteId: string
  readonly logId: string
  readonly moves: readonly Move[]
  readonly after?: number
}

/** Leaves that state these moves on 2 March 2026, behind so many others. */
export function placements({ siteId, logId, moves, after = 0 }: Placements): Buffer[] {
  return moves.map(([time, eventType, slotId, assetKey], i) => {
    const timestamp = `2026-03-02T${time}:00.000Z`
    const place = { slotId, slotCode: `A-0${slotId}`, assetKey, timestamp, receivedAt: timestamp }
    return Buffer.from(
      JSON.stringify({ v: 2, kind: 'placement', siteId, logId, seq: after + i + 1, eventType, ...place }),
    )
  })
}

const user = (username: string, sites: string[] | null) => ({
  ...{ username, role: 'viewer', secretHash: cheapHash(`${username}-secret`) },
  ...(sites && { sites }),
})

type Test = { teardown(work: () => unknown): void }

/** Dora may see every site, Lars dc-8 alone; Sven supervises all, Nele reads the region north and supervises dc-7. */
const users = [
  user('dora', null),
  user('lars', ['dc-8']),
  { ...user('sven', null), role: 'supervisor' },
  { ...user('adam', null), role: 'admin' },
  { ...user('olga', ['dc-7']), role: 'admin' },
  {
    ...user('nele', null),
    regions: ['north'],
    elsewhere: [{ role: 'supervisor', sites: ['dc-7'] }],
  },
]

/** Two sites, and the region north with dc-8. */

export async function headOffice(t: Test, postgres: TestPostgres, options: HubOptions = {}): Promise<TestHub> {
  const hub = await testHub(t, postgres, { users, ...options })
  for (const [siteId, { logId, lots }] of Object.entries(story)) {
    const log = testLog({ siteId, logId, leaves: leavesOf(siteId) })
    const assets = Object.entries(lots).map(([key, lot]) => ({ key, gtin: '09521234543213', lot }))
    const body = { ...feedOf(log, 0, log.leaves.length), snapshot: { version: 1, assets } }
    await hub.ask('POST', feedPathOf(log), { token: await hub.enrol(log), body })
  }
  return hub
}

/** Site `dc-<n>` with these moves and steps of transport units, in one feed. */
export async function fedSite(hub: TestHub, n: number, moves: readonly Move[], more: SiteExtras = {}) {
  const [siteId, logId] = [`dc-${n}`, `0190a5c4-3c00-7000-8000-0000000002${n}`]
  const steps = (more.steps ?? []).map(([time, step], i) => {
    const facts = { v: 2, kind: 'unit-history', siteId, logId, seq: moves.length + i + 1, status: 'active' }
    return Buffer.from(
      JSON.stringify({ ...facts, timestamp: `2026-03-02T${time}:00.000Z`, sscc: '095201234567891235', ...step }),
    )
  })
  const log = testLog({ siteId, logId, leaves: [...placements({ siteId, logId, moves }), ...steps] })
  const body = {
    ...feedOf(log, 0, log.leaves.length),
    snapshot: { version: 1, assets: more.assets ?? [], slots: more.slots ?? [] },
  }
  const { status } = await hub.ask('POST', feedPathOf(log), { token: await hub.enrol(log), body })
  if (status !== 200) throw new Error(`the feed of ${siteId} was answered with ${status}`)
}
type SiteExtras = {
  readonly steps?: readonly (readonly [time: string, step: object])[]
  readonly assets?: readonly object[]
  /** Slots of the floor plan, as a gateway sends them. */
  readonly slots?: readonly object[]
}

/** Asks as an account of the config. */
export const askAs = (hub: TestHub, path: string, username = 'dora', method = 'GET') =>
  hub.ask(method, path, {
    headers: signedIn({ username, role: 'viewer' }, { 'X-Storage-Instance': 'https://hub.example' }),
  })

/** A log that continues another one behind its first leaves, signed by the keys of that one under its own name. */
export function continuation(hub: TestHub, parent: TestLog, parentSize: number, logId: string, moves: readonly Move[]) {
  const { siteId } = parent
  const fork = { parentLogId: parent.logId, parentSize, parentRoot: parent.tree.root(parentSize).toString('hex') }
  const first = Buffer.from(JSON.stringify({ v: 2, kind: 'log-fork', siteId, logId, seq: 1, ...fork }))
  const child = testLog({ siteId, logId, leaves: [first, ...placements({ siteId, logId, moves, after: 1 })] })
  const vkeys = child.signers.map(({ vkey }) => formatVkey({ ...parseVkey(vkey), name: parent.origin }))
  return hub.rows('UPDATE log SET vkeys = $1 WHERE log_id = $2', [vkeys, parent.logId]).then(() => child)
}

/** Makes the head office see another history of dc-8. */
export async function forkOf(hub: TestHub): Promise<number> {
  const { logId } = story['dc-8'] as (typeof story)[string]
  const log = testLog({ siteId: 'dc-8', logId, leaves: leavesOf('dc-8') })
  await hub.rows(`UPDATE log SET vkeys = $1 WHERE log_id = $2`, [log.signers.map(({ vkey }) => vkey), logId])
  const token = await hub.enrol(log)
  const changed = log.leaves.map((leaf) => Buffer.from(leaf.toString().replace('P-1', 'P-7')))
  const forged = testLog({ siteId: 'dc-8', logId, leaves: changed })
  const checkpoint = noteOf(checkpointText(log.origin, 2, forged.tree.root(2)), log.signers)
  return (await hub.ask('POST', feedPathOf(log), { token, body: { ...feedOf(forged, 0, 2), checkpoint } })).status
}
