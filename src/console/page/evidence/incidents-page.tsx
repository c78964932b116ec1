import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import { askNewest } from '../data/asking.ts'
import { type Incident, incidentsApi, referencesIn, statusChip } from '../data/incident-data.ts'
import type { Page } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Act, Choice, Field, Frame, More, pageSize, useActs } from '../kit/acts.tsx'
import { follow, goInstead, goSent } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { incidentTexts as words } from '../proof/incident-texts.ts'
import { IncidentPage } from './incident-page.tsx'

/** Incidents at `/incidents`, and one of them at `/incidents/ID`. */
export const View = (props: ViewProps) => {
  const [, id] = /^\/incidents\/(\d+)\/?$/.exec(props.pathname) ?? []
  if (id !== undefined) return <IncidentPage key={id} id={id} {...props} />
  const status = props.asked.get('status') ?? 'all'
  const severity = props.asked.get('severity') ?? 'all'
  const about = props.asked.get('about') ?? ''
  return <Incidents key={`${status} ${severity} ${about}`} {...{ status, severity, about }} {...props} />
}

type Answer = { readonly page: Page<Incident>; readonly timeZone: string | undefined }

type ListProps = ViewProps & {
  status: string
  severity: string
  /** References for a new report; empty: nothing yet. */
  about: string
}

const Incidents = ({ siteId, caller, status, severity, about, onLeft }: ListProps) => {
  const query = new URLSearchParams({
    ...(status !== 'all' && { status }),
    ...(severity !== 'all' && { severity }),
  }).toString()
  const wanted = useRef(pageSize)
  const { answer, problem, reload } = useLive(
    async (): Promise<Answer> => {
      const [page, warehouses] = await Promise.all([
        askNewest<Incident>(`${incidentsApi}${query && `?${query}`}`, wanted.current ?? pageSize),
        get('/api/whms/warehouses', {}),
      ])
      return { page, timeZone: warehouses.data[0]?.timezone }
    },
    ['incident'],
    () => onLeft(texts.signedOut),
    { comesLive: () => true },
  )
  const acts = useActs(onLeft, reload)
  const rows = answer?.page.data ?? []
  const hasMore = answer?.page.pagination.hasMore ?? false
  const choose = (name: string, value: string) => {
    const chosen = new URLSearchParams(query)
    if (value === 'all') chosen.delete(name)
    else chosen.set(name, value)
    goInstead(`/incidents${chosen.size === 0 ? '' : `?${chosen}`}`)
  }
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="incidents"
      name={words.title}
      trouble={problem}
      status={answer ? words.count(rows.length, hasMore) : texts.loading}
    >
      <div class="goods-filter two">
        <Choice
          id="incident-status"
          words={words.status}
          value={status}
          of={words.statuses}
          onChoice={(value) => choose('status', value)}
        />
        <Choice
          id="incident-severity"
          words={words.severity}
          value={severity}
          of={words.severities}
          onChoice={(value) => choose('severity', value)}
        />
      </div>
      {answer && rows.length === 0 && query !== '' ? <p class="card">{words.noneLike}</p> : null}
      {answer && rows.length === 0 && query === '' ? <Empty /> : null}
      {rows.length === 0 ? null : (
        <ul class="goods-list">
          {rows.map((one) => (
            <li key={one.id}>
              <Row incident={one} timeZone={answer?.timeZone} />
            </li>
          ))}
        </ul>
      )}
      {hasMore ? <More {...{ wanted, reload }} words={words.more} /> : null}
      {answer && caller.permissions.includes('incidents:create') ? (
        <Report act={acts.act} isBusy={acts.isBusy} about={about} isOpen={rows.length === 0 && query === ''} />
      ) : null}
    </Frame>
  )
}

const Empty = () => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{words.empty}</strong>
    </p>
    <p>{words.emptyNext}</p>
  </section>
)

const severityChip = { low: '', medium: 'warn', high: 'danger', critical: 'danger' } as const

const Row = ({ incident, timeZone }: { incident: Incident; timeZone: string | undefined }) => (
  <article class={`card incident ${incident.severity}`} aria-label={words.one(incident.id)}>
    <h2>
      <a href={`/incidents/${incident.id}`} onClick={follow}>
        {incident.title ?? `${words.one(incident.id)}: ${incident.category}`}
      </a>
    </h2>
    <p class="goods-chips">
      <span class={`chip ${statusChip[incident.status]}`}>{words.statuses[incident.status]}</span>
      <span class={`chip ${severityChip[incident.severity]}`}>{words.severities[incident.severity]}</span>
      <span class="chip">{incident.category}</span>
    </p>
    <p class="muted">{words.by(incident.reportedBy, moment(incident.createdAt, timeZone))}</p>
  </article>
)

const blank = { severity: 'medium', category: '', title: '', description: '', references: '' }

type ReportProps = { act: Act; isBusy: boolean; isOpen: boolean; about: string }

const Report = ({ act, isBusy, isOpen, about }: ReportProps) => {
  const [form, setForm] = useState({ ...blank, references: about })
  // A person who came to report something can type at once.
  useEffect(() => {
    if (about !== '') document.getElementById('report-category')?.focus()
  }, [])
  const keep = (name: keyof typeof blank) => (value: string) => setForm((before) => ({ ...before, [name]: value }))
  const report = async () => {
    const { references, severity, category, title, description } = form
    const body = {
      severity,
      category: category.trim(),
      evidenceReferences: referencesIn(references),
      ...(title.trim() && { title: title.trim() }),
      ...(description.trim() && { description: description.trim() }),
    }
    let made: Incident | undefined
    const isDone = await act(async () => {
      made = await ask<Incident>(incidentsApi, { method: 'POST', body })
    }, '')
    if (!isDone || !made) return
    setForm(blank)
    goSent(`/incidents/${made.id}`)
  }
  return (
    <details class="card goods-form" open={isOpen || about !== ''}>
      <summary>{words.report}</summary>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void report()
        }}
      >
        <Choice
          id="report-severity"
          words={words.severity}
          value={form.severity}
          of={Object.fromEntries(Object.entries(words.severities).filter(([key]) => key !== 'all'))}
          onChoice={keep('severity')}
        />
        <Field
          id="report-category"
          words={words.category}
          hint={words.categoryHint}
          value={form.category}
          required
          most={64}
          onText={keep('category')}
        />
        <Field id="report-title" words={words.titleField} value={form.title} most={200} onText={keep('title')} />
        <Field
          id="report-description"
          words={words.description}
          value={form.description}
          rows={3}
          most={4000}
          onText={keep('description')}
        />
        <Field
          id="report-references"
          words={words.references}
          hint={words.referencesHint}
          value={form.references}
          rows={3}
          scan="references"
          onText={keep('references')}
        />
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.reportButton}
        </button>
      </form>
    </details>
  )
}
