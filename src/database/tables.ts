import type { Generated } from 'kysely'

/** The tables for Kysely; the migrations say what each column holds. */
export type Tables = {
  log_identity: {
    id: number
    log_id: string
    site_id: string
    parent_log_id: string | null
    parent_size: number | null
    created_at_ms: number
  }
  log_leaf: { row: number; log_id: number; seq: number; kind: string; ref: string; bytes: Buffer; hash: Buffer }
  opening: { commitment: string; kind: 'person' | 'text'; salt: Buffer; value: string }
  media: {
    id: number
    sha256: string
    kind: 'photo' | 'clip' | 'snapshot'
    media_type: string
    size_bytes: number
    received_at_ms: number
    actor_commitment: string | null
  }
  media_hold: { sha256: string; reason: string; ref: string; created_at_ms: number }
  warehouse: Versioned & {
    id: Generated<number>
    name: string
    lat: number | null
    lng: number | null
    timezone: string
  }
  zone: Versioned & {
    id: Generated<number>
    warehouse_id: number
    name: string
    name_key: string
    zone_type: string
    color: string
  }
  slot: Versioned & {
    id: Generated<number>
    slot_id: string
    warehouse_id: number
    zone_id: number | null
    zone: string
    zone_type: string | null
    floor_plan_polygon: string
    constraints: string | null
    retired_at_ms: number | null
    label_key: string | null
  }
  asset: Versioned & {
    id: Generated<number>
    asset_id: string
    asset_key: string
    type: string | null
    weight_kg: number | null
    dimensions: string | null
    provisional: number
    sscc: string | null
    gtin: string | null
    lot: string | null
    best_before: string | null
    serial: string | null
    label_read: Generated<number>
    same_as: number | null
  }
  asset_key_alias: { alias_key: string; asset_key: string }
  barcode_to_read: { asset_key: string; barcode: string; moved_at_ms: number | null }
  print_job: PrintJobRow
  sscc_series: { series: string; next: number }
  photo_bringer: { sha256: string; person_id: number }
  photo_facts: {
    sha256: string
    width_px: number | null
    height_px: number | null
    taken_local: string | null
    taken_offset_minutes: number | null
  }
  placement_event: PlacementEventRow
  caller_key: { one: number; key: Buffer }
  client_event: { caller: string; client_event_id: string; event_id: number; request_sha256: string }
  detection_event: DetectionEventRow
  scale_reading: ScaleReadingRow
  unit_history: UnitHistoryRow
  unit_client_event: { caller: string; client_event_id: string; row: number; request_sha256: string }
  incident_change: IncidentChangeRow
  report: ReportRow
  erased_person: { commitment: string; name_mark: string; erased_at_ms: number }
  account_seen: { person_id: number; role: string; secret_mark: Buffer }
  person: { id: Generated<number>; name: string; instance: string | null; salt: Buffer }
  placement_person: {
    event_id: number
    timestamp_ms: number
    operator_id: number | null
    actor_id: number | null
  }
  audit_person: { entry_id: number; timestamp_ms: number; operator_id: number | null; actor_id: number | null }
  person_link: { subject: string; row: number; field: string; person_id: number; log_id: number }
  report_person: {
    report_id: number
    n: number
    name: string | null
    instance: string | null
    is_operator: number
    self_verified: number
  }
  erased_identity: { person_id: number; identity_mark: string; name_mark: string; erased_at_ms: number }
  opening_list: {
    id: number
    sha256: string
    size_bytes: number
    rows: number
    received_at_ms: number
    actor_commitment: string
  }
  count_session: CountSessionRow
  count_slot: { count_id: number; slot_id: number }
  count_scan: CountScanRow
  count_recount: {
    id: number
    count_id: number
    slot_id: number
    after_scan_id: number
    requested_at_ms: number
    actor_commitment: string
    reason_commitment: string | null
  }
  count_outcome: {
    id: number
    count_id: number
    slot_id: number
    scan_id: number | null
    outcome: 'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted'
    scanned_at_ms: number | null
    decided_at_ms: number
  }
  outbox: { seq: Generated<number>; event_id: string; type: string; timestamp_ms: number; body: Buffer }
  audit_entry: {
    id: number
    timestamp_ms: number
    operator_commitment: string | null
    actor_commitment: string | null
    action: string
    entity: string
    entity_id: string | null
    changes: string | null
    request_id: string | null
    address: string | null
    auth_mode: string | null
    log_id: number | null
  }
  idempotency: {
    caller: string
    method: string
    path: string
    key: string
    request_sha256: string
    status: number
    location: string | null
    body: string
    created_at_ms: number
    visible_warehouses: string | null
  }
  known_caller: { instance: string; username: string; groups: string; role: string; updated_at_ms: number }
  known_credential: { id: Buffer; instance: string; username: string; as_bearer: number; verified_at_ms: number }
  storage_try: { id: number; instance: string; at_ms: number; network: string; login_mark: string }
  console_session_secret: { token_sha256: Buffer; sealed: Buffer }
  local_account: { username: string; role: string; secret_hash: string; created_at_ms: number }
  webhook: Versioned & {
    id: string
    url: string
    events: string
    secret: Buffer
    active: number
    status: 'active' | 'failing' | 'disabled'
    consecutive_failures: Generated<number>
    fanned_out_seq: number
  }
  webhook_retired_secret: { webhook_id: string; valid_until_ms: number; secret: Buffer }
  delivery: {
    id: string
    webhook_id: string
    outbox_seq: number
    state: 'pending' | 'delivered' | 'exhausted'
    attempts: Generated<number>
    next_attempt_at_ms: number
    lease_until_ms: Generated<number>
    last_status: number | null
    last_error: string | null
    created_at_ms: number
    delivered_at_ms: number | null
    attempts_before: Generated<number>
  }
  delivery_attempt: {
    delivery_id: string
    attempt: number
    started_at_ms: number
    duration_ms: number
    status: number | null
    error: string | null
    answer: string | null
  }
  alert: {
    id: Generated<number>
    kind: string
    subject: string
    message: string
    created_at_ms: number
    acknowledged_at_ms: number | null
  }
  health_trouble: {
    component: string
    subject: string
    kind: string
    name: string
    message: string
    since_ms: number
  }
}

