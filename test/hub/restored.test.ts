import t, { type Test } from 'tap'
import { type TestLog, testLog } from '../support/evidence/forge.ts'
import { formatVkey, parseVkey } from '../support/evidence/note.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { askAs, headOffice, type Move, placements, story } from '../support/head-office.ts'
import { feedOf, feedPathOf, type TestHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const siteId = 'dc-9'
const logId = '0190a5c4-3c00-7000-8000-000000000090'

type Step = { readonly unitId: string; readonly timestamp: string; readonly [fact: string]: unknown }

const stepLeaf = (seq: number, step: Step, of = logId) =>
  Buffer.from(JSON.stringify({ v: 2, kind: 'unit-history', siteId, logId: of, seq, status: 'active', ...step }))

/** Leaves of a floor, every third of them a step of one of 25 transport units; one in five of those is late. The first step alone has its facts. */
function lively(count: number): Buffer[] {
  const seen = new Set<string>()
  return floorLeaves({ siteId, logId, count, slots: 30, assets: 80 }).map((leaf, i) => {
    if (i % 3 > 0) return leaf
    const unitId = `u-${(i * 7) % 25}`
    const lateMs = i % 5 === 0 ? 90 * 60_000 : 0
    const timestamp = new Date(Date.parse(JSON.parse(leaf.toString()).timestamp) - lateMs).toISOString()
    const made = {
      action: 'created',
      sscc: `0952012345678${unitId}`,
      direction: 'outbound',
      reference: `LKW ${unitId}`,
    }
    const first = seen.has(unitId) ? { action: 'advanced' } : made
    seen.add(unitId)
    return stepLeaf(i + 1, { unitId, timestamp, toStage: `stage-${i}`, ...first })
  })
}

/** A log that continues the first leaves of another one. */
function childOf(parent: TestLog, parentSize: number, end: string, more: (id: string) => Buffer[] = () => []): TestLog {
  const id = parent.logId.replace(/.$/, end)
  const fork = { parentLogId: parent.logId, parentSize, parentRoot: parent.tree.root(parentSize).toString('hex') }
  const first = Buffer.from(JSON.stringify({ v: 2, kind: 'log-fork', siteId, logId: id, seq: 1, ...fork }))
  return testLog({ siteId, logId: id, leaves: [first, ...more(id)] })
}

/** A head office with such leaves of the log. `send` sends more of any log of the site, with the extra fields `rides`. */
async function office(t: Parameters<typeof headOffice>[0], log: TestLog, end: number) {
  const hub = await headOffice(t, postgres)
  const token = await hub.enrol(log)
  const send = async (one: TestLog, from: number, to: number, rides: object = {}) =>
    (await hub.ask('POST', feedPathOf(one), { token, body: { ...feedOf(one, from, to), ...rides } })).status
  for (let from = 0; from < end; from += 500) await send(log, from, Math.min(from + 500, end))
  /** The parent's keys under the name of the child, as a box has them. */
  const restored = async (child: TestLog) => {
    const vkeys = child.signers.map(({ vkey }) => formatVkey({ ...parseVkey(vkey), name: log.origin }))
    await hub.rows('UPDATE log SET vkeys = $1 WHERE log_id = $2', [vkeys, log.logId])
    return send(child, 0, child.leaves.length)
  }
  return { hub, send, restored }
}

/** Returns the registers of a log, table by table. */
async function held(hub: TestHub, of: string) {
  const rows = (table: string, key: string, mark: string) =>
    hub.rows(`SELECT * FROM ${table} WHERE log_id = $1 AND ${mark} <> '-' ORDER BY ${key}`, [of])
  return {
    slots: await rows('slot_state', 'slot_id', 'event_type'),
    assets: await rows('asset_position', 'asset_key', 'event_type'),
    judged: await rows('judgement', 'slot_id, asset_key', 'verdict'),
    units: await rows('unit_state', 'unit_id', 'status'),
  }
}

t.test('after restores the head office holds what one holds that got only what was left', async (t) => {
  const log = testLog({ siteId, logId, leaves: lively(1500) })
  const { hub, restored } = await office(t, log, 1500)
  // The second backup is newer than the first, the third older than both: units of later than leaf 40 are unknown again.
  for (const [end, size] of [
    ['1', 900],
    ['2', 1203],
    ['3', 40],
  ] as const) {
    t.equal(await restored(childOf(log, size, end)), 200, `restored to ${size}`)
    const fresh = await office(t, log, size)
    t.same(await held(hub, logId), await held(fresh.hub, logId), `as if there had never been more than ${size}`)
    t.ok((await held(hub, logId)).units.length > 10)
  }
})

const sscc = '095201234567891235'
const slotOf = (id: number) => ({ id, code: `A-0${id}`, zone: null, warehouse: null, isRetired: false })
const fleet = {
  ...{ openAlerts: 0, cameras: { configured: 3, withoutPictures: 0 }, freeBytes: null, certificateUntil: null },
  ...{ backupAt: null, rehearsedAt: null, configHash: 'ab'.repeat(32) },
}
const moves: Move[] = [
  ['08:00', 'PLACED', 1, sscc],
  ['09:00', 'REMOVED', 1, sscc],
]
const at = (time: string) => `2026-03-02T${time}:00.000Z`
const made = { action: 'created', unitId: 'u-1', direction: 'outbound', reference: 'LKW-7', sscc }

t.test(
  'a pallet is on its way by the newest step of its unit that a restore has left, and by those after it',
  async (t) => {
    const leaves = [
      ...placements({ siteId, logId, moves }),
      stepLeaf(3, { ...made, timestamp: at('09:00'), toStage: 'planned' }),
      stepLeaf(4, { unitId: 'u-1', timestamp: at('09:10'), toStage: 'loading' }),
      stepLeaf(5, { unitId: 'u-1', timestamp: at('09:20'), toStage: 'departed' }),
    ]
    const log = testLog({ siteId, logId, leaves })
    const { hub, send, restored } = await office(t, log, 5)
    const shown = async () => {
      const { data, unit } = (await askAs(hub, `/api/hub/search?code=${sscc}`)).body
      return [data[0]?.state, unit?.unitId, unit?.stage, unit?.reference]
    }
    t.same(await shown(), ['in_transit', 'u-1', 'departed', 'LKW-7'])
    const step = { unitId: 'u-1', timestamp: at('09:30'), toStage: 'at the gate' }
    const child = childOf(log, 4, '1', (id) => [stepLeaf(2, step, id)])
    const vkeys = child.signers.map(({ vkey }) => formatVkey({ ...parseVkey(vkey), name: log.origin }))
    await hub.rows('UPDATE log SET vkeys = $1 WHERE log_id = $2', [vkeys, logId])
    t.equal(await send(child, 0, 1), 200)
    t.same(await shown(), ['in_transit', 'u-1', 'loading', 'LKW-7'])
    t.equal(await send(child, 1, 2), 200)
    t.same(await shown(), ['in_transit', 'u-1', 'at the gate', 'LKW-7'], 'whose SSCC only the log before names')
    t.equal(await restored(childOf(log, 2, '2')), 200)
    t.same(await shown(), ['left', undefined, undefined, undefined], 'the unit was made after that backup')
  },
)

t.test('a lot that was corrected after the backup is again what the restored box says', async (t) => {
  const log = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves }) })
  const { hub, send, restored } = await office(t, log, 2)
  const printed = (version: number, lot: string) => ({
    snapshot: { version, assets: [{ key: sscc, gtin: '09521234543213', lot }] },
  })
  await send(log, 2, 2, printed(2, 'L-2'))
  const recalled = async (lot: string) =>
    (await askAs(hub, `/api/hub/recall?gtin=09521234543213&lot=${lot}`)).body.data.length
  t.same([await recalled('L-1'), await recalled('L-2')], [0, 1])
  const child = childOf(log, 1, '1')
  t.equal(await restored(child), 200)
  t.same([await recalled('L-1'), await recalled('L-2')], [0, 1], 'what the lost time said, until the box says more')
  t.equal(await send(child, 1, 1, printed(1, 'L-1')), 200)
  t.same([await recalled('L-1'), await recalled('L-2')], [1, 0])
})

