import { hash, randomUUID } from 'node:crypto'

/** An event as a client sends it to a peer. */
export type Sent = {
  readonly event_type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slot_id: number
  readonly asset_barcode: string
  readonly photo_url?: string
  readonly scale_weight_kg?: number
  readonly scan?: Readonly<Record<string, string>>
}

export type Asked = {
  readonly sent: Sent
  readonly who: string
  readonly key: string | undefined
  readonly requestSha: string
  readonly requestId: string
  readonly address: string
}

export type Answer = { readonly status: number; readonly location: string; readonly body: string }

export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

/** The tables of both peers; `id` and `bytes` are the types that differ between the two databases. */
export function tablesSql(id: string): string {
  return `
CREATE TABLE slot (id INTEGER PRIMARY KEY, code TEXT NOT NULL, asset TEXT);
CREATE TABLE event (id ${id}, event_id TEXT NOT NULL UNIQUE, event_type TEXT NOT NULL, slot_id INTEGER NOT NULL REFERENCES slot (id),
  asset_key TEXT NOT NULL, operator TEXT NOT NULL, at_ms BIGINT NOT NULL, photo_sha256 TEXT, weight DOUBLE PRECISION, scan TEXT,
  warnings TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX event_slot ON event (slot_id, at_ms);
CREATE INDEX event_asset ON event (asset_key, at_ms);
CREATE INDEX event_time ON event (at_ms);
CREATE TABLE leaf (seq BIGINT PRIMARY KEY, bytes TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE head (one INTEGER PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE outbox (seq ${id}, event_id TEXT NOT NULL, type TEXT NOT NULL, at_ms BIGINT NOT NULL, body TEXT NOT NULL);
CREATE TABLE audit (id ${id}, at_ms BIGINT NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL, entity TEXT NOT NULL,
  request_id TEXT, address TEXT);
CREATE INDEX audit_entity ON audit (entity, at_ms);
CREATE TABLE reply (caller TEXT NOT NULL, key TEXT NOT NULL, request_sha256 TEXT NOT NULL, status INTEGER NOT NULL,
  location TEXT NOT NULL, body TEXT NOT NULL, at_ms BIGINT NOT NULL, PRIMARY KEY (caller, key));
INSERT INTO head VALUES (1, 0, '');`
}

