import t, { type Test } from 'tap'
import { people, siteUrl } from '../support/gateway.ts'
import { startProvider } from '../support/provider.ts'
import { companyPeople, groupRoles, headersOfPerson } from '../support/provider-site.ts'
import { canary, type Hidden, type HiddenKind, outsiders, twoHalls } from '../support/two-halls.ts'

type Parameter = { readonly name: string; readonly in: string }
type Operation = { readonly parameters?: readonly Parameter[]; readonly requestBody?: unknown }
type Description = { readonly paths: Record<string, Record<string, Operation>> }

/** Values with the form of the hidden thing, but without a match. */
const unknown: Hidden = {
  warehouse: '77',
  zone: '77',
  slot: '7777',
  slotLabel: 'H-nowhere',
  barcode: 'P-nowhere',
  event: '7777',
  photo: '0'.repeat(64),
  photoUrl: `http://127.0.0.1:8480/api/whms/evidence/photos/${'0'.repeat(64)}`,
  unit: '01900000-0000-7000-8000-000000000000',
  sscc: '340000000000000021',
  scaleReading: '7777',
  scale: 'scale-nowhere',
  openingList: '1'.repeat(64),
  count: '7777',
  printJob: '7777',
  detection: '7777',
  camera: '77',
  incident: '7777',
  report: '7777',
  word: 'nowhere',
}

/** The kinds of thing that a path parameter refers to, by the path up to it; some parameters take several forms. */
const inPath: readonly [RegExp, readonly HiddenKind[]][] = [
  [/^\/api\/whms\/warehouses\/$/, ['warehouse']],
  [/^\/api\/whms\/warehouses\/.*\/floor-plan-image\/$/, ['word']],
  [/^\/api\/whms\/zones\/$/, ['zone']],
  [/^\/api\/whms\/slots\/$/, ['slot', 'slotLabel']],
  [/^\/api\/whms\/assets\/$/, ['barcode']],
  [/^\/api\/whms\/scan\/$/, ['barcode', 'slotLabel', 'unit', 'sscc']],
  [/^\/api\/whms\/events\/$/, ['event']],
  [/^\/api\/whms\/evidence\/photos\/$/, ['photo']],
  [/^\/api\/whms\/evidence\/opening-lists\/$/, ['openingList']],
  [/^\/api\/whms\/transport-units\/$/, ['unit']],
  [/^\/api\/iot\/scale-readings\/$/, ['scaleReading']],
  [/^\/api\/whms\/counts\/$/, ['count']],
  [/^\/api\/whms\/labels\/jobs\/$/, ['printJob']],
  [/^\/api\/iot\/detection-events\/$/, ['detection']],
  [/^\/api\/iot\/cctv\/$/, ['camera']],
  // By number, like detections.
  [/^\/api\/iot\/(redactions|exports)\/$/, ['detection']],
  [/^\/api\/governance\/incidents\/$/, ['incident']],
  [/^\/api\/governance\/reports\/$/, ['report']],
  // Hashes and leaves by their place in the log, which has one for all halls.
  [/^\/$/, ['word']],
  [/^\/api\/log\/.*$/, ['word']],
  // A model belongs to no hall.
  [/^\/api\/console\/object-detection\/models\/$/, ['word']],
  // For admins alone, who see every hall.
  [
    /^\/api\/(devices|device-pairings|operators|webhooks|alerts|alert-channels|alert-silences|uploads|accounts)\/.*$/,
    ['word'],
  ],
  // They belong to the caller alone.
  [/^\/api\/(own-account|sessions|push-subscriptions)\/.*$/, ['word']],
]

