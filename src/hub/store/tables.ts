/**
 * The tables of the head office, which live in PostgreSQL. A test holds them against a migrated database. Every column is named
 * with its type, and a `?` where it may be null. The driver returns `bigint` as text and `timestamptz` as Date.
 */
export const tables = {
  site: { site_id: 'text', name: 'text', timezone: 'text' },
  /**
   * `ends_at`: its history goes on at `superseded_by` behind this leaf; 0 when none of it counts any more. Null: it has no end.
   * `retired_at`: since then its site has another box or is closed. Its history stays, it takes no feeds, and nothing is in its slots.
   */
  log: {
    log_id: 'uuid',
    site_id: 'text',
    origin: 'text',
    vkeys: 'text[]',
    superseded_by: 'uuid?',
    ends_at: 'bigint?',
    enrolled_at: 'timestamptz',
    retired_at: 'timestamptz?',
  },
  /** Codes that `gatehouse hub enrol` made. The secret is stored as its hash only. */
  enrolment: {
    code_hash: 'bytea',
    site_id: 'text',
    name: 'text',
    made_at: 'timestamptz',
    expires_at: 'timestamptz',
    used_at: 'timestamptz?',
  },
  /** Tokens with which gateways sign in. A token is stored as its hash only. */
  gateway_token: { token_hash: 'bytea', site_id: 'text', made_at: 'timestamptz', revoked_at: 'timestamptz?' },
  /**
   * Sign-ins of browsers. The cookie's token is stored as its hash only.
   * - account_mark: SHA-256 of the account's secretHash at sign-in, so that a new secret ends the session.
   * - sealed: the credential of a user of a storage server, under a key from the token, which only the browser has. Null for
   *   accounts of the config.
   */
  page_session: {
    token_hash: 'bytea',
    instance: 'text',
    username: 'text',
    sealed: 'bytea?',
    account_mark: 'bytea',
    made_at: 'timestamptz',
    expires_at: 'timestamptz',
    ended_at: 'timestamptz?',
  },
  /**
   * Users of the storage servers who have signed in, with the groups that their server last named. `credentials`: HMACs of the secrets
   * that were right, how, and when: [{"id", "asBearer", "verifiedAtMs"}].
   */
  storage_caller: {
    instance: 'text',
    username: 'text',
    groups: 'text[]',
    credentials: 'jsonb',
    updated_at: 'timestamptz',
  },
  /** Passwords that still count against a server's lock-out: [{"id", "atMs", "network", "login"}]; the login is a mark, never the name. */
  storage_tries: { instance: 'text', tries: 'jsonb', updated_at: 'timestamptz' },
  /** Stages in which a version is offered to gateways. `sites`: those that the stage added; null: all the rest. Null in `ended_at`: open. */
  upgrade_offer: {
    version: 'text',
    stage: 'smallint',
    sites: 'text[]?',
    offered_at: 'timestamptz',
    offered_by: 'text',
    ended_at: 'timestamptz?',
  },
  /**
   * The row that a feed locks.
   * - frontier: peaks of the tree over the stored leaves.
   * - witnessed_*: the checkpoint that was cosigned last, with the cosignature and its time.
   * - vkeys: the keys that the newest log-key leaf names; null while those of the enrolment sign.
   * - named_to: leaves whose names have come.
   * - config_before: hashes of the config's sections before the last change of the gateway's config.
   */
  log_head: {
    log_id: 'uuid',
    size: 'bigint',
    frontier: 'bytea',
    witnessed_size: 'bigint',
    witnessed_root: 'bytea?',
    witnessed_note: 'text?',
    witnessed_cosignature: 'text?',
    witnessed_at: 'timestamptz?',
    state: 'text',
    vkeys: 'text[]?',
    fed_at: 'timestamptz?',
    named_to: 'bigint',
    status: 'jsonb',
    config_before: 'jsonb?',
    config_changed_at: 'timestamptz?',
  },
  /** Checkpoints that are kept for ever (`feed/checkpoints.ts`); the newest of a log is in its head. `seen_at`: when it came. */
  checkpoint: {
    log_id: 'uuid',
    size: 'bigint',
    root: 'bytea',
    note: 'text',
    cosignature: 'text?',
    seen_at: 'timestamptz',
  },
  /** Leaves n·256 + 1 to n·256 + `width`: zstd of the entry bundle of c2sp.org/tlog-tiles. */
  entry_bundle: { log_id: 'uuid', n: 'bigint', width: 'smallint', packed: 'bytea', root: 'bytea?' },
  placement: {
    log_id: 'uuid',
    seq: 'bigint',
    at: 'timestamptz',
    slot_id: 'integer',
    slot_code: 'text',
    event_type: '"char"',
    asset_key: 'text',
  },
  slot_state: {
    log_id: 'uuid',
    slot_id: 'integer',
    slot_code: 'text',
    at: 'timestamptz',
    seq: 'bigint',
    event_type: '"char"',
    asset_key: 'text',
  },
  /** The newest PLACED of each asset, with which its stay begins; of one that was placed nowhere the newest REMOVED. */
  asset_position: {
    log_id: 'uuid',
    asset_key: 'text',
    at: 'timestamptz',
    seq: 'bigint',
    event_type: '"char"',
    slot_id: 'integer',
    slot_code: 'text',
  },
  judgement: {
    log_id: 'uuid',
    slot_id: 'integer',
    asset_key: 'text',
    at: 'timestamptz',
    seq: 'bigint',
    verdict: '"char"',
  },
  /** From the snapshots of gateways: no leaf states what is printed on an asset. */
  asset: {
    log_id: 'uuid',
    asset_key: 'text',
    sscc: 'text?',
    gtin: 'text?',
    lot: 'text?',
    best_before: 'date?',
    serial: 'text?',
    version: 'bigint',
  },
  /** From the snapshots of gateways: leaves name only slots where something happened. */
  slot: {
    log_id: 'uuid',
    slot_id: 'integer',
    slot_code: 'text',
    zone: 'text?',
    warehouse: 'text?',
    is_retired: 'boolean',
    version: 'bigint',
  },
  /** The newest step of each transport unit, as its leaf states it. */
  unit_state: {
    log_id: 'uuid',
    unit_id: 'text',
    at: 'timestamptz',
    seq: 'bigint',
    status: 'text',
    stage: 'text',
    direction: 'text?',
    sscc: 'text?',
    reference: 'text?',
  },
  /**
   * Names behind commitments. The gateway's number of the person is `person_id`. With `erased_at` the name was erased. It never
   * comes back, and no row says any more whose it was.
   */
  opening: {
    log_id: 'uuid',
    commitment: 'bytea',
    kind: 'text',
    salt: 'bytea?',
    value: 'text?',
    person_id: 'bigint?',
    erased_at: 'timestamptz?',
  },
  /** Numbers of people who were erased at the gateway: names of theirs that come later are not stored. */
  erased_person: { log_id: 'uuid', person_id: 'bigint', erased_at: 'timestamptz' },
  alert: {
    log_id: 'uuid',
    alert_id: 'text',
    source: 'text',
    type: 'text',
    severity: 'text',
    opened_at: 'timestamptz',
    closed_at: 'timestamptz?',
    closed_by: 'text?',
    acknowledged_at: 'timestamptz?',
    detail: 'jsonb',
  },
  /** Both sides of a contradiction: the stored one, and the one that a gateway sent. */
  fork_evidence: {
    log_id: 'uuid',
    place: 'bigint',
    sent_hash: 'bytea',
    kind: 'text',
    known: 'bytea?',
    known_note: 'text?',
    sent: 'bytea?',
    sent_note: 'text',
    seen_at: 'timestamptz',
  },
} as const

