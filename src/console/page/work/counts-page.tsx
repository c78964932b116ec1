import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import { type Count, countsApi, isEnded, orderOf } from '../data/count-data.ts'
import type { Zone } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Act, Choice, Field, Frame, useActs } from '../kit/acts.tsx'
import { follow, goSent } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { CountPage, chipOf } from './count-page.tsx'
import { countTexts as words } from './count-texts.ts'

/** Counts at `/counts`, and one of them at `/counts/ID`. */
export const View = (props: ViewProps) => {
  const [, id] = /^\/counts\/(\d+)\/?$/.exec(props.pathname) ?? []
  return id === undefined ? <Counts key="list" {...props} /> : <CountPage key={id} id={id} {...props} />
}

type Answer = {
  readonly counts: readonly Count[]
  readonly zones: readonly Zone[]
  readonly timeZone: string | undefined
}

async function load(): Promise<Answer> {
  const [counts, zones, warehouses] = await Promise.all([
    get('/api/whms/counts', {}),
    get('/api/whms/zones', {}),
    get('/api/whms/warehouses', {}),
  ])
  return { counts: counts.data, zones: zones.data, timeZone: warehouses.data[0]?.timezone }
}

const Counts = ({ siteId, caller, onLeft }: ViewProps) => {
  const { answer, problem, reload } = useLive(load, ['event'], () => onLeft(texts.signedOut), { isHeavy: true })
  const acts = useActs(onLeft, reload)
  const counts = answer?.counts ?? []
  const mayOpen = caller.permissions.includes('events:verify')
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="counts"
      name={words.title}
      trouble={problem}
      status={answer ? words.count(counts.length, counts.filter((one) => !isEnded(one)).length) : texts.loading}
    >
      {answer && counts.length === 0 ? (
        <section class="card all-well">
          <Icon name="find" />
          <p>
            <strong>{words.empty}</strong>
          </p>
          <p>{mayOpen ? words.emptyNext : words.emptyOther}</p>
        </section>
      ) : null}
      {counts.length === 0 ? null : (
        <ul class="goods-list">
          {counts.map((one) => (
            <li key={one.id}>
              <Row count={one} timeZone={answer?.timeZone} />
            </li>
          ))}
        </ul>
      )}
      {answer && mayOpen ? (
        <Open zones={answer.zones} act={acts.act} isBusy={acts.isBusy} isOpen={counts.length === 0} />
      ) : null}
    </Frame>
  )
}

const Row = ({ count, timeZone }: { count: Count; timeZone: string | undefined }) => (
  <article class="card" aria-label={words.one(count.id)}>
    <h2>
      <a href={`/counts/${count.id}`} onClick={follow}>
        {words.one(count.id)}
        {count.reference === null ? '' : `: ${count.reference}`}
      </a>
    </h2>
    <p class="goods-chips">
      <span class={`chip ${chipOf[count.state]}`}>{words.states[count.state]}</span>
    </p>
    <p>{words.progress(count.slots.counted, count.slots.total)}</p>
    <p class="muted">{words.by(count.createdBy, moment(count.createdAt, timeZone))}</p>
  </article>
)

const blank = { what: 'all', slots: '', sample: '', reference: '' }
type OpenProps = { zones: readonly Zone[]; act: Act; isBusy: boolean; isOpen: boolean }

const Open = ({ zones, act, isBusy, isOpen }: OpenProps) => {
  const [form, setForm] = useState(blank)
  const [problem, setProblem] = useState('')
  const keep = (name: keyof typeof blank) => (value: string) => setForm((before) => ({ ...before, [name]: value }))
  const open = async () => {
    const order = orderOf(form)
    setProblem(order === 'slots' ? words.slotsMissing : order === 'sample' ? words.sampleWrong : '')
    if (order === 'slots' || order === 'sample') return
    let made: Count | undefined
    const isDone = await act(async () => {
      made = await ask<Count>(countsApi, { method: 'POST', body: order })
    }, '')
    if (isDone && made) goSent(`/counts/${made.id}`)
  }
  const choices = {
    all: words.all,
    ...Object.fromEntries(zones.map(({ id, name }) => [`zone ${id}`, words.zone(name)])),
    slots: words.listed,
  }
  return (
    <details class="card goods-form" open={isOpen}>
      <summary>{words.open}</summary>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void open()
        }}
      >
        <Choice id="count-what" words={words.what} value={form.what} of={choices} onChoice={keep('what')} />
        {form.what === 'slots' ? (
          <Field id="count-slots" words={words.slots} value={form.slots} rows={4} scan="codes" onText={keep('slots')} />
        ) : null}
        <Field
          id="count-sample"
          words={words.sample}
          hint={words.sampleHint}
          value={form.sample}
          most={4}
          onText={keep('sample')}
        />
        <Field
          id="count-reference"
          words={words.reference}
          value={form.reference}
          most={128}
          scan="code"
          onText={keep('reference')}
        />
        <p class="problem wide" role="alert">
          {problem}
        </p>
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.openButton}
        </button>
      </form>
    </details>
  )
}