/** The kinds of thing that a query parameter or a body field refers to. Null: nothing in a hall. */
const byName: Readonly<Record<string, readonly HiddenKind[] | null>> = {
  slot_id: ['slot'],
  slot_code: ['slotLabel'],
  slot: ['slot', 'slotLabel'],
  to_slot_id: ['slot'],
  to_slot_code: ['slotLabel'],
  from_slot_id: ['slot'],
  from_slot_code: ['slotLabel'],
  asset_barcode: ['barcode'],
  operator: ['word'],
  work_order_ref: ['word'],
  corrects_event_id: ['event'],
  before: null,
  zoneId: ['zone'],
  warehouseId: ['warehouse'],
  reference: ['word'],
  carrier: ['word'],
  sscc: ['sscc'],
  q: ['word'],
  zone: ['word'],
  cctvId: ['camera'],
  scaleId: ['scale'],
  transportUnitId: ['unit'],
  name: ['word'],
  entity_id: ['event', 'photo', 'unit'],
  category: ['word'],
  ...Object.fromEntries(
    'follow after limit offset at known_at cursor cells after_seq from to by seconds format language codecs bom event_type type status stage direction gtin lot serial bestBefore bestBeforeFrom bestBeforeTo provisional location occupied kind trigger size dpi symbology copies printer state acknowledged resolved severity entity action version'
      .split(' ')
      .map((name) => [name, null]),
  ),
}

/** A request that changes something, about whatever `of` names; `at` is a separate empty slot in the first hall. */
type Act = (of: Hidden, at: string) => { path?: Record<string, string>; body: object }

const photo_url = 'https://photos.example/of-the-crawl.jpg'
const corner = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 0, y: 1 },
]
const photo = (at: string) => `${photo_url}?${at}`

/**
 * Every operation that changes something. A new one must be named here, with the things it can refer to, or as `apart`.
 */
