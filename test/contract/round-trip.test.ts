import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { descriptionOf, operationsOf } from '../support/description.ts'
import { type Answer, furnish, people, testGateway, tinyPng } from '../support/gateway.ts'
import { inline, type Schema } from '../support/json-schema.ts'

t.setTimeout(240_000)

const by = people.ada
const gateway = await testGateway()
t.teardown(() => gateway.end())
await furnish(gateway, ['A'])

type Body = Record<string, unknown>

async function send(method: string, path: string, body: Body): Promise<Answer['body']> {
  const answer = await gateway.ask(method, path, { by, body })
  if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

const post = (path: string, body: Body) => send('POST', path, body)

await post('/api/whms/zones', { name: 'T', zone_type: 'storage', warehouseId: 1 })
await post('/api/whms/zones', { name: 'Cold', zone_type: 'cold', warehouseId: 1 })
const description = await descriptionOf(gateway)
const operations = operationsOf(description)

/** A resource that a PUT or PATCH changes, with a value for everything that a request may say of it. */
type Resource = {
  /** Where it is created. */
  readonly list: string
  readonly pathOf: (made: Answer['body']) => string
  /** The required fields; `n` keeps unique ones apart. */
  readonly least: (n: number) => Body
  /** A value for each optional field of its creation. */
  readonly optional: Body
  /** Makes one in a state that its creation cannot give it. Returns its path. */
  readonly also?: Readonly<Record<string, () => Promise<string>>>
  /** For each field of a change another value, and the fields of the answer that follow from it. */
  readonly others: Readonly<Record<string, readonly [value: unknown, ...follows: string[]]>>
  /** Fields of a change that must be the present value. */
  readonly fixed?: readonly string[]
  /** Fields that always have a value, although a creation may leave them out. */
  readonly states?: readonly string[]
}

const square = [
  { x: 0, y: 0 },
  { x: 4, y: 0 },
  { x: 4, y: 4 },
]
const wide = [...square, { x: 0, y: 4.5 }]
/** Over the 20 characters of GS1: such a label is taken with a warning. */
const longSerial = 'S'.repeat(120)

const slot = async (body: Body) => {
  const { id } = await post('/api/whms/slots', { zone: 'S', floor_plan_polygon: square, ...body })
  return `/api/whms/slots/${id}`
}
const record = (event_type: string, slot_code: string, asset_barcode: string) => {
  const photo_url = `https://photos.example/${encodeURIComponent(asset_barcode)}.jpg`
  return post('/api/whms/events', { event_type, slot_code, asset_barcode, photo_url })
}
const seen = async (barcode: string) => {
  await record('PLACED', 'A', barcode)
  return `/api/whms/assets/${encodeURIComponent(barcode)}`
}

/** Every PUT and PATCH of the description needs its entry. Zones S and T store; the third one, Cold, is cold. */
const resources: Readonly<Record<string, Resource | 'apart'>> = {
  'PUT /api/whms/slots/{id}': {
    list: '/api/whms/slots',
    pathOf: ({ id }) => `/api/whms/slots/${id}`,
    least: (n) => ({ slot_id: `slot ${n}`, zone: 'S', floor_plan_polygon: square }),
    optional: {
      zone_type: 'hazmat',
      constraints: { max_weight: 800, max_height: 180.5, allowed_types: ['pallet', 'box'] },
      zoneId: 1,
      warehouseId: 1,
    },
    also: {
      'is retired': async () => {
        const path = await slot({ slot_id: 'out' })
        await send('PUT', path, { retired: true })
        return path
      },
      'waits for its zone': () => slot({ slot_id: 'waits', zone: 'Later' }),
      'is in a zone under another text': () => slot({ slot_id: 'own', zone: 'upper shelf', zoneId: 3 }),
      'is occupied, verified and has empty constraints': async () => {
        const path = await slot({ slot_id: 'full', constraints: {} })
        await record('PLACED', 'full', 'P-full')
        await record('VERIFIED', 'full', 'P-full')
        return path
      },
    },
    others: {
      zone: ['Cold', 'zoneId', 'zone_type'],
      zoneId: [3, 'zone', 'zone_type'],
      zone_type: ['shipping'],
      floor_plan_polygon: [wide],
      constraints: [{ max_height: 12 }],
      retired: [true, 'retiredAt'],
    },
    fixed: ['slot_id', 'warehouseId'],
    states: ['retired'],
  },
  'PUT /api/whms/zones/{id}': {
    list: '/api/whms/zones',
    pathOf: ({ id }) => `/api/whms/zones/${id}`,
    least: (n) => ({ name: `Zone ${n}`, zone_type: 'cold', warehouseId: 1 }),
    optional: { color: '#12Ab34', floor_plan_polygon: square },
    also: { 'has slots': async () => '/api/whms/zones/1' },
    others: {
      name: ['Renamed', 'renamedSlots', 'adoptedSlots'],
      zone_type: ['shipping'],
      color: ['#000000'],
      floor_plan_polygon: [wide],
    },
    fixed: ['warehouseId'],
  },
  'PUT /api/whms/warehouses/{id}': {
    list: '/api/whms/warehouses',
    pathOf: ({ id }) => `/api/whms/warehouses/${id}`,
    least: (n) => ({ name: `Hall ${n}`, timezone: 'UTC' }),
    optional: { location: { lat: 52.25, lng: -13 } },
    also: {
      'has zones and slots': async () => '/api/whms/warehouses/1',
      'has a picture': async () => {
        const { id } = await post('/api/whms/warehouses', { name: 'Drawn', timezone: 'UTC' })
        await gateway.ask('PUT', `/api/whms/warehouses/${id}/floor-plan-image`, { by, bytes: tinyPng })
        return `/api/whms/warehouses/${id}`
      },
    },
    others: {
      name: ['Renamed'],
      timezone: ['Europe/Paris'],
      location: [{ lat: 0, lng: 0 }],
      // Only a picture that is there can be moved: test/warehouse/plan-image.test.ts.
      floorPlanImage: [null],
    },
  },
  'PUT /api/whms/assets/{barcode}': {
    list: '/api/whms/assets',
    pathOf: ({ asset_id }) => `/api/whms/assets/${encodeURIComponent(asset_id)}`,
    least: (n) => ({ asset_id: `P-${n}`, type: 'pallet' }),
    optional: {
      weight_kg: 412.5,
      dimensions: { length: 120, width: 80, height: 144.5 },
      sscc: '340123450000000017',
      gtin: '4006381333931',
      lot: 'L-7',
      bestBefore: '2026-12-31',
      serial: 'S-9',
    },
    also: {
      'is provisional': () => seen('seen once'),
      'has goods from its label': () => seen('(01)04006381333931(10)L-1(17)270228(21)77'),
      'has a serial number on its label that is too long for GS1': () =>
        seen(`]C10104006381333931109\u001d21${longSerial}`),
      'has other goods than its label': async () => {
        const path = await seen('(00)340123450000000024(10)L-1')
        await send('PUT', path, { type: 'box', lot: 'L-2', gtin: '4006381333931' })
        return path
      },
    },
    others: {
      type: ['drum'],
      weight_kg: [0],
      dimensions: [{ length: 1, width: 2, height: 3 }],
      sscc: ['340123450000000031'],
      gtin: ['00000040063812'],
      lot: ['L-8'],
      bestBefore: ['2027-01-31'],
      serial: ['S-10'],
    },
    fixed: ['asset_id'],
    // Null only while the asset is provisional.
    states: ['type'],
  },
  'PATCH /api/webhooks/{id}': {
    list: '/api/webhooks',
    pathOf: ({ id }) => `/api/webhooks/${id}`,
    least: (n) => ({ url: `https://erp.invalid/${n}`, events: ['whms.removal', 'whms.placement'] }),
    optional: { secret: 'sixteen characters', active: false, hold: true, checkpoint: true },
    others: {
      url: ['https://wms.invalid/'],
      events: [['scale.reading']],
      active: [false, 'status'],
      hold: [false],
      checkpoint: [true],
      secret: ['another secret of 16'],
    },
    fixed: ['status'],
    states: ['secret', 'active'],
  },
  'PUT /api/whms/warehouses/{id}/floor-plan-image': 'apart',
  'PUT /api/operators/{id}/pin': 'apart',
  // Its round trip is in test/accounts.
  'PATCH /api/accounts/{username}': 'apart',
  // A password is in no answer.
  'PUT /api/own-account/password': 'apart',
}

const whole = Object.entries(resources).filter((entry): entry is [string, Resource] => entry[1] !== 'apart')

/** Returns the schema of the JSON body of `METHOD path`. */
function bodyOf(name: string): Schema | undefined {
  const found = operations.find(({ method, path }) => `${method} ${path}` === name)
  const schema = found?.operation.requestBody?.content['application/json']?.schema
  return schema && inline(schema, description.components.schemas)
}

const optionalIn = ({ properties = {}, required = [] }: Schema): string[] =>
  Object.keys(properties).filter((name) => !required.includes(name))

const takesNull = ({ type, anyOf, oneOf, enum: values }: Schema): boolean =>
  [type].flat().includes('null') || values?.includes(null) === true || (anyOf ?? oneOf ?? []).some(takesNull)

let made = 0

/** Makes two: with the required fields alone, and with every field. Returns their paths. */
async function pairOf({ list, least, optional, pathOf }: Resource) {
  const make = async (body: Body) => pathOf(await post(list, { ...least(++made), ...body }))
  return { least: await make({}), full: await make(optional) }
}

async function read(path: string): Promise<Body> {
  const { status, body, text } = await gateway.ask('GET', path, { by })
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
  return body
}

/** All that the gateway stores: versions, audit trail, notifications, ledger and log among it. */
function stored(): Record<string, unknown[]> {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[]
  const rows = Object.fromEntries(tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]))
  db.close()
  return rows
}