type Versioned = { version: Generated<number>; created_at_ms: number; updated_at_ms: number }

/** What a row has from its leaf. */
export type Stated = { log_id: number; leaf_seq: number; leaf_version: 1 | 2; evidence_hash: string }

export type PrintJobRow = {
  id: number
  printer: string
  entity: 'slot' | 'asset'
  entity_id: number
  label: string
  warehouse_id: number | null
  copies: number
  zpl: Buffer
  state: 'queued' | 'printing' | 'printed' | 'unconfirmed' | 'failed' | 'cancelled'
  attempts: number
  next_attempt_at_ms: number
  last_error: string | null
  actor_commitment: string
  reprint_of: number | null
  created_at_ms: number
  finished_at_ms: number | null
}

export type DetectionEventRow = Stated & {
  row: number
  id: number
  event_id: string
  cctv_id: number
  timestamp_ms: number
  score: number
  scene_change: number
  clip_status: 'recorded' | 'cooldown' | 'lost'
  reason: string | null
  clip_sha256: string | null
  snapshot_sha256: string | null
  clip_start_ms: number | null
  clip_end_ms: number | null
  pre_roll_seconds: number | null
  duration_seconds: number | null
  recorded_at_ms: number
  asked_pre_roll_seconds: number | null
  clip_pictures: number | null
  longest_gap_seconds: number | null
  clip_original: number | null
  closed_by: 'post-roll' | 'longest' | 'stopped' | 'stream-ended' | 'restart' | null
}