const acts: Readonly<Record<string, readonly Act[] | 'apart'>> = {
  'POST /api/whms/events': [
    ({ slot }, at) => ({
      body: { event_type: 'PLACED', slot_id: Number(slot), asset_barcode: 'N-1', photo_url: photo(at) },
    }),
    ({ slotLabel }) => ({ body: { event_type: 'REMOVED', slot_code: slotLabel, asset_barcode: 'N-1' } }),
    ({ barcode }, at) => ({ body: { event_type: 'REMOVED', slot_code: at, asset_barcode: barcode } }),
    ({ photoUrl, word }, at) => ({
      body: { event_type: 'PLACED', slot_code: at, asset_barcode: `N-${word}`, photo_url: photoUrl },
    }),
    ({ photo: photo_sha256, word }, at) => ({
      body: { event_type: 'PLACED', slot_code: at, asset_barcode: `N2-${word}`, photo_url: photo(at), photo_sha256 },
    }),
    ({ event }, at) => ({
      body: { event_type: 'REMOVED', slot_code: at, asset_barcode: 'N-3', corrects_event_id: Number(event) },
    }),
    ({ barcode }, at) => ({ body: { event_type: 'VERIFIED', slot_code: at, asset_barcode: barcode } }),
  ],
  'POST /api/whms/events/batch': [
    ({ slotLabel }) => ({
      body: { mode: 'proceed', events: [{ event_type: 'REMOVED', slot_code: slotLabel, asset_barcode: 'N-1' }] },
    }),
    ({ barcode }, at) => ({
      body: { events: [{ event_type: 'REMOVED', slot_code: at, asset_barcode: barcode }] },
    }),
  ],
  'POST /api/whms/discrepancies/{id}/resolve': [
    ({ event }) => ({ path: { id: `disputed-${event}-${event}` }, body: { note: 'counted by hand' } }),
  ],
  'POST /api/whms/moves': [
    ({ slot }, at) => ({ body: { asset_barcode: 'N-1', to_slot_id: Number(slot), photo_url: photo(at) } }),
    ({ slotLabel }, at) => ({
      body: { asset_barcode: 'N-1', from_slot_code: slotLabel, to_slot_code: at, photo_url: photo(at) },
    }),
  ],
  'POST /api/whms/events/{id}/correct': [({ event }) => ({ path: { id: event }, body: { none: true, reason: 'r' } })],
  'POST /api/whms/labels/print': [
    ({ slotLabel }) => ({ body: { slot_code: slotLabel } }),
    ({ barcode }) => ({ body: { asset_barcode: barcode } }),
  ],
  'POST /api/whms/labels/jobs/{id}/reprint': [({ printJob }) => ({ path: { id: printJob }, body: {} })],
  'POST /api/whms/labels/jobs/{id}/cancel': [({ printJob }) => ({ path: { id: printJob }, body: {} })],
  'POST /api/whms/transport-units': [
    ({ warehouse, word }) => ({
      body: { reference: `R-${word}`, direction: 'inbound', warehouseId: Number(warehouse) },
    }),
    ({ photoUrl, word }) => ({
      body: { reference: `Q-${word}`, direction: 'inbound', evidence: { photo_urls: [photoUrl] } },
    }),
  ],
  'POST /api/whms/transport-units/{id}/advance': [({ unit }) => ({ path: { id: unit }, body: {} })],
  'POST /api/whms/transport-units/{id}/hold': [({ unit }) => ({ path: { id: unit }, body: { reason: 'r' } })],
  'POST /api/whms/transport-units/{id}/resume': [({ unit }) => ({ path: { id: unit }, body: {} })],
  'POST /api/whms/transport-units/{id}/cancel': [({ unit }) => ({ path: { id: unit }, body: { reason: 'r' } })],
  'POST /api/whms/transport-units/{id}/evidence': [
    ({ unit }) => ({ path: { id: unit }, body: { scale_weight_kg: 1 } }),
  ],
  'POST /api/iot/scale-readings': [
    ({ slot }) => ({ body: { scaleId: 's', weightKg: 1, slot_id: Number(slot) } }),
    ({ unit }) => ({ body: { scaleId: 's', weightKg: 1, transportUnitId: unit } }),
    ({ barcode }) => ({ body: { scaleId: 's', weightKg: 1, asset_barcode: barcode } }),
  ],
  'POST /api/whms/counts': [
    ({ warehouse }) => ({ body: { warehouseId: Number(warehouse) } }),
    ({ zone }) => ({ body: { zoneId: Number(zone) } }),
    ({ slot }) => ({ body: { slot_ids: [Number(slot)] } }),
    ({ slotLabel }) => ({ body: { slot_codes: [slotLabel] } }),
  ],
  'POST /api/whms/counts/{id}/scans': [
    ({ count }) => ({ path: { id: count }, body: { slot_code: 'A-00', empty: true } }),
  ],
  'POST /api/whms/counts/{id}/submit': [({ count }) => ({ path: { id: count }, body: {} })],
  'POST /api/whms/counts/{id}/recount': [({ count }) => ({ path: { id: count }, body: { reason: 'r' } })],
  'POST /api/whms/counts/{id}/approve': [({ count }) => ({ path: { id: count }, body: {} })],
  'POST /api/whms/counts/{id}/cancel': [({ count }) => ({ path: { id: count }, body: { reason: 'r' } })],
  'POST /api/iot/detection-events/{id}/redact': [
    ({ detection }) => ({ path: { id: detection }, body: { regions: [{ polygon: corner }] } }),
  ],
  'POST /api/iot/detection-events/{id}/export': [
    ({ detection }) => ({ path: { id: detection }, body: { reason: 'r' } }),
  ],
  'POST /api/iot/exports/{id}/approve': [({ detection }) => ({ path: { id: detection }, body: {} })],
  'POST /api/iot/exports/{id}/refuse': [({ detection }) => ({ path: { id: detection }, body: {} })],
  'POST /api/iot/cctv/{id}/what-if': [
    ({ camera }) => ({ path: { id: camera }, body: { from: '2026-03-02T06:00:00Z', to: '2026-03-02T07:00:00Z' } }),
  ],
  'POST /api/iot/detection/motion-stream': [({ camera }) => ({ body: { cctvId: Number(camera), action: 'start' } })],
  'POST /api/governance/incidents': [
    ({ event }) => ({ body: { severity: 'low', category: 'c', evidenceReferences: [{ type: 'event', id: event }] } }),
    ({ photo: sha }) => ({ body: { severity: 'low', category: 'c', evidenceReferences: [sha] } }),
    ({ barcode }) => ({
      body: { severity: 'low', category: 'c', evidenceReferences: [{ type: 'asset', id: barcode }] },
    }),
    ({ unit }) => ({
      body: { severity: 'low', category: 'c', evidenceReferences: [{ type: 'transport_unit', id: unit }] },
    }),
    ({ detection }) => ({
      body: { severity: 'low', category: 'c', evidenceReferences: [{ type: 'detection_event', id: detection }] },
    }),
    ({ warehouse }) => ({ body: { severity: 'low', category: 'c', warehouseId: Number(warehouse) } }),
  ],
  'POST /api/governance/incidents/{id}/investigate': [({ incident }) => ({ path: { id: incident }, body: {} })],
  'POST /api/governance/incidents/{id}/resolve': [
    ({ incident }) => ({ path: { id: incident }, body: { resolution: 'r' } }),
  ],
  'POST /api/signed-urls': [
    ({ photo: sha }) => ({ body: { path: `/api/whms/evidence/photos/${sha}` } }),
    ({ detection }) => ({ body: { path: `/api/iot/detection-events/${detection}/clip` } }),
    ({ unit }) => ({ body: { path: `/api/whms/transport-units/${unit}/receipt` } }),
  ],
  // About nothing that is in a hall.
  'POST /api/whms/sscc': 'apart',
  'POST /api/whms/evidence/photos': 'apart',
  'POST /api/governance/reports': 'apart',
  'POST /api/devices/enrol': 'apart',
  'POST /api/device-pairings': 'apart',
  'POST /api/device-pairings/collect': 'apart',
  'POST /api/device-pairings/{code}/confirm': [
    ({ warehouse }) => ({ path: { code: 'NONE' }, body: { name: 'screen', warehouseIds: [Number(warehouse)] } }),
  ],
  'POST /api/devices/sign-in': 'apart',
  'POST /api/devices/sign-out': 'apart',
  'POST /api/push-subscriptions': 'apart',
  'DELETE /api/push-subscriptions/{id}': 'apart',
  'POST /api/session': 'apart',
  'DELETE /api/session': 'apart',
  'PUT /api/own-account/password': 'apart',
  'POST /api/own-account/totp': 'apart',
  'POST /api/own-account/totp/confirm': 'apart',
  'POST /api/own-account/passkeys/begin': 'apart',
  'POST /api/own-account/passkeys': 'apart',
  'DELETE /api/own-account/factors/{id}': 'apart',
  'POST /api/own-account/recovery-codes': 'apart',
  'POST /api/session/challenge': 'apart',
  'POST /api/session/passkey': 'apart',
  'POST /api/session/step-up': 'apart',
  'POST /api/session/provider': 'apart',
  'POST /api/session/provider/step-up': 'apart',
  'POST /api/session/provider/sign-out': 'apart',
  'POST /api/sessions/end': 'apart',
  'DELETE /api/sessions/{id}': 'apart',
}