export type TableName = keyof typeof tables

/** Tables that belong to no log. On Citus each worker has a whole copy of them. */
export const referenceTables: readonly TableName[] = [
  'site',
  'log',
  'enrolment',
  'gateway_token',
  'page_session',
  'storage_caller',
  'storage_tries',
  'upgrade_offer',
]

/** Tables of which each row belongs to a log. On Citus all rows of a log are on one worker. */
export const logTables: readonly TableName[] = [
  'log_head',
  ...(Object.keys(tables) as TableName[]).filter((name) => name !== 'log_head' && !referenceTables.includes(name)),
]

type Right = 'SELECT' | 'INSERT' | 'UPDATE'

/** Rights of the daemon. No row is ever deleted, and the facts of a leaf are never changed. */
export const rightsOfApp: Record<TableName, readonly Right[]> = {
  site: ['SELECT', 'INSERT', 'UPDATE'],
  log: ['SELECT', 'INSERT', 'UPDATE'],
  enrolment: ['SELECT', 'INSERT', 'UPDATE'],
  gateway_token: ['SELECT', 'INSERT', 'UPDATE'],
  page_session: ['SELECT', 'INSERT', 'UPDATE'],
  storage_caller: ['SELECT', 'INSERT', 'UPDATE'],
  storage_tries: ['SELECT', 'INSERT', 'UPDATE'],
  upgrade_offer: ['SELECT', 'INSERT', 'UPDATE'],
  log_head: ['SELECT', 'INSERT', 'UPDATE'],
  checkpoint: ['SELECT', 'INSERT'],
  // A bundle that is not full grows with its log.
  entry_bundle: ['SELECT', 'INSERT', 'UPDATE'],
  placement: ['SELECT', 'INSERT'],
  slot_state: ['SELECT', 'INSERT', 'UPDATE'],
  asset_position: ['SELECT', 'INSERT', 'UPDATE'],
  judgement: ['SELECT', 'INSERT', 'UPDATE'],
  asset: ['SELECT', 'INSERT', 'UPDATE'],
  slot: ['SELECT', 'INSERT', 'UPDATE'],
  unit_state: ['SELECT', 'INSERT', 'UPDATE'],
  opening: ['SELECT', 'INSERT', 'UPDATE'],
  erased_person: ['SELECT', 'INSERT'],
  alert: ['SELECT', 'INSERT', 'UPDATE'],
  fork_evidence: ['SELECT', 'INSERT'],
}

/** Tables that read-only people may see: everything but secrets and names. */
export const readableTables: readonly TableName[] = (Object.keys(tables) as TableName[]).filter(
  (name) =>
    !['opening', 'erased_person', 'enrolment', 'gateway_token', 'page_session'].includes(name) &&
    !name.startsWith('storage_'),
)
