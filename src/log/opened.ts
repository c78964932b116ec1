import { built, pick, type ReadTx } from '../database/index.ts'
import type { LeafPlace } from './log.ts'
import { leafPath, Person, type RowPlace } from './people.ts'
import { sql, tables } from './tables.ts'

/**
 * Opening of one commitment of a leaf: SHA-256(salt ‖ UTF-8(text)) is the commitment. `field` is the key in the leaf. The salt
 * opens this field of this leaf alone.
 */
export type OpenedField = {
  readonly field: string
  readonly commitment: string
  readonly salt: Buffer
  readonly text: string
}

const personWithId = built(pick(tables.person, 'id'), ({ id }) =>
  sql.selectFrom('person').selectAll().where('id', '=', id),
)
const openingOf = built(pick(tables.opening, 'commitment'), ({ commitment }) =>
  sql.selectFrom('opening').select(['salt', 'value']).where('commitment', '=', commitment),
)

const linkOf = built(pick(tables.person_link, 'subject', 'row', 'field'), ({ subject, row, field }) =>
  sql
    .selectFrom('person_link')
    .select('person_id')
    .where('subject', '=', subject)
    .where('row', '=', row)
    .where('field', '=', field),
)

/** Returns the id of the person that a column of a row is linked to; undefined once they were erased. */
export function linkedTo(tx: ReadTx, row: RowPlace): number | undefined {
  return tx.get(linkOf, row)?.person_id
}

/** Returns the opening of the person that a column of a row is linked to; undefined once they were erased. */
export function openedLink(tx: ReadTx, row: RowPlace, place: LeafPlace, commitment: string): OpenedField | undefined {
  return openedPerson(tx, tx.get(linkOf, row)?.person_id, place, { field: row.field, commitment })
}

/**
 * Returns the opening of the commitment of a person in a leaf; undefined once the person was erased. Without a linked person in
 * `personId` the commitment is one of version 1.
 */
export function openedPerson(
  tx: ReadTx,
  personId: number | null | undefined,
  place: LeafPlace,
  { field, commitment }: { readonly field: string; readonly commitment: string },
): OpenedField | undefined {
  const row = typeof personId === 'number' ? tx.get(personWithId, { id: personId }) : undefined
  if (!row) return openedText(tx, { field, commitment })
  const person = new Person(row)
  const text = person.identity
  return { field, commitment, salt: person.rowSalt(leafPath(place, field)), text }
}

/** Returns what opens the commitment of a text in a leaf; undefined when there is none, or it was erased. */
export function openedText(
  tx: ReadTx,
  { field, commitment }: { readonly field: string; readonly commitment: string | null },
): OpenedField | undefined {
  const opening = commitment === null ? undefined : tx.get(openingOf, { commitment })
  return opening && commitment !== null ? { field, commitment, salt: opening.salt, text: opening.value } : undefined
}
