import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { logTables, referenceTables } from './tables.ts'

export type Engine = 'postgresql' | 'citus'

/** Shards over which a Citus cluster spreads the logs; more than it will have workers. */
const shards = 32

const newTables = [
  `CREATE TABLE site (site_id text PRIMARY KEY, name text NOT NULL, timezone text NOT NULL DEFAULT 'UTC')`,
  `CREATE TABLE log (log_id uuid PRIMARY KEY, site_id text NOT NULL, origin text NOT NULL UNIQUE, vkeys text[] NOT NULL,
    superseded_by uuid, ends_at bigint, enrolled_at timestamptz NOT NULL)`,
  `CREATE TABLE enrolment (code_hash bytea PRIMARY KEY, site_id text NOT NULL, name text NOT NULL, made_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL, used_at timestamptz)`,
  `CREATE TABLE gateway_token (token_hash bytea PRIMARY KEY, site_id text NOT NULL, made_at timestamptz NOT NULL,
    revoked_at timestamptz)`,
  `CREATE TABLE page_session (token_hash bytea PRIMARY KEY, instance text NOT NULL, username text NOT NULL, sealed bytea,
    account_mark bytea NOT NULL, made_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, ended_at timestamptz)`,
  `CREATE TABLE storage_caller (instance text NOT NULL, username text NOT NULL, groups text[] NOT NULL,
    credentials jsonb NOT NULL, updated_at timestamptz NOT NULL, PRIMARY KEY (instance, username))`,
  `CREATE TABLE storage_tries (instance text PRIMARY KEY, tries jsonb NOT NULL, updated_at timestamptz NOT NULL)`,
  `CREATE TABLE upgrade_offer (version text NOT NULL, stage smallint NOT NULL CHECK (stage BETWEEN 1 AND 3), sites text[],
    offered_at timestamptz NOT NULL, offered_by text NOT NULL, ended_at timestamptz, PRIMARY KEY (version, stage))`,
  `CREATE TABLE log_head (log_id uuid PRIMARY KEY, size bigint NOT NULL DEFAULT 0, frontier bytea NOT NULL DEFAULT '',
    witnessed_size bigint NOT NULL DEFAULT 0, witnessed_root bytea, witnessed_note text, witnessed_cosignature text,
    witnessed_at timestamptz,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'forked', 'retired')), vkeys text[],
    fed_at timestamptz, named_to bigint NOT NULL DEFAULT 0,
    status jsonb NOT NULL DEFAULT '{}', config_before jsonb, config_changed_at timestamptz) WITH (fillfactor = 50)`,
  // Those that the newest, which is in the head, does not make up for.
  `CREATE TABLE checkpoint (log_id uuid NOT NULL, size bigint NOT NULL, root bytea NOT NULL, note text NOT NULL,
    cosignature text, seen_at timestamptz NOT NULL, PRIMARY KEY (log_id, size))`,
  `CREATE TABLE entry_bundle (log_id uuid NOT NULL, n bigint NOT NULL,
    width smallint NOT NULL CHECK (width BETWEEN 1 AND 256), packed bytea NOT NULL, root bytea, PRIMARY KEY (log_id, n))`,
  // It is compressed already.
  `ALTER TABLE entry_bundle ALTER COLUMN packed SET STORAGE EXTERNAL`,
  // The key is the index by which the floor of a time is read; (log_id, seq) would be one more, and the locked head sees to it already.
  `CREATE TABLE placement (log_id uuid NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL,
    slot_id integer NOT NULL, slot_code text NOT NULL, event_type "char" NOT NULL, asset_key text COLLATE "C" NOT NULL,
    PRIMARY KEY (log_id, slot_id, at, seq))`,
  // On the asset alone: events of one asset share an entry, which times would keep apart, at twice the size.
  `CREATE INDEX placement_asset ON placement (asset_key)`,
  `CREATE TABLE slot_state (log_id uuid NOT NULL, slot_id integer NOT NULL, slot_code text NOT NULL, at timestamptz NOT NULL,
    seq bigint NOT NULL, event_type "char" NOT NULL, asset_key text COLLATE "C" NOT NULL, PRIMARY KEY (log_id, slot_id))
    WITH (fillfactor = 80)`,
  `CREATE TABLE asset_position (log_id uuid NOT NULL, asset_key text COLLATE "C" NOT NULL, at timestamptz NOT NULL,
    seq bigint NOT NULL, event_type "char" NOT NULL, slot_id integer NOT NULL, slot_code text NOT NULL,
    PRIMARY KEY (asset_key, log_id)) WITH (fillfactor = 80)`,
  `CREATE TABLE judgement (log_id uuid NOT NULL, slot_id integer NOT NULL, asset_key text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL, seq bigint NOT NULL, verdict "char" NOT NULL, PRIMARY KEY (log_id, slot_id, asset_key))
    WITH (fillfactor = 80)`,
  `CREATE TABLE asset (log_id uuid NOT NULL, asset_key text COLLATE "C" NOT NULL, sscc text, gtin text, lot text,
    best_before date, serial text, version bigint NOT NULL, PRIMARY KEY (log_id, asset_key))`,
  `CREATE INDEX asset_recall ON asset (gtin, lot)`,
  `CREATE TABLE slot (log_id uuid NOT NULL, slot_id integer NOT NULL, slot_code text NOT NULL, zone text, warehouse text,
    is_retired boolean NOT NULL, version bigint NOT NULL, PRIMARY KEY (log_id, slot_id)) WITH (fillfactor = 80)`,
  `CREATE TABLE unit_state (log_id uuid NOT NULL, unit_id text COLLATE "C" NOT NULL, at timestamptz NOT NULL, seq bigint NOT NULL,
    status text NOT NULL, stage text NOT NULL, direction text, sscc text COLLATE "C", reference text,
    PRIMARY KEY (log_id, unit_id)) WITH (fillfactor = 80)`,
  `CREATE INDEX unit_state_sscc ON unit_state (sscc)`,
  `CREATE TABLE opening (log_id uuid NOT NULL, commitment bytea NOT NULL, kind text NOT NULL, salt bytea, value text,
    person_id bigint, erased_at timestamptz, PRIMARY KEY (log_id, commitment),
    CHECK ((erased_at IS NULL) = (value IS NOT NULL AND salt IS NOT NULL)))`,
  `CREATE INDEX opening_person ON opening (log_id, person_id) WHERE person_id IS NOT NULL`,
  `CREATE TABLE erased_person (log_id uuid NOT NULL, person_id bigint NOT NULL, erased_at timestamptz NOT NULL,
    PRIMARY KEY (log_id, person_id))`,
  `CREATE TABLE alert (log_id uuid NOT NULL, alert_id text NOT NULL, source text NOT NULL, type text NOT NULL,
    severity text NOT NULL, opened_at timestamptz NOT NULL, closed_at timestamptz, closed_by text, acknowledged_at timestamptz,
    detail jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (log_id, alert_id))`,
  `CREATE TABLE fork_evidence (log_id uuid NOT NULL, place bigint NOT NULL, sent_hash bytea NOT NULL, kind text NOT NULL,
    known bytea, known_note text, sent bytea, sent_note text NOT NULL, seen_at timestamptz NOT NULL,
    PRIMARY KEY (log_id, place, sent_hash))`,
]

