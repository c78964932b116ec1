import { inputOf } from '../kit/field.ts'

type Props = {
  readonly label: string
  readonly value: number
  readonly isLocked: boolean
  /** Default: a millimetre. */
  readonly step?: number
  /** Gets the field when it is left, or by Enter: half a number is no place. It puts into it what counts. */
  readonly onTyped: (field: HTMLInputElement) => void
}

/** A place or a size on the plan as a number. */
export const PlanNumberField = ({ label, value, isLocked, step = 0.001, onTyped }: Props) => (
  <label>
    <span>{label}</span>
    <input
      type="number"
      step={step}
      readonly={isLocked}
      value={value}
      onBlur={(event: Event) => onTyped(inputOf(event))}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Enter') onTyped(inputOf(event))
      }}
    />
  </label>
)
