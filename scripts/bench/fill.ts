import { executor } from '../../src/database/index.ts'
import { type AuditEntryRow, entryHash } from '../../src/journal/index.ts'
import type { PlacementEventRow } from '../../src/ledger/index.ts'
import { placementFacts } from '../../src/ledger/index.ts'
import { append, linkPeople } from '../../src/ledger/store.ts'
import { type openRooms, origin } from './rooms.ts'

export type FilledEvent = Pick<
  PlacementEventRow,
  'event_type' | 'slot_id' | 'asset_key' | 'timestamp_ms' | 'received_at_ms'
> & {
  readonly slotCode: string
}

const rowsAtOnce = 20_000

/**
 * Appends `count` events from `next` without deciding anything. Each has a leaf, a row and an audit entry, made by the
 * usual functions from `sample`, a recorded row. The indexes and the guards that need them are dropped first, and made
 * again at the end with the same SQL. So ten million events take minutes, not half an hour.
 */
export function fill(
  rooms: ReturnType<typeof openRooms>,
  sample: PlacementEventRow,
  count: number,
  next: () => FilledEvent,
): void {
  const { db, log, people, head, makeId } = rooms
  const tx = executor(db)
  const person = people.ofCaller(tx, origin.caller)
  const helpers = db
    .prepare<[], { type: 'index' | 'trigger'; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_master WHERE tbl_name IN ('placement_event', 'placement_person', 'audit_entry', 'audit_person', 'audit_hash')
       AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type`,
    )
    .all()
  for (const { type, name } of helpers) db.exec(`DROP ${type} ${name}`)
  const lastEntry = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM audit_entry').pluck().get() ?? 0
  const tell = db.prepare(
    `INSERT INTO audit_entry (id, timestamp_ms, operator_commitment, actor_commitment, action, entity, entity_id, changes,
       request_id, address, auth_mode, log_id)
     VALUES (@id, @timestamp_ms, @operator_commitment, @actor_commitment, @action, @entity, @entity_id, @changes,
       @request_id, @address, @auth_mode, @log_id)`,
  )
  const hashEntry = db.prepare('INSERT INTO audit_hash (entry_id, hash) VALUES (?, ?)')
  const linkEntry = db.prepare('INSERT INTO audit_person (entry_id, timestamp_ms, actor_id) VALUES (?, ?, ?)')
  for (let done = 0; done < count; ) {
    db.exec('BEGIN')
    for (const end = Math.min(count, done + rowsAtOnce); done < end; done += 1) {
      const { slotCode, ...said } = next()
      const isPlaced = said.event_type === 'PLACED'
      const place = log.next()
      const row = {
        ...sample,
        ...said,
        id: head.nextId,
        event_id: makeId(),
        operator_commitment: person.inLeaf(place, 'operator'),
        actor_commitment: person.inLeaf(place, 'actor'),
        slot_code: slotCode,
        asset_barcode: said.asset_key,
        photo_url: isPlaced ? sample.photo_url : null,
        photo_sha256: isPlaced ? sample.photo_sha256 : null,
        photo_evidence: isPlaced ? sample.photo_evidence : null,
      }
      const leaf = log.append(tx, 'placement', String(row.id), placementFacts(row))
      append(tx, { ...row, ...leaf })
      linkPeople(tx, row, { operator: person, actor: person })
      head.advance(row.id, row.received_at_ms)
      const entryId = lastEntry + done + 1
      const entry: AuditEntryRow = {
        id: entryId,
        timestamp_ms: row.received_at_ms,
        operator_commitment: null,
        actor_commitment: people.commitment(person, { subject: 'audit', row: entryId, field: 'actor' }),
        action: isPlaced ? 'placement.recorded' : 'removal.recorded',
        entity: 'event',
        entity_id: String(row.id),
        changes: null,
        request_id: origin.requestId,
        address: origin.address,
        auth_mode: 'local',
        log_id: people.logNumber,
      }
      tell.run(entry)
      hashEntry.run(entryId, entryHash(entry))
      linkEntry.run(entryId, row.received_at_ms, person.id)
    }
    db.exec('COMMIT')
  }
  for (const { sql } of helpers) db.exec(sql)
}
