import type { Migration } from '../migrate.ts'

/** Detections by the analytics of cameras. */
export const analytics: Migration = {
  version: 22,
  name: 'analytics',
  // An older gateway cannot verify the new keys of a detection's leaf.
  oldestReader: 22,
  statements: [
    // 'camera': its analytics found it; NULL: the pictures showed it, or it is a film.
    'ALTER TABLE detection_reservation ADD COLUMN triggered_by TEXT',
    // JSON [], what the analytics of the camera named; NULL: nothing.
    'ALTER TABLE detection_reservation ADD COLUMN kinds TEXT',
    'ALTER TABLE detection_event ADD COLUMN triggered_by TEXT',
    'ALTER TABLE detection_event ADD COLUMN kinds TEXT',
  ],
}