/** Operations for admins alone, who see every hall. Everyone else is refused, whatever the request names. */
const ofAdmins =
  /^\w+ \/api\/(devices(\/\{id\}.*)?|operators.*|accounts.*|webhooks.*|alerts?[/-].*|uploads.*)$|^(POST|PUT) \/api\/whms\/(warehouses|zones|slots|assets)(\/\{\w+\})?$|^(PUT|DELETE) \/api\/whms\/warehouses\/\{id\}\/floor-plan-image$|^POST \/api\/whms\/slots\/(import|batch)$/

/** Fields that differ between any two answers. */
const changing = new Set(
  `requestId id eventId seq timestamp received_at since createdAt updatedAt evidence_hash evidenceHash photo_taken_at at
   reportedAt requestedAt receivedAt nextAttemptAt location url`.split(/\s+/),
)

/** Returns an answer without the requested names and the changing fields. A refusal is compared without its numbers. */
function bare(answer: { status: number; text: string }, of: Hidden, at: string): string {
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) =>
        changing.has(key) || (key === 'slot_id' && typeof one === 'number') ? [] : [[key, without(one)]],
      ),
    )
  }
  const parsed = parsedOr(answer.text)
  const answered = typeof parsed === 'string' ? parsed : (JSON.stringify(without(parsed)) ?? '')
  const named = Object.values(of)
    .filter((one) => one.length > 3)
    .toSorted((x, y) => y.length - x.length)
    .reduce((rest, one) => rest.replaceAll(one, '«asked»').replaceAll(encodeURIComponent(one), '«asked»'), answered)
  const here = at === '' ? named : named.replaceAll(at, '«slot»')
  return answer.status < 400 ? here : here.replaceAll(/«asked»|\d+/g, '«n»')
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

