import { ask } from '../data/ask.ts'
import { keysOf } from '../data/parsing.ts'
import type { List, Warehouse } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { spanWords } from '../i18n/story-words.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { follow } from '../kit/address.ts'
import { BoxFrame, useBoxActs } from '../kit/box-frame.tsx'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { DayChart } from './day-chart.tsx'
import { type ChartName, charts, extentOf, type Figures, valueWords } from './day-figures.ts'
import { systemTexts as words } from './system-texts.ts'

type Status = 'healthy' | 'degraded' | 'unhealthy'
type Check = {
  readonly status: Status
  readonly reason?: string
  readonly configured?: boolean
  readonly synchronized?: boolean | null
  readonly source?: string
  readonly offsetMs?: number | null
  readonly newestAt?: string | null
  readonly rehearsedAt?: string | null
  readonly segmentsAt?: string | null
  readonly segmentsRehearsedAt?: string | null
}
type Health = {
  readonly status: Status
  readonly uptime: number
  readonly version: string
  readonly checks: Readonly<Record<string, Check>>
}
type Part = keyof typeof words.parts

const parts = keysOf(words.parts)
/** Words for parts that a box may do without. */
const unusedWords: Readonly<Partial<Record<Part, string>>> = words.unused
const icons = { ok: 'verified', warn: 'warning', danger: 'warning', unused: 'farther' } as const
const tones = { healthy: 'ok', degraded: 'warn', unhealthy: 'danger' } as const

/** How the box is, at `/system`: each part in words, and the figures of the last day. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const { answer, ...asking } = useLive(load, ['health'], () => onLeft(texts.signedOut))
  const acts = useBoxActs(onLeft, asking.reload)
  const mayReadAlerts = caller.permissions.includes('alerts:read')
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="system"
      heading={words.title}
      said={answer && words.state[wholeOf(answer.health)]}
      stale={asking.problem}
    >
      {answer ? (
        <>
          <section class="card" aria-labelledby="system-parts">
            <div class="card-head">
              <h2 id="system-parts">{words.checks}</h2>
              <p class="muted">
                {words.version} {answer.health.version} · {words.uptime} {spanWords(answer.health.uptime * 1000)}
              </p>
            </div>
            <ul class="system-parts">
              {parts.map((part) => (
                <PartOf
                  key={part}
                  part={part}
                  check={answer.health.checks[part]}
                  timeZone={answer.timeZone}
                  mayReadAlerts={mayReadAlerts}
                />
              ))}
            </ul>
          </section>
          <Charts day={answer.day} timeZone={answer.timeZone} />
        </>
      ) : null}
    </BoxFrame>
  )
}

/** A webhook that fails leaves the gateway healthy, but a person who looks has something to do. */
const wholeOf = ({ status, checks }: Health): Status =>
  status === 'healthy' && Object.values(checks).some((check) => check.status !== 'healthy') ? 'degraded' : status

async function load() {
  const [health, day, warehouses] = await Promise.all([
    ask<Health>('/api/health'),
    ask<Figures>('/api/metrics/day'),
    ask<List<Warehouse>>('/api/whms/warehouses'),
  ])
  return { health, day, timeZone: warehouses.data[0]?.timezone }
}

type PartProps = {
  part: Part
  check: Check | undefined
  timeZone: string | undefined
  mayReadAlerts: boolean
}

const PartOf = ({ part, check, timeZone, mayReadAlerts }: PartProps) => {
  if (!check) return null
  const facts = factsOf(part, check, timeZone)
  // Nothing is broken, but to call it well would be untrue.
  const unused = check.configured === false && check.status === 'healthy' ? unusedWords[part] : undefined
  const tone = unused === undefined ? tones[check.status] : part === 'backup' ? 'warn' : 'unused'
  return (
    <li class={`system-part ${tone}`}>
      <h3>
        <Icon name={icons[tone]} /> {words.parts[part]}{' '}
        <span class={`chip ${tone}`}>{unused === undefined ? words.chip[check.status] : words.none}</span>
      </h3>
      {check.status === 'healthy' ? <p>{unused ?? words.well[part]}</p> : <p lang="en">{check.reason}</p>}
      {facts.length === 0 ? null : (
        <dl class="box-facts">
          {facts.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      )}
      {check.status === 'healthy' || !mayReadAlerts ? null : (
        <p>
          <a class="button" href="/alerts" onClick={follow}>
            {words.toAlerts}
          </a>
        </p>
      )}
    </li>
  )
}

type Fact = readonly [name: string, value: string]

function factsOf(part: Part, check: Check, timeZone: string | undefined): readonly Fact[] {
  if (part === 'clock') {
    const { synchronized, source, offsetMs } = check
    const synced = synchronized === true ? words.yes : synchronized === false ? words.no : words.unknown
    const offset: Fact[] = typeof offsetMs === 'number' ? [[words.offset, `${Math.round(offsetMs)} ms`]] : []
    return [[words.clockSynced, synced], [words.clockSource, source ?? words.unknown], ...offset]
  }
  if (part !== 'backup') return []
  const { newestAt, rehearsedAt, segmentsAt, segmentsRehearsedAt } = check
  const times = [
    [words.backupNewest, newestAt],
    [words.backupRehearsed, rehearsedAt],
    [words.segments, segmentsAt],
    [words.segmentsRehearsed, segmentsRehearsedAt],
  ] as const
  return times.flatMap(([name, at]): Fact[] =>
    at === undefined ? [] : [[name, at === null ? words.never : exactTime(at, timeZone)]],
  )
}

const Charts = ({ day, timeZone }: { day: Figures; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="system-charts">
    <h2 id="system-charts">{words.charts}</h2>
    {day.times.length < 2 ? (
      <p class="blank">{words.chartsNone}</p>
    ) : (
      <ul class="system-charts">
        {keysOf(charts).map((name) => (
          <Chart key={name} name={name} day={day} timeZone={timeZone} />
        ))}
      </ul>
    )}
  </section>
)

const Chart = ({ name, day, timeZone }: { name: ChartName; day: Figures; timeZone: string | undefined }) => {
  const values = day.figures[name] ?? []
  const unit = charts[name]
  const extent = extentOf(values)
  const say = (value: number) => valueWords(value, unit)
  const range = (least: string, most: string) => (least === most ? words.same : words.range(least, most))
  const said = extent && `${words.now(say(extent.now))}, ${range(say(extent.least), say(extent.most))}`
  return (
    <li>
      <h3>{words.chart[name]}</h3>
      {said ? (
        <>
          <DayChart {...{ values, unit, timeZone }} times={day.times} label={`${words.chart[name]}: ${said}`} />
          <p class="muted">{said}</p>
        </>
      ) : (
        <p class="blank">{words.noSensor}</p>
      )}
    </li>
  )
}
