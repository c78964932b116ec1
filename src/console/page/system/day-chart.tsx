import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { timeOfDay } from '../i18n/words.ts'
import { type FigureUnit, topOf, valueWords } from './day-figures.ts'
import { systemTexts as words } from './system-texts.ts'

type Props = {
  times: readonly string[]
  values: readonly (number | null)[]
  unit: FigureUnit
  label: string
  timeZone: string | undefined
}

const heightPx = 170
const axisPx = { times: 30, values: 72 }
/** No ticks between whole numbers. */
const steps = Array.from({ length: 14 }, (_, digits) => [1, 2, 5].map((n) => n * 10 ** digits)).flat()

/** One figure over the last day, from zero up; a pointer shows the value of a moment. The words beside it say the same. */
export const DayChart = ({ times, values, unit, label, timeZone }: Props) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(
    () => (place.current ? draw(place.current, { times, values, unit, timeZone }) : undefined),
    [times, values, unit, timeZone],
  )
  return <div class="day-chart" role="img" aria-label={label} ref={place} />
}

/** Draws the chart, as wide as its place and in the colors of the theme, until the function that comes back is called. */
function draw(place: HTMLElement, { times, values, unit, timeZone }: Omit<Props, 'label'>): () => void {
  const color = (name: string) => () => getComputedStyle(place).getPropertyValue(name)
  const axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '13px system-ui, sans-serif',
  }
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: heightPx,
      scales: { y: { range: [0, topOf(values)] } },
      axes: [
        {
          ...axis,
          size: axisPx.times,
          values: (_, moments) => moments.map((seconds) => timeOfDay(seconds * 1000, timeZone)),
        },
        {
          ...axis,
          size: axisPx.values,
          incrs: steps,
          values: (_, ticks) => ticks.map((value) => valueWords(value, unit)),
        },
      ],
      series: [
        { label: words.moment, value: (_, seconds) => (seconds === null ? '' : timeOfDay(seconds * 1000, timeZone)) },
        {
          label: words.value,
          stroke: color('--accent'),
          width: 2,
          points: { show: false },
          value: (_, value) => (value === null ? '' : valueWords(value, unit)),
        },
      ],
      // Ticks at whole hours of the warehouse.
      tzDate: (seconds) => (timeZone ? uPlot.tzDate(new Date(seconds * 1000), timeZone) : new Date(seconds * 1000)),
      cursor: { drag: { x: false, y: false } },
    },
    [times.map((time) => Date.parse(time) / 1000), [...values]],
    place,
  )
  const width = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: heightPx }))
  width.observe(place)
  const theme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => chart.redraw()
  theme.addEventListener('change', redraw)
  return () => {
    width.disconnect()
    theme.removeEventListener('change', redraw)
    chart.destroy()
  }
}