t.test('what stands in a hidden hall is told by no answer, to nobody from whom it is hidden', async (t) => {
  const { gateway, hidden, device } = await twoHalls()
  t.teardown(() => gateway.end())
  const description = (await gateway.ask('GET', '/api/openapi', { by: people.ada })).body as Description
  const operations = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const callers = { ...outsiders(device), 'person of a provider': await personOfProvider(t, gateway) }
  // An answer may repeat text of the request, but no other text of the hidden hall.
  const secrets = await secretsOf(gateway, hidden)
  t.ok(secrets.length > 10, `${secrets.length} texts that only the hidden hall has`)

  for (const { method, path, operation } of operations.filter((one) => one.method === 'GET')) {
    for (const [who, headers] of Object.entries(callers)) {
      for (const [known, missing] of requestsOf(path, operation, hidden)) {
        const answer = await gateway.ask('GET', known, { headers })
        const other = await gateway.ask('GET', missing, { headers })
        const leaked = secrets.filter(
          (secret) => answer.text.includes(secret) && !decodeURIComponent(known).includes(secret),
        )
        t.strictSame(leaked, [], `${who}: ${method} ${known} tells nothing`)
        if (known === missing) continue
        t.equal(answer.status, other.status, `${who}: ${method} ${known} is answered like ${missing}`)
        t.equal(bare(answer, hidden, ''), bare(other, unknown, ''), `${who}: ${method} ${known} reads like ${missing}`)
      }
    }
  }
})

t.test('a request that refers to a hidden hall is answered like one that refers to nothing', async (t) => {
  const { gateway, hidden, device } = await twoHalls()
  t.teardown(() => gateway.end())
  const description = (await gateway.ask('GET', '/api/openapi', { by: people.ada })).body as Description
  const changes = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.keys(item).flatMap((method) => (method === 'get' ? [] : [`${method.toUpperCase()} ${path}`])),
  )
  const undecided = changes.filter((operation) => !(operation in acts) && !ofAdmins.test(operation))
  t.strictSame(undecided, [], 'somebody has decided what each change can refer to')
  let slot = 1
  const callers = { ...outsiders(device), 'person of a provider': await personOfProvider(t, gateway) }
  for (const [who, headers] of Object.entries(callers)) {
    for (const [operation, these] of Object.entries(acts)) {
      if (these === 'apart') continue
      const [method = '', template = ''] = operation.split(' ')
      for (const act of these) {
        const answers: { status: number; text: string }[] = []
        for (const named of [unknown, hidden]) {
          const at = `A-${String(1 + (slot++ % 40)).padStart(2, '0')}`
          const { path = {}, body } = act(named, at)
          const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
          const answer = await gateway.ask(method, filled, { headers, body })
          answers.push({ status: answer.status, text: bare(answer, named, at) })
          // The slot is as it was for the next one.
          const answered = parsedOr(answer.text) as { event_type?: string; asset_barcode?: string }
          if (answered.event_type === 'PLACED')
            await gateway.ask('POST', '/api/whms/events', {
              headers,
              body: { event_type: 'REMOVED', slot_code: at, asset_barcode: answered.asset_barcode },
            })
        }
        t.strictSame(answers[1], answers[0], `${who}: ${operation} ${JSON.stringify(act(hidden, 'A'))}`)
      }
    }
  }
})

