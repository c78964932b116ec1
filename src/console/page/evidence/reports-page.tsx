import { useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, gatewayNow } from '../data/ask.ts'
import { askNewest } from '../data/asking.ts'
import type { Page } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Act, Field, Frame, More, pageSize, useActs } from '../kit/acts.tsx'
import { follow, goSent } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { type ReportItem, ReportPage, reportsApi } from './report-page.tsx'
import { quickDays, spanOf } from './report-span.ts'
import { reportTexts as words } from './report-texts.ts'

/** Compliance reports at `/reports`, and one of them at `/reports/ID`. */
export const View = (props: ViewProps) => {
  const [, id] = /^\/reports\/(\d+)\/?$/.exec(props.pathname) ?? []
  return id === undefined ? <Reports key="list" {...props} /> : <ReportPage key={id} id={id} {...props} />
}

type Answer = { readonly page: Page<ReportItem>; readonly timeZone: string | undefined }

async function load(wanted: number): Promise<Answer> {
  const [page, warehouses] = await Promise.all([
    askNewest<ReportItem>(reportsApi, wanted),
    get('/api/whms/warehouses', {}),
  ])
  return { page, timeZone: warehouses.data[0]?.timezone }
}

const Reports = ({ siteId, caller, onLeft }: ViewProps) => {
  const wanted = useRef(pageSize)
  const { answer, problem, reload } = useLive(
    () => load(wanted.current ?? pageSize),
    [],
    () => onLeft(texts.signedOut),
  )
  const acts = useActs(onLeft, reload)
  const rows = answer?.page.data ?? []
  const hasMore = answer?.page.pagination.hasMore ?? false
  const mayMake = caller.permissions.includes('reports:create')
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="reports"
      name={words.title}
      trouble={problem}
      status={answer ? words.count(rows.length, hasMore) : texts.loading}
    >
      {answer && mayMake ? <Make act={acts.act} isBusy={acts.isBusy} timeZone={answer.timeZone} /> : null}
      {answer && rows.length === 0 ? (
        <section class="card all-well">
          <Icon name="print" />
          <p>
            <strong>{words.empty}</strong>
          </p>
          <p>{mayMake ? words.emptyNext : words.emptyOther}</p>
        </section>
      ) : null}
      {rows.length === 0 ? null : (
        <ul class="goods-list">
          {rows.map((one) => (
            <li key={one.id}>
              <article class="card" aria-label={words.one(one.id)}>
                <h2>
                  <a href={`/reports/${one.id}`} onClick={follow}>
                    {words.span(moment(one.from, answer?.timeZone), moment(one.to, answer?.timeZone))}
                  </a>
                </h2>
                <p class="muted">{words.by(one.createdBy, moment(one.createdAt, answer?.timeZone))}</p>
              </article>
            </li>
          ))}
        </ul>
      )}
      {hasMore ? <More {...{ wanted, reload }} words={words.more} /> : null}
    </Frame>
  )
}

const choices = ['yesterday', 'week', 'month'] as const

const Make = ({ act, isBusy, timeZone }: { act: Act; isBusy: boolean; timeZone: string | undefined }) => {
  const [days, setDays] = useState(() => quickDays('week', gatewayNow(), timeZone))
  const [problem, setProblem] = useState('')
  const make = async () => {
    const span = spanOf(days, timeZone)
    setProblem(span ? '' : days.from && days.to ? words.wrongSpan : words.noDay)
    if (!span) return
    let made: ReportItem | undefined
    const isDone = await act(async () => {
      made = await ask<ReportItem>(reportsApi, { method: 'POST', body: span })
    }, '')
    if (isDone && made) goSent(`/reports/${made.id}`)
  }
  return (
    <section class="card goods-form" aria-labelledby="report-make">
      <h2 id="report-make">{words.make}</h2>
      <p class="muted">{words.what}</p>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Field
          id="report-from"
          words={words.from}
          type="date"
          value={days.from}
          onText={(from) => setDays((before) => ({ ...before, from }))}
        />
        <Field
          id="report-to"
          words={words.to}
          type="date"
          value={days.to}
          onText={(to) => setDays((before) => ({ ...before, to }))}
        />
        <p class="wide task-acts">
          {choices.map((choice) => (
            <button key={choice} type="button" onClick={() => setDays(quickDays(choice, gatewayNow(), timeZone))}>
              {words.quick[choice]}
            </button>
          ))}
        </p>
        <p class="problem wide" role="alert">
          {problem}
        </p>
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.makeButton}
        </button>
      </form>
    </section>
  )
}
