import type { Slot } from '../data/shapes.ts'
import { numberWords } from '../i18n/counting.ts'
import { countIn, type SlotStatus, statusWords } from '../i18n/words.ts'
import { wordTexts } from '../i18n/words-texts.ts'
import { OddMark, StatusMark } from '../kit/slot-marks.tsx'

const statuses: readonly SlotStatus[] = ['empty', 'occupied', 'verified', 'disputed']

type Props = {
  slots: readonly Slot[]
  /** By slot, what the ledger contradicts itself about; undefined while that is not known. */
  odd: ReadonlyMap<number, string> | undefined
}

/** The marks of the plan, each with its number of slots. */
export const Legend = ({ slots, odd }: Props) => (
  <ul class="legend" aria-label={wordTexts.legend}>
    {statuses.map((status) => (
      <li key={status}>
        <StatusMark status={status} /> {statusWords[status]}{' '}
        <span class="muted">{numberWords(countIn(slots, status))}</span>
      </li>
    ))}
    <li>
      <OddMark /> {wordTexts.odd}{' '}
      <span class="muted">{odd ? numberWords(slots.filter(({ id }) => odd.has(id)).length) : '–'}</span>
    </li>
  </ul>
)