/** Signs in a supervisor of an OpenID provider. */
async function personOfProvider(t: Test, gateway: Awaited<ReturnType<typeof twoHalls>>['gateway']) {
  const provider = await startProvider(t, { people: companyPeople(), siteUrl })
  const { config } = gateway.live
  const oidc = [{ ...provider.entry, groupsClaim: 'groups', groupRoles }] as never
  gateway.live.config = { ...config, auth: { ...config.auth, oidc } }
  return headersOfPerson({ provider, gateway }, 'u-3')
}

/** Returns texts that only the hidden hall has: its canary, and the values that the gateway made for it. */
async function secretsOf(gateway: Awaited<ReturnType<typeof twoHalls>>['gateway'], hidden: Hidden): Promise<string[]> {
  const by = people.ada
  const { data } = (await gateway.ask('GET', `/api/whms/events?warehouseId=${hidden.warehouse}`, { by })).body
  const made = (data as Record<string, string>[]).flatMap(({ eventId, evidence_hash, photo_sha256 }) => [
    eventId,
    evidence_hash,
    photo_sha256,
  ])
  const all = [canary, hidden.unit, hidden.photo, hidden.openingList, hidden.sscc, '417.25', ...made]
  return [...new Set(all.filter((one) => typeof one === 'string'))]
}

/** Returns pairs of the same request: for a hidden thing, and for a missing one. */
function requestsOf(path: string, operation: Operation, hidden: Hidden): [string, string][] {
  const kinds = [...path.matchAll(/(.*?)\{(\w+)\}/g)].map(([, before = '']) =>
    kindsIn(path.slice(0, path.indexOf(before)) + before),
  )
  const filled = (of: Hidden, kind: HiddenKind | undefined) =>
    path.replace(/\{(\w+)\}/g, () => encodeURIComponent(kind === undefined ? '1' : of[kind]))
  const paths: [string, string][] =
    kinds.length === 0
      ? [[path, path]]
      : [
          [filled(hidden, undefined), filled(hidden, undefined)],
          ...(kinds[0] ?? []).map((kind): [string, string] => [filled(hidden, kind), filled(unknown, kind)]),
        ]
  const queries = (operation.parameters ?? []).filter((p) => p.in === 'query')
  const asked = queries.flatMap(({ name }) => {
    if (!(name in byName)) throw new Error(`nobody has decided what the parameter ${name} of ${path} refers to`)
    return (byName[name] ?? []).map((kind): [string, string] => {
      const base = filled(hidden, undefined)
      const entity =
        name === 'entity_id'
          ? `entity=${{ event: 'event', photo: 'photo', unit: 'transport_unit' }[kind as 'event']}&`
          : ''
      return [
        `${base}?${entity}${name}=${encodeURIComponent(hidden[kind])}`,
        `${base}?${entity}${name}=${encodeURIComponent(unknown[kind])}`,
      ]
    })
  })
  const flags = queries.flatMap(({ name }): [string, string][] =>
    name === 'location'
      ? [[`${path}?location=true`, `${path}?location=true`]]
      : name === 'format'
        ? [[`${path}?format=csv`, `${path}?format=csv`]]
        : [],
  )
  return [...paths, ...asked, ...(kinds.length === 0 ? flags : [])]
}

function kindsIn(before: string): readonly HiddenKind[] {
  const found = inPath.find(([form]) => form.test(before))
  if (!found) throw new Error(`nobody has decided what the parameter behind ${before} refers to`)
  return found[1]
}