/** An index that came later, on a table that may have many rows by then. `on`: what follows ON. */
export type LateIndex = { readonly name: string; readonly on: string }

/** Returns the statement that makes an index while feeds go on. It cannot run in a transaction. */
export const makeLate = ({ name, on }: LateIndex): string => `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${on}`

/** Indexes by the migration that notes them. They are made before it, so that what is noted is there. */
export const lateIndexes: Readonly<Record<string, LateIndex>> = {
  // People scan what is printed on a pallet, which a site may know by another barcode.
  '0004-printed-ssccs': { name: 'asset_sscc', on: 'asset (sscc) WHERE sscc IS NOT NULL' },
  // A person who recalls a lot often does not know the item.
  '0006-lots-of-any-item': { name: 'asset_lot', on: 'asset (lot) WHERE lot IS NOT NULL' },
}

const retiredLogs = ['ALTER TABLE log ADD COLUMN retired_at timestamptz']

/** The register of positions had the REMOVED of an asset that was taken out. Its stay begins with its newest PLACED. */
const placedPositions = [
  // A feed that has some of its rows ends first. The others wait, and nothing is undone.
  'LOCK TABLE asset_position IN SHARE ROW EXCLUSIVE MODE',
  `UPDATE asset_position a SET at = p.at, seq = p.seq, event_type = 'P', slot_id = p.slot_id, slot_code = p.slot_code
   FROM (SELECT DISTINCT ON (e.log_id, e.asset_key) e.log_id, e.asset_key, e.at, e.seq, e.slot_id, e.slot_code
     FROM placement e JOIN log l ON l.log_id = e.log_id WHERE e.event_type = 'P' AND (l.ends_at IS NULL OR e.seq <= l.ends_at)
     ORDER BY e.log_id, e.asset_key, e.at DESC, e.seq DESC) p
   WHERE a.log_id = p.log_id AND a.asset_key = p.asset_key AND a.event_type = 'R'`,
]

