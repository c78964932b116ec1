export const evidenceStatements: readonly string[] = [
  // Whether the scan names the slot and the asset of the event. Null: claimed, as in older rows.
  `ALTER TABLE placement_event ADD COLUMN scan_evidence TEXT CHECK (scan_evidence IN ('matched', 'mismatched'))`,
  // Finds the placements that a photo elsewhere proves already. Photos of the gateway are found by their hash, and cost no entry here.
  `CREATE INDEX placement_event_photo_url ON placement_event (photo_url) WHERE photo_evidence = 'claimed'`,
]