const without = (body: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

/** Fields that the newest audit entry says were changed. */
async function auditedFields(): Promise<string[]> {
  const [entry] = (await gateway.ask('GET', '/api/governance/audit?limit=1', { by })).body.data
  return Object.keys(entry.changes ?? {}).map(
    (name) => ({ polygon: 'floor_plan_polygon', origin: 'url' })[name] ?? name,
  )
}

t.test('every PUT and PATCH of the description has its entry here, with every field', async (t) => {
  const changing = operations
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => /^(PUT|PATCH) /.test(name))
  t.strictSame(changing.toSorted(), Object.keys(resources).toSorted())
  for (const [name, { list, least, optional, others, fixed = [] }] of whole) {
    const creation = bodyOf(`POST ${list}`) ?? {}
    t.strictSame(optionalIn(creation).toSorted(), Object.keys(optional).toSorted(), `POST ${list}`)
    t.strictSame(creation.required?.toSorted(), Object.keys(least(1)).toSorted(), `POST ${list}`)
    const fields = Object.keys(bodyOf(name)?.properties ?? {})
    t.strictSame(fields.toSorted(), [...Object.keys(others), ...fixed].toSorted(), name)
  }
})

for (const [name, resource] of whole) {
  const method = name.split(' ')[0] as string

  t.test(`${name}: the answer of a GET that is sent back changes nothing`, async (t) => {
    const { least, full } = await pairOf(resource)
    const variants: Record<string, string> = { 'has the required fields alone': least, 'has every field': full }
    for (const [what, make] of Object.entries(resource.also ?? {})) variants[what] = await make()
    for (const [what, path] of Object.entries(variants)) {
      gateway.clock.advance(60_000)
      const answer = await read(path)
      const before = stored()
      const sent = await gateway.ask(method, path, { by, body: answer })
      t.equal(sent.status, 200, `${what}: ${sent.text}`)
      const shown = Object.keys(sent.body).filter((field) => field in answer)
      t.strictSame(
        without(sent.body, Object.keys(without(sent.body, shown))),
        without(answer, Object.keys(without(answer, shown))),
        `${what}: its answer`,
      )
      t.strictSame(await read(path), answer, what)
      t.strictSame(stored(), before, `${what}: nothing is stored`)
    }
  })

  t.test(`${name}: the answer of a GET with one other value changes that value alone`, async (t) => {
    for (const [what, path] of Object.entries(await pairOf(resource))) {
      for (const [field, [value, ...follows]] of Object.entries(resource.others)) {
        const at = `${what}: ${field}`
        const before = await read(path)
        if (field in before && JSON.stringify(before[field]) === JSON.stringify(value)) continue
        const sent = await gateway.ask(method, path, { by, body: { ...before, [field]: value } })
        t.equal(sent.status, 200, `${at}: ${sent.text}`)
        const after = await read(path)
        if (field in before) t.strictSame(after[field], value, at)
        const changed = [field, ...follows]
        const unlike = [...changed, 'version', 'updatedAt']
        t.strictSame(without(after, unlike), without(before, unlike), `${at} and nothing else`)
        t.equal(after['version'], Number(before['version']) + 1, `${at}: one change`)
        const audited = await auditedFields()
        t.ok(audited.includes(field), `${at} is in the audit trail`)
        t.strictSame(
          audited.filter((one) => !changed.includes(one)),
          [],
          `${at} is alone in the audit trail`,
        )
        await send(method, path, before)
      }
    }
  })

  t.test(`${name}: null clears an optional field and is refused for a required one`, async (t) => {
    const { least, full } = await pairOf(resource)
    const bare = await read(least)
    const { optional, fixed = [], states = [] } = resource
    for (const [field, schema] of Object.entries(bodyOf(name)?.properties ?? {})) {
      const before = stored()
      const sent = await gateway.ask(method, full, { by, body: { [field]: null } })
      const canBeAbsent = field in optional || bare[field] === null
      if (canBeAbsent && ![...fixed, ...states].includes(field)) {
        t.ok(takesNull(schema), `${field}: the description says that null is taken`)
        t.equal(sent.status, 200, `${field}: ${sent.text}`)
        t.strictSame((await read(full))[field], bare[field], `${field} is as if it had never been sent`)
      } else {
        t.match(sent, { status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: field }] } } }, field)
        t.strictSame(stored(), before, `${field}: nothing is stored`)
      }
    }
  })

  t.test(`POST ${resource.list}: null equals absent for each optional field`, async (t) => {
    const { list, least, optional } = resource
    const unlike = ['id', 'createdAt', 'updatedAt', 'secret', ...Object.keys(least(1))]
    const plain = await post(list, least(++made))
    const nulls = Object.fromEntries(Object.keys(optional).map((field) => [field, null]))
    for (const body of [nulls, ...Object.keys(optional).map((field) => ({ [field]: null }))]) {
      const answer = await post(list, { ...least(++made), ...body })
      t.strictSame(without(answer, unlike), without(plain, unlike), JSON.stringify(body))
    }
  })
}