t.test('what a restored box says of its assets is written to the log before only where it differs', async (t) => {
  const log = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves }) })
  const { hub, send, restored } = await office(t, log, 2)
  const label = { gtin: '09521234543213', bestBefore: '2026-09-30' }
  const printed = (lot: string) => ({
    snapshot: {
      version: 3,
      assets: [
        { ...label, key: sscc, lot },
        { key: 'K-2', lot: 'L-2' },
      ],
    },
  })
  await send(log, 2, 2, printed('L-1'))
  const child = childOf(log, 2, '1')
  t.equal(await restored(child), 200)
  const written = async () =>
    (await hub.rows('SELECT xmin::text AS by FROM asset WHERE log_id = $1 ORDER BY asset_key', [logId])).map(
      (row) => row['by'],
    )
  const [ofPallet, ofOther] = await written()
  t.equal(await send(child, 1, 1, printed('L-1')), 200)
  t.same(await written(), [ofPallet, ofOther], 'all of it is stored already')
  t.equal(await send(child, 1, 1, printed('L-9')), 200)
  const [corrected, still] = await written()
  t.not(corrected, ofPallet)
  t.equal(still, ofOther, 'the other asset stays as it is')
})

/** The box of the site restored its log from one backup twice. `branch` was recorded between the two restores. */
async function twiceRestored(t: Test, rides: (log: 'first' | 'branch' | 'last') => object) {
  const log = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves: [['08:00', 'PLACED', 1, 'K-1']] }) })
  const { hub, send, restored } = await office(t, log, 1)
  await send(log, 1, 1, rides('first'))
  const [branch, last] = [childOf(log, 1, '1'), childOf(log, 1, '2')]
  for (const [child, name] of [
    [branch, 'branch'],
    [last, 'last'],
  ] as const) {
    t.equal(await restored(child), 200)
    t.equal(await send(child, 1, 1, rides(name)), 200)
  }
  return { hub, branch, last }
}

