import Database from 'better-sqlite3'
import t from 'tap'
import { placeOf } from '../support/browser.ts'
import { furnish, heldPhoto, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

let photos = 0

type ListPage = { readonly data: readonly object[]; readonly pagination: { readonly total: number } }

/** A site that registers its assets. */
async function yard(t: { teardown(end: () => void): void }, config = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config: { ledger: { assets: 'registered' }, ...config } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C'])
  for (const asset_id of ['P-1', 'P-2', 'P-3'])
    await gateway.ask('POST', '/api/whms/assets', {
      by: people.ada,
      body: { asset_id, type: 'pallet', weight_kg: 300 },
    })
  return gateway
}

async function book(
  gateway: TestGateway,
  event_type: string,
  slot_code: string,
  asset_barcode: string,
  more = {},
  by: Person = people.sven,
) {
  gateway.clock.advance(1000)
  photos += 1
  const photo_url = `https://photos.example/${photos}.jpg`
  const body = { event_type, slot_code, asset_barcode, photo_url, ...more }
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

/** A second hall with one slot. */
async function hiddenHall(gateway: TestGateway, slot_id: string): Promise<void> {
  const make = async (path: string, body: object) => {
    const answer = await gateway.ask('POST', `/api/whms/${path}`, { by: people.ada, body })
    if (answer.status !== 201) throw new Error(answer.text)
  }
  const corner = { x: 0, y: 0 }
  await make('warehouses', { name: 'Hall 2', timezone: 'Europe/Berlin' })
  await make('zones', { name: 'H', zone_type: 'storage', warehouseId: 2 })
  const floor_plan_polygon = [corner, { x: 1, y: 0 }, { x: 1, y: 1 }]
  await make('slots', { slot_id, zone: 'H', zoneId: 2, floor_plan_polygon })
}

function rowsIn(gateway: TestGateway, sql: string): unknown[] {
  const db = new Database(`${gateway.live.config.dataDir}/gatehouse.db`, { readonly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

const list = async (gateway: TestGateway, query = '', by: (typeof people)[keyof typeof people] = people.vera) =>
  (await gateway.ask('GET', `/api/whms/discrepancies${query}`, { by })).body
const kinds = async (gateway: TestGateway, query = '') =>
  (await list(gateway, query)).data.map((d: { kind: string }) => d.kind).toSorted()

t.test('a floor on which everything is as booked has no discrepancy', async (t) => {
  const gateway = await yard(t)
  await book(gateway, 'PLACED', 'A', 'P-1')
  await book(gateway, 'VERIFIED', 'A', 'P-1')
  await book(gateway, 'REMOVED', 'A', 'P-1')
  await book(gateway, 'PLACED', 'B', 'P-1')
  await book(gateway, 'PLACED', 'B', 'P-1')
  t.match(await list(gateway), {
    success: true,
    data: { length: 0 },
    pagination: { total: 0, limit: null, hasMore: false },
  })
})

t.test('a pallet that was moved without being taken out stands in two slots', async (t) => {
  const gateway = await yard(t)
  const first = await book(gateway, 'PLACED', 'A', 'P-1')
  const second = await book(gateway, 'PLACED', 'B', 'P-1')
  const { data } = await list(gateway)
  t.match(data, [
    {
      kind: 'asset_in_two_slots',
      id: `asset_in_two_slots-${first.id}-${second.id}`,
      slot: { id: 1, slot_id: 'A', warehouseId: 1, zone: 'S', zoneId: 1 },
      otherSlot: { slot_id: 'B' },
      assetBarcode: 'P-1',
      eventIds: [first.id, second.id],
      since: second.timestamp,
      what: String,
      todo: String,
    },
  ])
  t.equal(data.length, 1)
  await book(gateway, 'REMOVED', 'A', 'P-2')
  t.same(await kinds(gateway), ['removed_not_there'], 'the slot is free; another pallet is said to have been in it')
})

/** Booked events, their contradictions, and the events that may prove them. */
const contradictions: [string, [string, string, string][], string[], number[]][] = [
  [
    'two in one slot',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'A', 'P-2'],
    ],
    ['two_in_one_slot'],
    [1, 2],
  ],
  [
    'another taken out',
    [
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'A', 'P-2'],
    ],
    ['left_behind', 'removed_not_there'],
    [1, 2],
  ],
  [
    'taken out elsewhere',
    [
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    ['removed_elsewhere', 'removed_not_there'],
    [1, 2],
  ],
  [
    'placed elsewhere and taken out there, and still shown',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'B', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    ['removed_elsewhere'],
    [1, 3],
  ],
  [
    'placed elsewhere and overwritten there, and still shown',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'B', 'P-1'],
      ['PLACED', 'B', 'P-2'],
    ],
    ['asset_in_two_slots', 'two_in_one_slot'],
    [1, 2, 3],
  ],
  [
    'placed elsewhere, emptied there by another barcode, and still shown',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'B', 'P-1'],
      ['REMOVED', 'B', 'P-2'],
    ],
    ['left_behind', 'removed_elsewhere', 'removed_not_there'],
    [1, 2, 3],
  ],
  [
    'taken out of a third slot after it was placed elsewhere',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'C', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    ['asset_in_two_slots', 'removed_elsewhere', 'removed_not_there'],
    [1, 2, 3],
  ],
  [
    'the first of two in one slot taken out',
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'A', 'P-2'],
      ['REMOVED', 'A', 'P-1'],
    ],
    ['left_behind', 'removed_not_there'],
    [2, 3],
  ],
  [
    'left behind, and another placed there since',
    [
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'A', 'P-2'],
      ['PLACED', 'A', 'P-2'],
    ],
    ['left_behind'],
    [1, 2],
  ],
  ['taken out of an empty slot', [['REMOVED', 'B', 'P-1']], ['removed_not_there'], [1]],
  [
    'disputed',
    [
      ['PLACED', 'A', 'P-1'],
      ['DISPUTED', 'A', 'P-1'],
    ],
    ['disputed'],
    [1, 2],
  ],
  [
    'another one judged',
    [
      ['PLACED', 'A', 'P-1'],
      ['VERIFIED', 'A', 'P-2'],
    ],
    ['verified_mismatch'],
    [1, 2],
  ],
  ['judged while empty', [['VERIFIED', 'C', 'P-2']], ['judged_while_empty'], [1]],
  ['nobody registered it', [['PLACED', 'A', 'P-9']], ['unregistered_asset'], [1]],
]