export type IncidentChangeRow = Stated & {
  id: number
  event_id: string
  incident_id: number
  status: 'open' | 'investigating' | 'resolved'
  severity: 'low' | 'medium' | 'high' | 'critical' | null
  category: string | null
  warehouse_id: number | null
  title_commitment: string | null
  description_commitment: string | null
  evidence: string | null
  resolution_commitment: string | null
  actor_commitment: string
  timestamp_ms: number
}

export type ReportRow = Stated & {
  id: number
  event_id: string
  type: 'compliance'
  from_ms: number
  to_ms: number
  warehouses: string
  log_size: number
  log_root: string
  sha256: string
  size_bytes: number
  actor_commitment: string
  created_at_ms: number
}

export type PlacementEventRow = Stated & {
  id: number
  event_id: string
  event_type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  slot_id: number
  slot_code: string
  asset_barcode: string
  asset_key: string
  operator_commitment: string
  actor_commitment: string
  timestamp_ms: number
  device_timestamp_ms: number | null
  received_at_ms: number
  clock_offset_ms: number | null
  time_quality: 'synced' | 'corrected' | 'unsynced'
  photo_url: string | null
  photo_sha256: string | null
  photo_evidence: 'held' | 'claimed' | null
  photo_taken_at_ms: number | null
  scale_weight_kg: number | null
  cctv_clip_url: string | null
  work_order_ref: string | null
  notes_commitment: string | null
  scan: string | null
  scan_evidence: 'matched' | 'mismatched' | null
  client_event_id: string | null
  client_evidence_hash: string | null
  corrects_event_id: number | null
  warnings: string
  opening_list: string | null
  opening_line: number | null
  count_id: number | null
  count_scan_id: number | null
  count_scan_sha256: string | null
}

export type CountSessionRow = {
  id: number
  warehouse_id: number
  reference: string | null
  selection: string
  state: 'open' | 'counting' | 'review' | 'approved' | 'cancelled'
  created_by: string
  closed_by: string | null
  closed_at_ms: number | null
  reason_commitment: string | null
  version: number
  created_at_ms: number
  updated_at_ms: number
}

export type CountScanRow = {
  id: number
  count_id: number
  slot_id: number
  found: string
  counter_commitment: string
  timestamp_ms: number
  device_timestamp_ms: number | null
  received_at_ms: number
  clock_offset_ms: number | null
  time_quality: 'synced' | 'corrected' | 'unsynced'
  known_event_id: number
  caller: string
  client_scan_id: string | null
  request_sha256: string
  sha256: string
}

export type ScaleReadingRow = {
  id: number
  event_id: string
  scale_id: string
  weight_kg: number
  stable: number | null
  timestamp_ms: number
  device_timestamp_ms: number | null
  received_at_ms: number
  clock_offset_ms: number | null
  time_quality: 'synced' | 'corrected' | 'unsynced'
  slot_id: number | null
  asset_barcode: string | null
  asset_key: string | null
  transport_unit_id: string | null
  warehouse_id: number | null
  actor_commitment: string
}

export type UnitHistoryRow = Stated & {
  row: number
  event_id: string
  unit_id: string
  action: 'created' | 'advanced' | 'skipped' | 'completed' | 'held' | 'resumed' | 'cancelled' | 'evidence' | 'weighed'
  from_stage: string | null
  stage: string
  status: 'active' | 'on_hold' | 'completed' | 'cancelled'
  operator_commitment: string
  actor_commitment: string
  note_commitment: string | null
  reason_commitment: string | null
  timestamp_ms: number
  device_timestamp_ms: number | null
  received_at_ms: number
  clock_offset_ms: number | null
  time_quality: 'synced' | 'corrected' | 'unsynced'
  photos: string | null
  scale_weight_kg: number | null
  scale_reading_id: number | null
  scale_id: string | null
  scale_stable: number | null
  reference: string | null
  sscc: string | null
  direction: 'inbound' | 'outbound' | null
  warehouse_id: number | null
  carrier: string | null
  vehicle_commitment: string | null
  client_event_id: string | null
}
