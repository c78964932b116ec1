import type { ReadTx } from '../database/index.ts'
import { peopleOf } from '../ledger/index.ts'
import { type LeafPlace, leavesBetween, linkedTo, openedPerson } from '../log/index.ts'
import type { FeedBody } from './wire.ts'

type Opening = NonNullable<FeedBody['openings']>[number]
type Fields = Readonly<Record<string, unknown>>

const fields = ['operator', 'actor'] as const

/**
 * Returns what opens the people in leaves `from` + 1 to `end` of a log: of events of the floor and steps of units. A person who was erased is
 * not among them, and texts never are. `person` groups what an erasure takes away later.
 */
export function namesIn(
  tx: ReadTx,
  log: { readonly number: number; readonly logId: string },
  from: number,
  end: number,
) {
  const found = new Map<string, Opening>()
  for (const { seq, kind, bytes } of leavesBetween(tx, log.number, from + 1, end, end - from)) {
    if (kind !== 'placement' && kind !== 'unit-history') continue
    const leaf = JSON.parse(bytes.toString('utf8')) as Fields
    const idOf = kind === 'placement' ? ofEvent(tx, leaf) : ofStep(tx, leaf)
    for (const field of fields) {
      const opening = openingOf(tx, idOf(field), { logId: log.logId, seq }, field, leaf[field])
      if (opening) found.set(opening.commitment, opening)
    }
  }
  return [...found.values()]
}

type IdOf = (field: (typeof fields)[number]) => number | null

function ofEvent(tx: ReadTx, { id }: Fields): IdOf {
  const people = peopleOf(tx, Number(id))
  return (field) => people[field]
}

function ofStep(tx: ReadTx, { row }: Fields): IdOf {
  return (field) => linkedTo(tx, { subject: 'unit_history', row: Number(row), field }) ?? null
}

function openingOf(
  tx: ReadTx,
  person: number | null,
  place: LeafPlace,
  field: string,
  commitment: unknown,
): Opening | undefined {
  if (typeof commitment !== 'string') return undefined
  const opened = openedPerson(tx, person, place, { field, commitment })
  if (!opened) return undefined
  return { commitment, salt: opened.salt.toString('base64'), text: opened.text, ...(person !== null && { person }) }
}