for (const [what, events, expected, proof] of contradictions)
  t.test(`a contradiction is found, with the events that prove it: ${what}`, async (t) => {
    const gateway = await yard(t)
    for (const [type, slot, asset] of events) await book(gateway, type, slot, asset)
    t.same(await kinds(gateway), expected)
    for (const kind of expected) {
      const { data, pagination } = await list(gateway, `?kind=${kind}`)
      t.equal(pagination.total, 1)
      t.same(data[0].kind, kind)
      const isSubset = data[0].eventIds.every((id: number) => proof.includes(id)) && data[0].eventIds.length > 0
      t.ok(isSubset, `${kind} by ${data[0].eventIds}`)
    }
  })

t.test('a removal scanned from another slot ends nothing, and is reported until it is settled', async (t) => {
  const where = async (gateway: TestGateway) =>
    (await gateway.ask('GET', '/api/whms/assets/P-1/location', { by: people.vera })).body
  const settled: [string, (gateway: TestGateway, removal: number) => Promise<unknown>][] = [
    ['placed here again', (gateway) => book(gateway, 'PLACED', 'A', 'P-1')],
    ['taken out here', (gateway) => book(gateway, 'REMOVED', 'A', 'P-1')],
    [
      'the removal is corrected',
      (gateway, removal) => {
        const body = { none: true, reason: 'scanned the wrong pallet' }
        return gateway.ask('POST', `/api/whms/events/${removal}/correct`, { by: people.olga, body })
      },
    ],
  ]
  for (const [how, settle] of settled) {
    const gateway = await yard(t)
    const placed = await book(gateway, 'PLACED', 'A', 'P-1')
    await book(gateway, 'PLACED', 'B', 'P-2')
    const removal = await book(gateway, 'REMOVED', 'B', 'P-1')
    const codes = removal.warnings.map(({ code }: { code: string }) => code).toSorted()
    t.same(codes, ['ASSET_ELSEWHERE', 'ASSET_MISMATCH'])
    t.match(await where(gateway), {
      slot: { slot_id: 'A', isOccupied: true, assetBarcode: 'P-1' },
      since: placed.timestamp,
      lastSlot: null,
      endedBy: null,
    })
    const ofIt = async () =>
      (await list(gateway)).data.filter(({ assetBarcode }: { assetBarcode: string }) => assetBarcode === 'P-1')
    t.match(
      (await ofIt()).map(({ kind, eventIds }: { kind: string; eventIds: number[] }) => [kind, eventIds]).toSorted(),
      [
        ['removed_elsewhere', [placed.id, removal.id]],
        ['removed_not_there', [2, removal.id]],
      ],
    )
    await settle(gateway, removal.id)
    t.same(await ofIt(), [], how)
  }
})

