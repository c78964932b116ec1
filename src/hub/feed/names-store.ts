import { isoTime } from '../../platform/index.ts'
import { column } from '../store/arrays.ts'
import type { HubWrite } from '../store/database.ts'
import { fromHead, hubStatement } from '../store/statement.ts'

const newOpenings = hubStatement(
  'put-openings',
  `INSERT INTO opening (log_id, commitment, kind, salt, value, person_id)
   SELECT h.log_id, x.commitment, 'name', x.salt, x.value, x.person_id
   ${fromHead('$2::bytea[], $3::bytea[], $4::text[], $5::bigint[]')} (commitment, salt, value, person_id) WHERE h.log_id = $1
   ON CONFLICT (log_id, commitment) DO NOTHING`,
)
const erasedOpenings = hubStatement(
  'erase-openings',
  `INSERT INTO opening (log_id, commitment, kind, erased_at) SELECT h.log_id, x.commitment, 'name', $3::timestamptz
   ${fromHead('$2::bytea[]')} (commitment) WHERE h.log_id = $1
   ON CONFLICT (log_id, commitment) DO UPDATE SET value = NULL, salt = NULL, person_id = NULL, erased_at = excluded.erased_at
   WHERE opening.erased_at IS NULL`,
)
const newErased = hubStatement(
  'put-erased-people',
  `INSERT INTO erased_person (log_id, person_id, erased_at) SELECT h.log_id, x.person_id, $3::timestamptz
   ${fromHead('$2::bigint[]')} (person_id) WHERE h.log_id = $1 ON CONFLICT (log_id, person_id) DO NOTHING`,
)
const erasedOfPeople = hubStatement(
  'erase-openings-of-people',
  `UPDATE opening SET value = NULL, salt = NULL, person_id = NULL, erased_at = $3
   WHERE log_id = $1 AND person_id = ANY($2::bigint[]) AND erased_at IS NULL`,
)
const erasedAmong = hubStatement(
  'erased-among',
  'SELECT person_id FROM erased_person WHERE log_id = $1 AND person_id = ANY($2::bigint[])',
)

/** The opening of a commitment. The gateway's number of the person is `person`; null for a name of leaves of version 1. */
export type OpeningFact = {
  readonly commitment: Buffer
  readonly salt: Buffer
  readonly text: string
  readonly person: number | null
}

/** Erasures at a gateway: commitments, and numbers of people. */
export type Erasures = { readonly commitments: readonly Buffer[]; readonly people: readonly number[] }

/** Stores names behind commitments, unless they or their people were erased before. Call it with the head locked. */
export async function putOpenings(
  tx: HubWrite,
  logId: string,
  all: readonly OpeningFact[],
  atMs: number,
): Promise<void> {
  if (all.length === 0) return
  const people = [...new Set(all.flatMap(({ person }) => person ?? []))]
  const gone = new Set<number>()
  for (const { person_id } of await tx.rows<{ person_id: string }>(erasedAmong, [logId, people]))
    gone.add(Number(person_id))
  const isGone = ({ person }: OpeningFact) => person !== null && gone.has(person)
  const kept = all.filter((one) => !isGone(one))
  eraseCommitments(tx, logId, column(all.filter(isGone), 'commitment'), atMs)
  if (kept.length === 0) return
  tx.send(newOpenings, [
    ...[logId, column(kept, 'commitment'), column(kept, 'salt'), column(kept, 'text'), column(kept, 'person')],
  ])
}

/** Takes names away for good; also those that were never here, so that they never come. */
export function erase(tx: HubWrite, logId: string, { commitments, people }: Erasures, atMs: number): void {
  eraseCommitments(tx, logId, commitments, atMs)
  if (people.length === 0) return
  tx.send(newErased, [logId, people, isoTime(atMs)])
  tx.send(erasedOfPeople, [logId, people, isoTime(atMs)])
}

function eraseCommitments(tx: HubWrite, logId: string, commitments: readonly Buffer[], atMs: number): void {
  if (commitments.length > 0) tx.send(erasedOpenings, [logId, commitments, isoTime(atMs)])
}
