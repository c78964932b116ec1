/** Films of events, which are jobs until their detection is recorded; and the detections that are such films. */
export const eventFilmsStatements: readonly string[] = [
  `ALTER TABLE detection_event ADD COLUMN event_ids TEXT /* JSON: the events that a film was made for; null: motion fired */`,
  `CREATE TABLE event_film (
  id INTEGER PRIMARY KEY REFERENCES detection_reservation (id), -- the detection that the film will be
  cctv_id INTEGER NOT NULL,
  moment_ms INTEGER NOT NULL,            -- of its first event, wall clock
  from_ms INTEGER NOT NULL,              -- what it should show
  to_ms INTEGER NOT NULL,
  events INTEGER NOT NULL,               -- how many share it
  state TEXT NOT NULL CHECK (state IN ('wanted', 'made', 'covered')), -- made: its detection is recorded, with a clip or lost
  covered_by INTEGER                     -- the detection of motion whose clip shows the same; no film was made then
) STRICT`,
  `CREATE INDEX event_film_wanted ON event_film (to_ms, id) WHERE state = 'wanted'`,
  `CREATE INDEX event_film_camera ON event_film (cctv_id, to_ms) WHERE state = 'wanted'`,
  `CREATE TABLE event_film_event (
  event_id INTEGER NOT NULL,             -- placement_event.id
  film_id INTEGER NOT NULL REFERENCES event_film (id),
  PRIMARY KEY (event_id, film_id)
) STRICT, WITHOUT ROWID`,
  `CREATE INDEX event_film_event_film ON event_film_event (film_id, event_id)`,
]