/** Booked events, and whether P-1 was placed in A last before it was taken out elsewhere. */
const removals: [[string, string, string][], boolean][] = [
  [
    [
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    true,
  ],
  [
    [
      ['PLACED', 'B', 'P-1'],
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    true,
  ],
  [
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'B', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    false,
  ],
  [
    [
      ['PLACED', 'A', 'P-1'],
      ['PLACED', 'C', 'P-1'],
      ['PLACED', 'B', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    false,
  ],
  [
    [
      ['PLACED', 'A', 'P-1'],
      ['REMOVED', 'C', 'P-1'],
      ['REMOVED', 'B', 'P-1'],
    ],
    true,
  ],
]

t.test(
  'of a removal elsewhere it is said whether the pallet was placed here last, so that a correction leaves it here',
  async (t) => {
    for (const [events, lastPlacedHere] of removals) {
      const gateway = await yard(t)
      for (const [type, slot, asset] of events) await book(gateway, type, slot, asset)
      const { data } = await list(gateway, '?kind=removed_elsewhere')
      const one = data.find(({ slot }: { slot: { slot_id: string } }) => slot.slot_id === 'A')
      t.equal(one.lastPlacedHere, lastPlacedHere, JSON.stringify(events))
      const removal = one.eventIds[1]
      const body = { none: true, reason: 'it is in A' }
      await gateway.ask('POST', `/api/whms/events/${removal}/correct`, { by: people.olga, body })
      const { slot } = (await gateway.ask('GET', '/api/whms/assets/P-1/location', { by: people.vera })).body
      t.equal(slot?.slot_id === 'A', lastPlacedHere, `${JSON.stringify(events)}: what the correction does`)
    }
    const gateway = await yard(t)
    await book(gateway, 'PLACED', 'A', 'P-9')
    t.match(
      await list(gateway),
      { data: [{ kind: 'unregistered_asset', lastPlacedHere: null }] },
      'null for other kinds',
    )
  },
)

t.test('what settles a contradiction ends it', async (t) => {
  const gateway = await yard(t)
  await book(gateway, 'PLACED', 'A', 'P-1')
  await book(gateway, 'DISPUTED', 'A', 'P-1')
  await book(gateway, 'VERIFIED', 'A', 'P-1')
  t.same(await kinds(gateway), [], 'verified after the dispute')
  await book(gateway, 'VERIFIED', 'A', 'P-2')
  await book(gateway, 'VERIFIED', 'A', 'P-1')
  t.same(await kinds(gateway), [], 'the right pallet was judged since')
  await book(gateway, 'REMOVED', 'B', 'P-2')
  t.same(await kinds(gateway), ['removed_not_there'])
  await book(gateway, 'PLACED', 'C', 'P-2')
  t.same(await kinds(gateway), [], 'the pallet is booked somewhere since')
  const over = await book(gateway, 'PLACED', 'A', 'P-3')
  t.same(await kinds(gateway), ['two_in_one_slot'])
  const body = { none: true, reason: 'scanned twice' }
  t.equal((await gateway.ask('POST', `/api/whms/events/${over.id}/correct`, { by: people.olga, body })).status, 201)
  t.same(await kinds(gateway), [], 'corrected')
})

/** Bookings of an operator around a disputed pallet P-1 in slot A. */
type Booked = { readonly id: number; readonly photo_url: string }
const afterwards: Record<string, (gateway: TestGateway, placed: Booked, dispute: Booked) => Promise<unknown>> = {
  'places it again': (gateway) => book(gateway, 'PLACED', 'A', 'P-1', {}, people.olga),
  'takes it out': (gateway) => book(gateway, 'REMOVED', 'A', 'P-1', {}, people.olga),
  'moves it': (gateway) => book(gateway, 'PLACED', 'B', 'P-1', {}, people.olga),
  'places another one over it': (gateway) => book(gateway, 'PLACED', 'A', 'P-2', {}, people.olga),
  'names the dispute in a booking': async (gateway, { photo_url }, { id }) => {
    const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url, corrects_event_id: id }
    const { status } = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
    if (status !== 403) throw new Error(`${status}`)
  },
  'corrects the placement': async (gateway, { id }) => {
    const body = { asset_barcode: 'P-3', reason: 'read wrongly' }
    const { status } = await gateway.ask('POST', `/api/whms/events/${id}/correct`, { by: people.olga, body })
    if (status !== 201) throw new Error(`${status}`)
  },
  'corrects the placement to a pallet that a supervisor verifies elsewhere': async (gateway, { id }) => {
    await book(gateway, 'PLACED', 'B', 'P-3', {}, people.olga)
    await book(gateway, 'VERIFIED', 'B', 'P-3')
    const body = { asset_barcode: 'P-3', reason: 'read wrongly' }
    const { status } = await gateway.ask('POST', `/api/whms/events/${id}/correct`, { by: people.olga, body })
    if (status !== 201) throw new Error(`${status}`)
    await book(gateway, 'VERIFIED', 'B', 'P-3')
  },
  'corrects the placement to none': async (gateway, { id }) => {
    const body = { none: true, reason: 'scanned twice' }
    const { status } = await gateway.ask('POST', `/api/whms/events/${id}/correct`, { by: people.olga, body })
    if (status !== 201) throw new Error(`${status}`)
  },
}

for (const [what, act] of Object.entries(afterwards))
  t.test(`a dispute and the hold on its photo stay when an operator ${what}, until a supervisor ends it`, async (t) => {
    const gateway = await yard(t)
    const placed = await book(gateway, 'PLACED', 'A', 'P-1', { photo_url: await heldPhoto(gateway) }, people.olga)
    const dispute = await book(gateway, 'DISPUTED', 'A', 'P-1')
    const stands = async () => {
      const { data } = await list(gateway, '?kind=disputed')
      const eventIds = data.map((one: { eventIds: number[] }) => one.eventIds)
      return { eventIds, holds: rowsIn(gateway, `SELECT sha256 FROM media_hold WHERE reason = 'dispute'`).length }
    }
    const open = { eventIds: [[placed.id, dispute.id]], holds: 1 }
    t.strictSame(await stands(), open)
    await act(gateway, placed, dispute)
    t.strictSame(await stands(), open)
    const body = { none: true, reason: 'looked at again' }
    const correct = (by: Person) => gateway.ask('POST', `/api/whms/events/${dispute.id}/correct`, { by, body })
    t.equal((await correct(people.olga)).status, 403)
    if (what === 'moves it') await book(gateway, 'VERIFIED', 'B', 'P-1')
    else if (what === 'corrects the placement') await book(gateway, 'VERIFIED', 'A', 'P-3')
    else if (what.startsWith('corrects the placement to')) {
      const path = `/api/whms/discrepancies/disputed-${placed.id}-${dispute.id}/resolve`
      t.equal((await gateway.ask('POST', path, { by: people.sven, body: { note: 'counted' } })).status, 200)
    } else t.equal((await correct(people.sven)).status, 201)
    t.strictSame(await stands(), { eventIds: [], holds: 0 })
  })

t.test('what does not fit the slot is told as long as it stands there', async (t) => {
  const gateway = await yard(t)
  const put = (body: unknown) => gateway.ask('PUT', '/api/whms/slots/1', { by: people.ada, body })
  await put({ constraints: { max_weight: 250, max_height: 100, allowed_types: ['drum'] } })
  const change = { dimensions: { length: 120, width: 80, height: 150 } }
  await gateway.ask('PUT', '/api/whms/assets/P-1', { by: people.ada, body: change })
  await book(gateway, 'PLACED', 'A', 'P-1')
  t.same(await kinds(gateway), ['overheight', 'overweight', 'type_not_allowed'])
  await book(gateway, 'PLACED', 'A', 'P-1', { scale_weight_kg: 249 })
  t.same(await kinds(gateway), ['overheight', 'type_not_allowed'], 'the scale knows better than the master data')
  gateway.clock.advance(1000)
  await put({ constraints: {}, retired: true })
  const { data } = await list(gateway)
  t.match(data, [{ kind: 'retired_slot_occupied', since: new Date(gateway.clock.now()).toISOString() }])
  await book(gateway, 'REMOVED', 'A', 'P-1')
  t.same(await kinds(gateway), [])
})

t.test('the discrepancies of the past, as known now and as known then, of one place and one kind', async (t) => {
  const gateway = await yard(t)
  const first = await book(gateway, 'PLACED', 'A', 'P-1')
  const second = await book(gateway, 'PLACED', 'A', 'P-2')
  gateway.clock.advance(3_600_000)
  const late = { timestamp: new Date(Date.parse(first.timestamp) + 500).toISOString() }
  const removal = await book(gateway, 'REMOVED', 'A', 'P-1', late)
  t.same(await kinds(gateway), [], 'the removal was only late')
  t.same(await kinds(gateway, `?at=${second.timestamp}`), [])
  t.same(await kinds(gateway, `?known_at=${second.received_at}`), ['two_in_one_slot'])
  t.same(await kinds(gateway, `?at=${first.timestamp}&known_at=${removal.received_at}`), [])
  await book(gateway, 'PLACED', 'B', 'P-9')
  await book(gateway, 'DISPUTED', 'B', 'P-9')
  t.same(await kinds(gateway, '?zoneId=1&warehouseId=1'), ['disputed', 'unregistered_asset'])
  for (const query of ['?zoneId=9', '?warehouseId=9', '?kind=overweight'])
    t.same(await kinds(gateway, query), [], query)
  t.match(await list(gateway, '?limit=1'), { data: [{ kind: 'disputed' }], pagination: { total: 2, hasMore: true } })
  for (const query of ['?kind=nonsense', '?limit=-1', '?at=now']) {
    t.equal((await gateway.ask('GET', `/api/whms/discrepancies${query}`, { by: people.vera })).status, 400, query)
  }
})

t.test(
  'a placement that is taken back leaves no contradiction where the pallet was placed at the same time',
  async (t) => {
    const gateway = await yard(t)
    const same = { timestamp: new Date(gateway.clock.now()).toISOString() }
    const first = await book(gateway, 'PLACED', 'A', 'P-1', same)
    await book(gateway, 'PLACED', 'B', 'P-1', same)
    t.same(await kinds(gateway), ['asset_in_two_slots'])
    const body = { none: true, reason: 'it is not in A' }
    await gateway.ask('POST', `/api/whms/events/${first.id}/correct`, { by: people.olga, body })
    t.same(await kinds(gateway), [])
    const { slot } = (await gateway.ask('GET', '/api/whms/assets/P-1/location', { by: people.vera })).body
    t.equal(slot.slot_id, 'B')
  },
)

t.test('a site that does not register its assets hears nothing of unregistered ones', async (t) => {
  const gateway = await yard(t, { ledger: {} })
  const { warnings } = await book(gateway, 'PLACED', 'A', 'P-9')
  t.same(warnings, [])
  t.same(await kinds(gateway), [])
})

t.test('a reload that asks for registered assets reports those that are not, without another event', async (t) => {
  const gateway = await yard(t, { ledger: {} })
  await book(gateway, 'PLACED', 'A', 'P-9')
  t.same(await kinds(gateway), [])
  const { live } = gateway as unknown as { live: { config: { ledger: object } } }
  for (const ledger of [{ assets: 'registered' }, { enforce: ['UNKNOWN_ASSET'] }]) {
    const before = live.config
    live.config = { ...before, ledger: { ...before.ledger, ...ledger } }
    t.same(await kinds(gateway), ['unregistered_asset'], JSON.stringify(ledger))
    live.config = before
  }
  t.same(await kinds(gateway), [])
})

t.test('who asks while the gateway stops is told so, before its look and in the middle of it', async (t) => {
  const gateway = await yard(t)
  await book(gateway, 'PLACED', 'A', 'P-9')
  const { read } = gateway.work
  t.intercept(gateway.work, 'read', {
    value: (...work: Parameters<typeof read>) => {
      const found = read.apply(gateway.work, work)
      gateway.close()
      return found
    },
  })
  const stopping = { success: false, error: { code: 'NOT_READY', message: 'The gateway is stopping' } }
  t.match(await list(gateway), stopping, 'in the middle')
  t.match(await list(gateway), stopping, 'before')
})

t.test('of a warehouse that the caller may not see no discrepancy is told', async (t) => {
  const gateway = await yard(t, { warehouses: [{ id: 1, viewers: ['sven'] }] })
  await book(gateway, 'PLACED', 'A', 'P-9')
  for (const when of ['at first', 'again, when nothing has changed']) {
    t.equal((await list(gateway, '', people.sven)).pagination.total, 1, when)
    t.equal((await list(gateway)).pagination.total, 0, when)
  }
})

t.test('who shares a look learns nothing that another is let see in the middle of it', async (t) => {
  const hidden = [{ id: 2, viewers: ['ada'] }]
  const gateway = await yard(t, { warehouses: hidden })
  // Slots of the hall that both see fill the first slices.
  await furnish(
    gateway,
    Array.from({ length: 90 }, (_, n) => `D-${n}`),
  )
  await hiddenHall(gateway, 'H-1')
  const { live } = gateway as unknown as { live: { config: Record<string, unknown> } }
  const { read } = gateway.work
  for (let letIn = 1; letIn <= 8; letIn += 1) {
    live.config = { ...live.config, warehouses: hidden }
    await book(gateway, 'PLACED', 'H-1', `X-${letIn}`, {}, people.ada)
    let reads = 0
    const counted: typeof read = (...work) => {
      const found = read.apply(gateway.work, work as never)
      reads += 1
      if (reads === letIn) live.config = { ...live.config, warehouses: [{ id: 2, viewers: ['ada', 'sven'] }] }
      return found as never
    }
    gateway.work.read = counted
    const [, others] = await Promise.all([list(gateway, '', people.sven), list(gateway)])
    const isLetIn = reads >= letIn
    t.equal(others.pagination.total, 0, `let in after ${letIn} reads`)
    t.equal((await list(gateway)).pagination.total, 0, 'nor later')
    if (isLetIn) t.ok((await list(gateway, '', people.sven)).pagination.total > 0, 'who was let in sees it')
    gateway.work.read = read
  }
})

t.test(
  'screens that share a look get the page that each of them asks for, compressed where they take it',
  async (t) => {
    const gateway = await yard(t)
    const { url } = await placeOf(t, gateway)
    for (let n = 1; n <= 9; n += 1) await book(gateway, 'PLACED', 'A', `P-${n}`)
    const { data, pagination } = await list(gateway)
    t.ok(data.length > 3)
    const ask = async (query: string, accept: string) => {
      const headers = { ...signedIn(people.vera), 'Accept-Encoding': accept }
      const answer = await fetch(`${url}api/whms/discrepancies${query}`, { headers })
      return { encoding: answer.headers.get('content-encoding'), body: (await answer.json()) as ListPage }
    }
    const queries = ['', '?limit=2', '?offset=1', '?limit=2&offset=1', '?limit=0', '?offset=0', '?limit=3&offset=100']
    const asked = [...queries, ...queries].flatMap((query) => ['gzip', 'identity'].map((accept) => ({ query, accept })))
    const answers = await Promise.all(asked.map(({ query, accept }) => ask(query, accept)))
    for (const [at, { query, accept }] of asked.entries()) {
      const { limit, offset } = Object.fromEntries(new URLSearchParams(query))
      const first = Number(offset ?? 0)
      const rows = data.slice(first, limit === undefined ? undefined : first + Number(limit))
      t.strictSame(answers[at]?.body.data, rows, `${query} as ${accept}`)
      t.equal(answers[at]?.body.pagination.total, pagination.total)
      if (rows.length > 3) t.equal(answers[at]?.encoding, accept === 'gzip' ? 'gzip' : null)
    }
    await book(gateway, 'REMOVED', 'A', 'P-9')
    t.notSame((await ask('', 'gzip')).body.data, data, 'what was written is forgotten with the next event')
  },
)

t.test(
  'screens that ask together are answered by one look through the floor, as long as nothing changes',
  async (t) => {
    const gateway = await yard(t)
    await book(gateway, 'PLACED', 'A', 'P-9')
    const look = t.capture(gateway.work, 'read', gateway.work.read)
    await list(gateway)
    const alone = look().length
    await book(gateway, 'PLACED', 'B', 'P-9')
    look()
    const answers = await Promise.all(Array.from({ length: 10 }, () => list(gateway)))
    t.ok(look().length < 2 * alone, 'ten as one')
    t.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
    t.same(answers[0].data.map(({ kind }: { kind: string }) => kind).toSorted(), [
      'asset_in_two_slots',
      'unregistered_asset',
      'unregistered_asset',
    ])
  },
)
