import { appendOnlyTriggers } from '../../append-only.ts'

/** Trust in the clocks: reports of time services, steps of the gateway's clock, offsets of the cameras'. */
export const clockStatements: readonly string[] = [
  `CREATE TABLE clock_state (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,                -- from when on, by the gateway's clock
  state TEXT NOT NULL CHECK (state IN ('synchronized', 'unsynchronized', 'unknown', 'stopped')),  -- stopped: the gateway did not run
  source TEXT,                           -- timesyncd, chrony, ntpd; null: none answered
  server TEXT,                           -- as the time service names it
  stratum INTEGER,
  offset_ms REAL                         -- this clock minus the server's, as the service estimated it then
) STRICT`,
  ...appendOnlyTriggers('clock_state', 'id'),
  `CREATE TABLE clock_step (
  id INTEGER PRIMARY KEY,
  cause TEXT NOT NULL CHECK (cause IN ('running', 'restart', 'no_clock')),  -- seen while running; behind the time of before, at a start; before 2026, at a start
  before_ms INTEGER NOT NULL,            -- what the clock would have shown without the step; at a start: the newest time known
  after_ms INTEGER NOT NULL,             -- what it showed
  state TEXT NOT NULL,                   -- what the time services said then: synchronized, unsynchronized, unknown
  source TEXT
) STRICT`,
  ...appendOnlyTriggers('clock_step', 'id'),
  `CREATE TABLE clock_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at_ms INTEGER NOT NULL                 -- the gateway's clock, noted every minute and at the end
) STRICT`,
  `CREATE TABLE camera_clock (
  id INTEGER PRIMARY KEY,
  cctv_id INTEGER NOT NULL,              -- the camera, by its number in the config
  measured_at_ms INTEGER NOT NULL,       -- by the gateway's clock
  offset_ms INTEGER NOT NULL,            -- the camera's clock minus the gateway's
  uncertainty_ms INTEGER NOT NULL,       -- the offset may be wrong by this much either way
  by TEXT NOT NULL CHECK (by IN ('rtsp', 'onvif'))  -- how it was asked: the Date of RTSP, GetSystemDateAndTime of ONVIF
) STRICT`,
  'CREATE INDEX camera_clock_camera ON camera_clock (cctv_id, measured_at_ms)',
  ...appendOnlyTriggers('camera_clock', 'id'),
]