/** For a transaction that touches reference tables and shards: over one connection a worker. PostgreSQL takes it for a placeholder. */
export const sequential = `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`

/** Distribution over a Citus cluster: everything that belongs to a log is on one worker. */
const distribution = [
  sequential,
  ...referenceTables.map((table) => `SELECT create_reference_table('${table}')`),
  `SELECT create_distributed_table('log_head', 'log_id', shard_count => ${shards})`,
  ...logTables
    .filter((table) => table !== 'log_head')
    .map((table) => `SELECT create_distributed_table('${table}', 'log_id', colocate_with => 'log_head')`),
]

/** Citus refuses to distribute a table that has one of these, so they come last. */
const foreignKeys = [
  { table: 'log', name: 'log_of_site', to: 'FOREIGN KEY (site_id) REFERENCES site' },
  { table: 'gateway_token', name: 'token_of_site', to: 'FOREIGN KEY (site_id) REFERENCES site' },
  { table: 'log_head', name: 'head_of_log', to: 'FOREIGN KEY (log_id) REFERENCES log' },
  { table: 'checkpoint', name: 'checkpoint_of_log', to: 'FOREIGN KEY (log_id) REFERENCES log_head' },
] as const

const addKeys = foreignKeys.map(({ table, name, to }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${to}`)
const dropKeys = foreignKeys.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`)

/**
 * Statements that turn the tables of a PostgreSQL into those of a Citus cluster, in one transaction. It takes every table first: a feed may have
 * one and wait for another, and then nothing that took long is undone.
 */
export const growth: readonly string[] = [
  `LOCK TABLE ${[...referenceTables, ...logTables].join(', ')} IN ACCESS EXCLUSIVE MODE`,
  ...dropKeys,
  ...distribution,
  ...addKeys,
]

/** Returns the migrations in order. Each one is complete or not there. */
export function migrationsFor(engine: Engine): Record<string, Migration> {
  return {
    '0001-tables': { up: (db) => runAll(db, newTables) },
    '0002-distribution': { up: (db) => runAll(db, engine === 'citus' ? distribution : []) },
    '0003-foreign-keys': { up: (db) => runAll(db, addKeys) },
    '0004-printed-ssccs': { up: (db) => runAll(db, []) },
    '0005-retired-logs': { up: (db) => runAll(db, retiredLogs) },
    '0006-lots-of-any-item': { up: (db) => runAll(db, []) },
    '0007-placed-positions': { up: (db) => runAll(db, [sequential, ...placedPositions]) },
  }
}

/** Every statement by which the schema is made, for the test that holds them against what Citus refuses. */
export const schemaStatements: readonly string[] = [
  ...newTables,
  ...distribution,
  ...addKeys,
  ...retiredLogs,
  ...placedPositions,
  ...Object.values(lateIndexes).map(makeLate),
]

async function runAll(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
