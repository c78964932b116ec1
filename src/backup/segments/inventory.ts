/**
 * Way of each table into segments.
 * - `leaves`: the logs themselves; they travel as entry bundles.
 * - `grows`: rows are added, each with a larger `by` than those before, so only new rows travel. Only an erasure changes earlier
 *   rows, and it begins a new series.
 * - `changes`: rows of any age may change. Rows are compared in chunks, and a chunk that differs travels whole. The SQL expression
 *   `chunk` gives the chunk of a row. Rows outside `where` need not come back. With `quiet` a change is no reason for a segment.
 * - `leftOut`: the table does not travel; `why` says how a restored box does without.
 */
export type Kept =
  | { readonly how: 'leaves' }
  | { readonly how: 'grows'; readonly by: string }
  | { readonly how: 'changes'; readonly chunk: string; readonly where?: string; readonly quiet?: true }
  | { readonly how: 'leftOut'; readonly why: string }

const grows = (by: string): Kept => ({ how: 'grows', by })
const changes = (chunk: string, more: { where?: string; quiet?: true } = {}): Kept => ({
  how: 'changes',
  chunk,
  ...more,
})
const leftOut = (why: string): Kept => ({ how: 'leftOut', why })

/** 512 rows by their number. */
const by = (column: string) => `${column} / 512`
/** All rows at once: a small table. */
const whole = '0'

/** Tables whose change means an erasure: earlier rows may have changed too. */
export const erasedTables: ReadonlySet<string> = new Set(['erased_person', 'erased_identity'])

/**
 * Every table of the schema. The order is that in which rows come back: a guard may look at tables above. A test compares the
 * names with the schema.
 */
export const inventory: Readonly<Record<string, Kept>> = {
  schema_migration: leftOut('the restore makes the schema itself'),
  caller_key: changes(whole),
  log_identity: { how: 'leaves' },
  log_leaf: { how: 'leaves' },
  log_tile: leftOut('computed from the leaves'),
  log_checkpoint: grows('row'),
  log_cosignature: grows('row'),
  log_timestamp: grows('row'),
  log_key: grows('id'),
  person: changes(by('id')),
  erased_person: changes(whole),
  erased_identity: changes(whole),
  opening: grows('rowid'),
  person_link: changes(`subject || '/' || row / 512`),
  warehouse: changes(whole),
  plan_image: changes('warehouse_id'),
  plan_image_file: changes('warehouse_id'),
  zone: changes(whole),
  slot: changes(by('id')),
  asset: changes(by('id')),
  asset_key_alias: changes(whole),
  barcode_to_read: changes(whole),
  media: grows('id'),
  media_removed: grows('id'),
  media_unlink: changes(whole),
  media_return: changes(whole),
  media_hold: changes('created_at_ms / 3600000'),
  photo_facts: changes('substr(sha256, 1, 2)'),
  photo_bringer: changes('substr(sha256, 1, 2)'),
  opening_list: grows('id'),
  count_session: changes(by('id')),
  count_slot: changes('count_id'),
  count_scan: grows('id'),
  count_recount: grows('id'),
  placement_event: grows('id'),
  dispute_resolution: grows('id'),
  placement_person: grows('event_id'),
  client_event: grows('event_id'),
  count_outcome: grows('id'),
  scale_reading: grows('id'),
  unit_history: grows('row'),
  unit_client_event: grows('row'),
  unit_photo: changes('substr(sha256, 1, 1)'),
  detection_id: changes(whole),
  detection_reservation: changes(by('id')),
  detection_event: grows('row'),
  event_film: changes(by('id')),
  event_film_event: changes('film_id / 512'),
  clip_file: changes(by('detection_id')),
  clip_redaction: grows('id'),
  clip_redaction_end: grows('id'),
  clip_export: grows('id'),
  clip_export_decision: grows('id'),
  motion_control: changes(whole),
  camera_gap: grows('id'),
  camera_watch: changes(whole),
  camera_heartbeat: changes(whole, { quiet: true }),
  camera_clock: grows('id'),
  incident_change: grows('id'),
  report: grows('id'),
  report_person: grows('report_id'),
  audit_entry: grows('id'),
  audit_hash: leftOut('computed from the entries'),
  audit_digest: grows('id'),
  audit_person: grows('entry_id'),
  account_seen: changes(whole),
  local_account: changes(whole),
  local_account_state: changes(whole),
  second_factor: changes(whole),
  recovery_code: changes(whole),
  device: changes(whole),
  badge_operator: changes(whole),
  sscc_series: changes(whole),
  clock_state: grows('id'),
  clock_step: grows('id'),
  clock_mark: changes(whole, { quiet: true }),
  expiry_mark: changes(whole, { quiet: true }),
  webhook: changes(whole),
  webhook_choice: changes(whole),
  webhook_slowed: changes(whole),
  webhook_checkpoint: changes('from_seq / 512'),
  webhook_retired_secret: changes(whole),
  outbox: grows('seq'),
  delivery: changes('rowid / 512', { where: `state = 'pending'` }),
  delivery_attempt: leftOut('a protocol of attempts; what is still to be delivered travels'),
  alert: changes(by('id')),
  alert_end: changes('alert_id / 512'),
  alert_channel: changes(whole, { quiet: true }),
  alert_notice: changes('alert_id / 512', { quiet: true }),
  alert_message: changes(by('id'), { where: `state = 'pending'`, quiet: true }),
  push_subscription: changes(whole),
  alert_silence: changes(by('id')),
  upload: changes(by('id'), { where: `kind NOT IN ('segment', 'snapshot', 'backup')` }),
  upload_open_clip: changes(whole, { quiet: true }),
  upload_source: changes(whole),
  upload_check: changes(by('upload_id'), { quiet: true }),
  upload_folder: changes(whole),
  witness_log: changes(whole),
  witness_conflict: grows('row'),
  console_session: leftOut('people sign in again'),
  console_session_secret: leftOut('people sign in again'),
  console_session_facts: leftOut('people sign in again'),
  shift_session: leftOut('people sign in again with their badge'),
  known_caller: leftOut('the storage server is asked again'),
  known_credential: leftOut('the storage server is asked again'),
  storage_try: leftOut('counts wrong passwords of the last half hour'),
  idempotency: leftOut('replies of the last seven days; a repeat is still recognized by its client_event_id'),
  print_job: leftOut('labels that were queued or printed lately; they are printed again on request'),
  health_trouble: leftOut('troubles are found anew'),
  // Numbers that were given out are not given out again.
  sqlite_sequence: changes(whole),
}