t.test('of a branch that a second restore cut off, no label and no slot counts', async (t) => {
  const label = { key: 'K-1', gtin: '09521234543213' }
  const said = {
    first: { assets: [{ ...label, lot: 'L-1' }] },
    branch: { assets: [{ ...label, lot: 'L-2', sscc }], slots: [slotOf(8)] },
    last: { assets: [{ ...label, lot: 'L-1' }] },
  }
  const { hub } = await twiceRestored(t, (log) => ({ snapshot: { version: 1, ...said[log] } }))
  const recalled = async (query: string) => (await askAs(hub, `/api/hub/recall?${query}`)).body.data.length
  t.same([await recalled('lot=L-1'), await recalled('lot=L-2')], [1, 0], 'of any item')
  t.equal(await recalled('gtin=09521234543213&lot=L-2'), 0)
  t.same((await askAs(hub, `/api/hub/search?code=${sscc}`)).body.data, [], 'the SSCC is on no label')
  t.same((await askAs(hub, '/api/hub/search?code=K-1')).body.data[0]?.state, 'here')
  const { data } = (await askAs(hub, `/api/hub/sites/${siteId}/slots`)).body
  t.same(
    data.map((slot: { slot: string }) => slot.slot),
    ['A-01'],
  )
})

t.test('a branch that a second restore cut off does not count among the configs of the boxes', async (t) => {
  const { hub, branch, last } = await twiceRestored(t, () => ({}))
  const isSet = (log: string, config: string) =>
    hub.rows('UPDATE log_head SET status = $2 WHERE log_id = $1', [
      log,
      { fleet: { ...fleet, configSections: { web: config.repeat(16) } } },
    ])
  for (const site of ['dc-7', 'dc-8']) await isSet(story[site]?.logId ?? '', 'a')
  for (const log of [branch, last]) await isSet(log.logId, 'b')
  const { data } = (await askAs(hub, '/api/hub/sites')).body
  const site = data.find((one: { siteId: string }) => one.siteId === siteId)
  t.same(site?.config.differsIn, ['web'], 'two boxes of three have the other one')
})

t.test('a slot of which only the lost time knew is no free slot once the restored box has sent its plan', async (t) => {
  const log = testLog({ siteId, logId, leaves: placements({ siteId, logId, moves: [['08:00', 'PLACED', 1, 'K-1']] }) })
  const { hub, send, restored } = await office(t, log, 1)
  const plan = (version: number, ...slots: number[]) => ({ snapshot: { version, slots: slots.map(slotOf) } })
  const shown = async () =>
    (await askAs(hub, `/api/hub/sites/${siteId}/slots`)).body.data.map((slot: { slot: string }) => slot.slot)
  await send(log, 1, 1, plan(1, 1, 2, 8))
  const child = childOf(log, 1, '1')
  t.equal(await restored(child), 200)
  t.same(await shown(), ['A-01', 'A-02', 'A-08'], 'until its box says more')
  t.equal(await send(child, 1, 1, plan(1, 2)), 200)
  t.same(await shown(), ['A-01', 'A-02'], 'where something stands is a slot in any case')
})
