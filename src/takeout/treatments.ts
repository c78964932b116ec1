/**
 * Way of a table into the export.
 * - `rows`: all of its rows, without the columns in `withheld`. BLOB columns in `texts` hold UTF-8; others become base64.
 *   `people` is the table beside it that ties its rows to people.
 * - `leftOut`: none; `why` is for the reader of the export.
 */
export type Treatment =
  | {
      readonly how: 'rows'
      readonly withheld: readonly string[]
      readonly texts: readonly string[]
      readonly people: string | undefined
    }
  | { readonly how: 'leftOut'; readonly why: string }

type RowsOptions = {
  readonly withheld?: readonly string[]
  readonly texts?: readonly string[]
  readonly people?: string
}

const rows = ({ withheld = [], texts = [], people }: RowsOptions = {}): Treatment => ({
  how: 'rows',
  withheld,
  texts,
  people,
})
const leftOut = (why: string): Treatment => ({ how: 'leftOut', why })

const inLog = leftOut('it is in log/')
const session = leftOut('sessions and their secrets')
const state = leftOut('working state of the gateway')

/** Every table of the schema. A test compares the names with the schema. */
export const treatments: Readonly<Record<string, Treatment>> = {
  schema_migration: state,
  sqlite_sequence: state,
  clock_mark: state,
  expiry_mark: state,
  camera_heartbeat: state,
  detection_id: state,
  idempotency: leftOut(
    'replies of the last seven days, kept for repeated requests; their facts are in the other tables',
  ),
  caller_key: leftOut('a secret key of the box'),
  console_session: session,
  console_session_secret: session,
  console_session_facts: session,
  shift_session: session,
  known_credential: leftOut('marks of secrets'),
  recovery_code: leftOut('marks of secrets'),
  webhook_retired_secret: leftOut('secrets of webhooks'),
  storage_try: leftOut('wrong passwords of the last half hour'),
  log_leaf: inLog,
  log_tile: inLog,
  log_checkpoint: inLog,
  audit_hash: leftOut('computed from the audit trail'),

  warehouse: rows(),
  plan_image: rows(),
  plan_image_file: rows(),
  zone: rows(),
  slot: rows(),
  asset: rows(),
  asset_key_alias: rows(),
  barcode_to_read: rows(),
  placement_event: rows({ people: 'placement_person' }),
  placement_person: rows(),
  dispute_resolution: rows(),
  client_event: rows(),
  opening_list: rows(),
  opening: rows(),
  unit_history: rows(),
  unit_client_event: rows(),
  unit_photo: rows(),
  scale_reading: rows(),
  count_session: rows(),
  count_slot: rows(),
  count_scan: rows(),
  count_recount: rows(),
  count_outcome: rows(),
  media: rows(),
  media_removed: rows(),
  media_unlink: rows(),
  media_return: rows(),
  media_hold: rows(),
  photo_facts: rows(),
  photo_bringer: rows(),
  detection_reservation: rows(),
  detection_event: rows(),
  event_film: rows(),
  event_film_event: rows(),
  clip_file: rows(),
  clip_redaction: rows(),
  clip_redaction_end: rows(),
  clip_export: rows(),
  clip_export_decision: rows(),
  motion_control: rows(),
  camera_gap: rows(),
  camera_watch: rows(),
  camera_clock: rows(),
  incident_change: rows(),
  report: rows(),
  report_person: rows(),
  audit_entry: rows({ people: 'audit_person' }),
  audit_person: rows(),
  audit_digest: rows(),
  // With its salt, anyone could tie the person to later rows of the published log.
  person: rows({ withheld: ['salt'] }),
  person_link: rows(),
  erased_person: rows({ withheld: ['name_mark'] }),
  erased_identity: rows({ withheld: ['identity_mark', 'name_mark'] }),
  account_seen: rows({ withheld: ['secret_mark'] }),
  local_account: rows({ withheld: ['secret_hash'] }),
  local_account_state: rows({ withheld: ['held_secret_hash'] }),
  second_factor: rows({ withheld: ['secret', 'credential_id', 'counter'] }),
  known_caller: rows(),
  device: rows({ withheld: ['code_sha256', 'token_sha256'] }),
  badge_operator: rows({ withheld: ['badge_mark', 'pin_hash'] }),
  sscc_series: rows(),
  print_job: rows({ texts: ['zpl'] }),
  webhook: rows({ withheld: ['secret'] }),
  webhook_choice: rows(),
  webhook_slowed: rows(),
  webhook_checkpoint: rows(),
  outbox: rows({ texts: ['body'] }),
  delivery: rows(),
  delivery_attempt: rows(),
  alert: rows(),
  alert_end: rows(),
  alert_message: rows(),
  alert_silence: rows(),
  alert_channel: state,
  alert_notice: state,
  push_subscription: rows({ withheld: ['endpoint_sha256', 'sealed'] }),
  health_trouble: rows(),
  upload: rows(),
  upload_open_clip: rows(),
  upload_source: rows(),
  upload_check: rows(),
  upload_folder: rows(),
  clock_state: rows(),
  clock_step: rows(),
  log_identity: rows(),
  log_cosignature: rows(),
  log_timestamp: rows(),
  log_key: rows(),
  witness_log: rows(),
  witness_conflict: rows(),
}
