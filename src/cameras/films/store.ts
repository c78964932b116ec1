import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, type Tx } from '../../database/index.ts'
import { sql, tables } from '../tables.ts'

export type FilmRow = Readonly<RowOf<typeof tables.event_film>>

const newFilm = built(tables.event_film, (row) => sql.insertInto('event_film').values(row))
const newLink = built(tables.event_film_event, (row) => sql.insertInto('event_film_event').values(row))
const filmById = built(pick(tables.event_film, 'id'), ({ id }) =>
  sql.selectFrom('event_film').selectAll().where('id', '=', id),
)
const eventsShown = built(pick(tables.event_film_event, 'film_id'), ({ film_id }) =>
  sql.selectFrom('event_film_event').select('event_id').where('film_id', '=', film_id).orderBy('event_id'),
)
const filmsOfEvent = built(pick(tables.event_film_event, 'event_id'), ({ event_id }) =>
  sql
    .selectFrom('event_film_event as e')
    .innerJoin('event_film as f', 'f.id', 'e.film_id')
    .selectAll('f')
    .where('e.event_id', '=', event_id)
    .orderBy('f.id'),
)
// An index of the films that are wanted is found by this word, so it is no value.
const wanted = raw.lit('wanted' as const)
const wantedNear = built(pick(tables.event_film, 'cctv_id', 'from_ms', 'to_ms'), ({ cctv_id, from_ms, to_ms }) =>
  sql
    .selectFrom('event_film')
    .selectAll()
    .where('state', '=', wanted)
    .where('cctv_id', '=', cctv_id)
    .where('to_ms', '>=', from_ms)
    .where('from_ms', '<=', to_ms)
    .orderBy('to_ms', 'desc')
    .limit(raw.lit(4)),
)
const wantedLater = built({ ms: integer }, ({ ms }) =>
  sql
    .selectFrom('event_film')
    .selectAll()
    .where('state', '=', wanted)
    .where('to_ms', '>', ms)
    .orderBy('to_ms')
    .orderBy('id')
    .limit(raw.lit(500)),
)
const wantedEarlier = built({ ms: integer, few: integer }, ({ ms, few }) =>
  sql
    .selectFrom('event_film')
    .selectAll()
    .where('state', '=', wanted)
    .where('to_ms', '<=', ms)
    .orderBy('to_ms')
    .orderBy('id')
    .limit(few),
)
const oneMoreEvent = built(pick(tables.event_film, 'id', 'from_ms', 'to_ms'), ({ id, ...span }) =>
  sql
    .updateTable('event_film')
    .set((film) => ({ ...span, events: film('events', '+', raw.lit(1)) }))
    .where('id', '=', id),
)
const madeNow = built(pick(tables.event_film, 'id'), ({ id }) =>
  sql.updateTable('event_film').set({ state: 'made' }).where('id', '=', id),
)
const coveredNow = built(pick(tables.event_film, 'id', 'covered_by'), ({ id, covered_by }) =>
  sql.updateTable('event_film').set({ state: 'covered', covered_by }).where('id', '=', id),
)
const clipOver = built(
  { cctv_id: integer, earliest_ms: integer, latest_ms: integer, from_ms: integer, to_ms: integer },
  ({ cctv_id, earliest_ms, latest_ms, from_ms, to_ms }) =>
    sql
      .selectFrom('detection_event')
      .select('id')
      .where('cctv_id', '=', cctv_id)
      .where('timestamp_ms', '>=', earliest_ms)
      .where('timestamp_ms', '<=', latest_ms)
      .where('clip_sha256', 'is not', null)
      .where('clip_start_ms', '<=', from_ms)
      .where('clip_end_ms', '>=', to_ms)
      .limit(raw.lit(1)),
)

/** A clip of motion lasts this long at most: pre-roll, 5 minutes of motion, post-roll. */
const longestClipMs = 12 * 60_000

/** Adds a film that shows one event. */
export function addFilm(tx: Tx, film: FilmRow, eventId: number): void {
  tx.run(newFilm, film)
  tx.run(newLink, { event_id: eventId, film_id: film.id })
}

/** Lets a film show one more event. */
export function joinFilm(tx: Tx, id: number, span: { fromMs: number; toMs: number }, eventId: number): void {
  tx.run(oneMoreEvent, { id, from_ms: span.fromMs, to_ms: span.toMs })
  tx.run(newLink, { event_id: eventId, film_id: id })
}

export function findFilm(tx: ReadTx, id: number): FilmRow | undefined {
  return tx.get(filmById, { id })
}

/** Returns the ids of the events that a film was made for. */
export function eventsOf(tx: ReadTx, filmId: number): number[] {
  return tx.all(eventsShown, { film_id: filmId }).map(({ event_id }) => event_id)
}

export function filmsOf(tx: ReadTx, eventId: number): FilmRow[] {
  return tx.all(filmsOfEvent, { event_id: eventId })
}

/** Returns wanted films of a camera that overlap a span, the latest first. */
export function wantedAround(
  tx: ReadTx,
  cctvId: number,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): FilmRow[] {
  return tx.all(wantedNear, { cctv_id: cctvId, from_ms: fromMs, to_ms: toMs })
}

/** Returns wanted films that end after a time, and the oldest few of those that ended before. */
export function wantedFilms(tx: ReadTx, ms: number, few: number): { later: FilmRow[]; earlier: FilmRow[] } {
  return { later: tx.all(wantedLater, { ms }), earlier: tx.all(wantedEarlier, { ms, few }) }
}

/** Notes that the detection of a film is recorded. */
export function noteMade(tx: Tx, id: number): void {
  tx.run(madeNow, { id })
}

/** Notes that no film is made, because the clip of a detection shows the same. */
export function noteCovered(tx: Tx, id: number, by: number): void {
  tx.run(coveredNow, { id, covered_by: by })
}

/** Says whether a recorded clip of the camera shows the whole span. */
export function isShown(tx: ReadTx, cctvId: number, { fromMs, toMs }: { fromMs: number; toMs: number }): boolean {
  const clip = tx.get(clipOver, {
    cctv_id: cctvId,
    earliest_ms: fromMs - longestClipMs,
    latest_ms: toMs + longestClipMs,
    from_ms: fromMs,
    to_ms: toMs,
  })
  return clip !== undefined
}