const insert =
  (table: string, ...columns: string[]) =>
  (place: (n: number) => string) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, i) => place(i + 1)).join(', ')})`

/** The statements of an event by name, in words that both databases take; `place` writes the nth parameter. */
const statements = {
  reply: (p) => `SELECT request_sha256, status, location, body FROM reply WHERE caller = ${p(1)} AND key = ${p(2)}`,
  head: () => 'SELECT seq, hash FROM head WHERE one = 1',
  slot: (p) => `SELECT id, code, asset FROM slot WHERE id = ${p(1)}`,
  event: insert(
    ...(['event', 'id', 'event_id', 'event_type', 'slot_id', 'asset_key', 'operator', 'at_ms'] as const),
    ...(['photo_sha256', 'weight', 'scan', 'warnings', 'hash'] as const),
  ),
  leaf: insert('leaf', 'seq', 'bytes', 'hash'),
  moveHead: (p) => `UPDATE head SET seq = ${p(1)}, hash = ${p(2)} WHERE one = 1`,
  moveSlot: (p) => `UPDATE slot SET asset = ${p(1)} WHERE id = ${p(2)}`,
  outbox: insert('outbox', 'event_id', 'type', 'at_ms', 'body'),
  audit: insert('audit', 'at_ms', 'who', 'action', 'entity', 'request_id', 'address'),
  keep: insert('reply', 'caller', 'key', 'request_sha256', 'status', 'location', 'body', 'at_ms'),
} satisfies Record<string, (place: (n: number) => string) => string>

export type StatementName = keyof typeof statements

export const statementNames = Object.keys(statements) as StatementName[]

export const statementSql = (name: StatementName, place: (n: number) => string): string => statements[name](place)

export type Step = { readonly name: StatementName; readonly values: readonly Value[] }

/**
 * Records an event: a generator, so that both databases run the same statements in the same order. Each step is one statement, and
 * gets the row that it finds.
 */
export function* record(asked: Asked): Generator<Step, Answer, Row | undefined> {
  const { sent, who, key, requestSha, requestId, address } = asked
  const nowMs = Date.now()
  const kept = key === undefined ? undefined : yield { name: 'reply', values: [who, key] }
  if (kept) return { status: Number(kept['status']), location: String(kept['location']), body: String(kept['body']) }
  // The lock on the head serializes the events: a chain has one next leaf.
  const head = yield { name: 'head', values: [] }
  const slot = yield { name: 'slot', values: [sent.slot_id] }
  if (!head || !slot) return { status: 404, location: '', body: '{"success":false}' }
  const id = Number(head['seq']) + 1
  const stated = statedFacts(id, sent, slot, who, nowMs)
  const leaf = leafOf(stated, String(head['hash']))
  const body = answerOf({ ...stated, evidence_hash: leaf.hash }, sent)
  const text = JSON.stringify(body)
  const location = `/api/whms/events/${id}`
  const scan = sent.scan ? JSON.stringify(sent.scan) : null
  yield {
    name: 'event',
    values: [
      ...[id, stated.eventId, sent.event_type, sent.slot_id, stated.asset_key, who, nowMs],
      ...[stated.photo_sha256, stated.scale_weight_kg, scan, JSON.stringify(stated.warnings), leaf.hash],
    ],
  }
  yield { name: 'leaf', values: [id, leaf.bytes, leaf.hash] }
  yield { name: 'moveHead', values: [id, leaf.hash] }
  if (sent.event_type === 'PLACED') yield { name: 'moveSlot', values: [sent.asset_barcode, sent.slot_id] }
  if (sent.event_type === 'REMOVED') yield { name: 'moveSlot', values: [null, sent.slot_id] }
  yield { name: 'outbox', values: [stated.eventId, 'whms.placement', nowMs, envelopeOf(stated.eventId, body)] }
  yield { name: 'audit', values: [nowMs, who, 'placement.recorded', `event ${id}`, requestId, address] }
  if (key !== undefined) yield { name: 'keep', values: [who, key, requestSha, 201, location, text, nowMs] }
  return { status: 201, location, body: text }
}

/** The fields of gatehouse's answer that a leaf states. */
function statedFacts(id: number, sent: Sent, slot: Row, who: string, nowMs: number) {
  const at = new Date(nowMs).toISOString()
  const photoSha = sent.photo_url?.split('/').at(-1) ?? null
  const isOccupied = slot['asset'] !== null
  const warnings = sent.event_type === 'PLACED' && isOccupied ? ['SLOT_OCCUPIED'] : []
  return {
    ...{
      id,
      eventId: randomUUID(),
      seq: id,
      event_type: sent.event_type,
      slot_id: sent.slot_id,
      slot_code: slot['code'],
    },
    ...{ asset_barcode: sent.asset_barcode, asset_key: sent.asset_barcode, operator: who, actor: who, timestamp: at },
    ...{ device_timestamp: null, received_at: at, clock_offset_ms: null, time_quality: 'synced' },
    ...{ photo_url: sent.photo_url ?? null, photo_sha256: photoSha, photoEvidence: photoSha ? 'held' : null },
    ...{ photo_taken_at: null, scale_weight_kg: sent.scale_weight_kg ?? null, client_evidence_hash: null },
    ...{ cctv_clip_url: null, work_order_ref: null, verification_notes: null, scan: sent.scan ?? null },
    ...{ scanEvidence: sent.scan ? 'matched' : null, client_event_id: null, corrects_event_id: null, warnings },
    ...{ opening: null, count: null },
  }
}

function answerOf(facts: object, { event_type, slot_id, asset_barcode }: Sent): object {
  const isOccupied = event_type === 'PLACED'
  const assetBarcode = isOccupied ? asset_barcode : null
  const slot = { id: slot_id, isOccupied, assetBarcode, isVerified: false, isDisputed: false }
  const evidence = { state: 'recorded', checkpointSize: null, signedAt: null, witnesses: [], timestampedAt: null }
  return { success: true, ...facts, effect: 'applied', slot, evidence }
}

/** The leaf: JSON in the order of names, and a hash that covers the hash before it. */
function leafOf(stated: Readonly<Record<string, unknown>>, before: string): { bytes: string; hash: string } {
  const names = Object.keys(stated).filter((name) => stated[name] !== null)
  const bytes = JSON.stringify(Object.fromEntries(names.toSorted().map((name) => [name, stated[name]])))
  return { bytes, hash: hash('sha256', before + bytes, 'hex') }
}

function envelopeOf(id: string, data: object): string {
  const metadata = { warehouseId: 1, siteId: 'bench', version: '1.0' }
  return JSON.stringify({ id, type: 'whms.placement', timestamp: new Date().toISOString(), data, metadata })
}
