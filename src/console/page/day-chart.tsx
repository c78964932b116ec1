import { type FigureUnit, lineOf, valueWords } from './day-figures.ts'
import { timeOfDay } from './words.ts'

type Props = {
  times: readonly string[]
  values: readonly (number | null)[]
  unit: FigureUnit
  label: string
  timeZone: string | undefined
}

/** One figure over the last day, as a line from zero up. The words beside it say the same. */
export const DayChart = ({ times, values, unit, label, timeZone }: Props) => {
  const moments = times.map((time) => Date.parse(time))
  const { path, top } = lineOf(moments, values)
  const [first = 0, last = 0] = [moments[0], moments.at(-1)]
  const hours = [0, 1 / 3, 2 / 3, 1].map((part) => first + part * (last - first))
  return (
    <div class="day-chart" role="img" aria-label={label}>
      <p class="day-values" aria-hidden="true">
        <span>{valueWords(top, unit)}</span>
        <span>{valueWords(0, unit)}</span>
      </p>
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
        <path class="day-grid" d="M0 .5H1000M0 50H1000M0 99.5H1000" />
        <path class="day-figure" d={path} />
      </svg>
      <p class="day-times" aria-hidden="true">
        {hours.map((ms) => (
          <span key={ms}>{timeOfDay(ms, timeZone)}</span>
        ))}
      </p>
    </div>
  )
}