t.test('null may stand for each optional field of every POST', async (t) => {
  const refusing = (schema: Schema, at: string): string[] => [
    ...optionalIn(schema)
      .filter((name) => !takesNull(schema.properties?.[name] ?? {}))
      .map((name) => `${at}.${name}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => refusing(inner, `${at}.${name}`)),
    // Each of a batch of changes is a PUT.
    ...(schema.items && !at.endsWith('/batch.changes') ? refusing(schema.items, `${at}[]`) : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((one) => refusing(one, at)),
  ]
  const names = operations.map(({ method, path }) => `${method} ${path}`)
  const bodies = names.filter((name) => name.startsWith('POST ') && bodyOf(name))
  t.ok(bodies.length > 30, `${bodies.length} bodies`)
  t.strictSame(
    bodies.flatMap((name) => refusing(bodyOf(name) ?? {}, name)),
    [],
  )
})

/** Whether a field is a name or a search key for people. */
const isName = (field: string): boolean =>
  /name$|^(zone|slot_id|asset_id|badge|title|reference|category|scaleId|carrier|vehicle)$/i.test(field)

t.test('a blank name is refused for everything that has a name, and nothing is stored', async (t) => {
  const found = operations.flatMap(({ method, path }) =>
    Object.entries(bodyOf(`${method} ${path}`)?.properties ?? {})
      .filter(([field, { type, enum: values }]) => isName(field) && !values && [type].flat().includes('string'))
      .map(([field]) => ({ method, path, field })),
  )
  for (const list of ['warehouses', 'zones', 'slots', 'assets', 'transport-units'])
    t.ok(
      found.some(({ path }) => path === `/api/whms/${list}`),
      list,
    )
  const before = stored()
  for (const { method, path, field } of found) {
    for (const blank of ['   ', '\u00a0\u2003', '\u200b\ufeff', ' \u2060 ']) {
      const { status, body } = await gateway.ask(method, path.replace(/\{\w+\}/g, '1'), {
        by,
        body: { [field]: blank },
      })
      const fields: { path: string }[] = body.error?.fields ?? []
      t.equal(status, 400, `${method} ${path}: ${field}`)
      t.ok(
        fields.some((one) => one.path === field),
        `${method} ${path} names ${field}`,
      )
    }
  }
  t.strictSame(stored(), before)
})

t.test('a picture that is read and put back changes nothing', async (t) => {
  const path = '/api/whms/warehouses/1/floor-plan-image'
  const { floorPlanImage } = (await gateway.ask('PUT', path, { by, bytes: tinyPng })).body
  gateway.clock.advance(60_000)
  const before = stored()
  const { bytes } = await gateway.ask('GET', `${path}/${floorPlanImage.sha256}`, { by })
  t.match(await gateway.ask('PUT', path, { by, bytes }), { status: 200, body: { floorPlanImage } })
  t.strictSame(stored(), before)
})

t.test('no answer has a PIN, so an operator that is read and put back is refused and stays as it is', async (t) => {
  await post('/api/operators', { username: 'otto', badge: 'B-0042', pin: '4826' })
  const [operator] = (await gateway.ask('GET', '/api/operators', { by })).body.data
  const before = stored()
  for (const body of [operator, { pin: null }])
    t.match(await gateway.ask('PUT', `/api/operators/${operator.id}/pin`, { by, body }), {
      status: 400,
      body: { error: { fields: [{ path: 'pin' }] } },
    })
  t.strictSame(stored(), before)
})
