import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { type Rows, rowsOf } from '../data/rows.ts'
import type { SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { Choice, Field } from '../kit/acts.tsx'
import { follow, go } from '../kit/address.ts'
import { BoxFrame, useBoxActs } from '../kit/box-frame.tsx'
import { boxTexts } from '../kit/box-texts.ts'
import { focusFirst } from '../kit/first-focus.ts'
import { Icon } from '../kit/icons.tsx'
import { type ViewName, type ViewProps, views, viewsFor } from '../kit/views.ts'
import { auditTexts as words } from './audit-texts.ts'
import {
  type AuditEntry,
  type AuditFilter,
  actionWords,
  addressOf,
  changesOf,
  filterOf,
  queryOf,
  thingWords,
  whoWords,
} from './audit-words.ts'
import { trailTexts } from './trail-texts.ts'

const pageSize = 50

/** The audit trail at `/audit`; what it is narrowed to is in the address. */
export const View = (props: ViewProps) => {
  const filter = filterOf(props.asked)
  return <Trail key={addressOf(filter)} filter={filter} {...props} />
}

type Answer = { readonly trail: Rows<AuditEntry>; readonly timeZone: string | undefined }

const Trail = ({ siteId, caller, filter, onLeft }: ViewProps & { filter: AuditFilter }) => {
  const limit = useRef(pageSize)
  const load = async (): Promise<Answer> => {
    const { data } = await get('/api/whms/warehouses', {})
    const timeZone = data[0]?.timezone
    const path = `/api/governance/audit?${queryOf(filter, timeZone)}`
    return { trail: await rowsOf<AuditEntry>(path, limit.current ?? pageSize), timeZone }
  }
  const { answer, ...asking } = useLive(load, [], () => onLeft(texts.signedOut))
  const acts = useBoxActs(onLeft, asking.reload)
  useEffect(() => {
    // Another filter is another list: who uses the keyboard goes on reading at its title.
    focusFirst(acts.title.current)
  }, [])
  const rows = answer?.trail.rows ?? []
  const isNarrowed = addressOf(filter) !== '/audit'
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="audit"
      heading={words.title}
      said={answer && words.count(rows.length, answer.trail.total)}
      stale={asking.problem}
    >
      <Narrow filter={filter} isNarrowed={isNarrowed} />
      {answer && rows.length === 0 ? <Nothing isNarrowed={isNarrowed} /> : null}
      {rows.length === 0 ? null : (
        <section class="card" aria-label={words.title}>
          <ul class="box-list">
            {rows.map((entry) => (
              <Entry key={entry.id} entry={entry} timeZone={answer?.timeZone} caller={caller} />
            ))}
          </ul>
          <p class="box-acts no-print">
            <a
              class="button"
              href={`/api/governance/audit/export?${[queryOf(filter, answer?.timeZone), 'bom=true'].filter(Boolean).join('&')}`}
              download="audit.csv"
            >
              {words.download}
            </a>
          </p>
          {answer?.trail.hasMore ? (
            <button
              type="button"
              onClick={() => {
                limit.current = (limit.current ?? pageSize) + pageSize
                asking.reload()
              }}
            >
              {boxTexts.older}
            </button>
          ) : null}
        </section>
      )}
    </BoxFrame>
  )
}

const Nothing = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <p class="card">{words.noneLike}</p>
  ) : (
    <section class="card all-well">
      <Icon name="proof" />
      <p>
        <strong>{words.none}</strong>
      </p>
      <p>{words.noneNext}</p>
    </section>
  )

/** Choices by their words, in the order of the alphabet; also one that the address alone knows. */
function choicesOf(known: Readonly<Record<string, string>>, chosen: string): Readonly<Record<string, string>> {
  const named = Object.entries(known).toSorted(([, a], [, b]) => a.localeCompare(b, locale))
  const unknown = chosen === '' || Object.hasOwn(known, chosen) ? [] : [[chosen, chosen]]
  return Object.fromEntries([['', words.all], ...unknown, ...named])
}

const Narrow = ({ filter, isNarrowed }: { filter: AuditFilter; isNarrowed: boolean }) => {
  const [form, setForm] = useState(filter)
  const [problem, setProblem] = useState('')
  const keep = (name: keyof AuditFilter) => (value: string) => setForm((before) => ({ ...before, [name]: value }))
  const show = (event: Event) => {
    event.preventDefault()
    const isTurned = form.from !== '' && form.to !== '' && form.from > form.to
    setProblem(isTurned ? words.wrongSpan : '')
    if (!isTurned) go(addressOf(form))
  }
  return (
    <details class="card goods-form" open={hasRoom()}>
      <summary>
        <h2>{words.narrow}</h2>
        {isNarrowed ? <span class="chip">{words.narrowed(Object.values(filter).filter(Boolean).length)}</span> : null}
      </summary>
      <form onSubmit={show} data-filter>
        <Field
          id="audit-operator"
          type="search"
          words={words.person}
          hint={words.personHint}
          value={form.operator}
          most={512}
          scan="code"
          onText={keep('operator')}
        />
        <Choice
          id="audit-action"
          words={words.action}
          value={form.action}
          of={choicesOf(trailTexts.actions, form.action)}
          onChoice={keep('action')}
        />
        <Choice
          id="audit-entity"
          words={words.thing}
          value={form.entity}
          of={choicesOf(trailTexts.entities, form.entity)}
          onChoice={keep('entity')}
        />
        <Field
          id="audit-id"
          type="search"
          words={words.id}
          value={form.entity_id}
          most={128}
          scan="code"
          onText={keep('entity_id')}
        />
        <Field id="audit-from" words={words.from} type="date" value={form.from} onText={keep('from')} />
        <Field id="audit-to" words={words.to} type="date" value={form.to} onText={keep('to')} />
        <p class="problem wide" role="alert">
          {problem}
        </p>
        <p class="wide box-acts">
          <button type="submit" class="strong">
            {words.show}
          </button>
          {isNarrowed ? (
            <a class="button" href="/audit" onClick={follow}>
              {words.everything}
            </a>
          ) : null}
        </p>
      </form>
    </details>
  )
}

/** Six fields, one below the other, are more than the screen of a phone. */
const hasRoom = () => matchMedia('(min-width: 600px)').matches

/** Views that have a page for one thing, by the kind of thing. */
const pages: Partial<Record<AuditEntry['entity'], ViewName>> = {
  transport_unit: 'units',
  incident: 'incidents',
  report: 'reports',
  count: 'counts',
  camera: 'cameras',
  webhook: 'webhooks',
}

/** Returns the address of the thing that an entry is about; undefined where there is none that the caller may see. */
function pageOf({ entity, entityId, action }: AuditEntry, caller: SignedIn): string | undefined {
  if (entityId === null || action.endsWith('.deleted')) return undefined
  if (entity === 'slot') return `/?slot=${encodeURIComponent(entityId)}`
  const view = pages[entity]
  return view && viewsFor(caller).includes(view) ? `${views[view].address}/${encodeURIComponent(entityId)}` : undefined
}

type EntryProps = { entry: AuditEntry; timeZone: string | undefined; caller: SignedIn }

const Entry = ({ entry, timeZone, caller }: EntryProps) => {
  const { timestamp, entity, entityId, action } = entry
  const changes = changesOf(entry, timeZone)
  const thing = thingWords(entry)
  const page = pageOf(entry, caller)
  const person = entry.operator ?? entry.actor
  return (
    <li>
      <p class="box-what">
        <Said words={actionWords(action)} /> <span class="muted">{exactTime(timestamp, timeZone)}</span>
      </p>
      <p>
        {whoWords(entry)} · {thing}
      </p>
      {changes.length === 0 ? null : (
        <dl class="box-facts">
          {changes.map(({ name, before, after }) => (
            <>
              <dt>
                <Said words={name} />
              </dt>
              <dd>
                <Said words={before === undefined ? after : words.change(before, after)} />
              </dd>
            </>
          ))}
        </dl>
      )}
      <Origin entry={entry}>
        <p class="box-acts">
          {person === null ? null : <Link to={addressOf({ operator: person })} text={words.filterOf(person)} />}
          {entityId === null ? null : (
            <Link to={addressOf({ entity, entity_id: entityId })} text={words.filterOf(thing)} />
          )}
          {page === undefined ? null : <Link to={page} text={words.open(thing)} />}
        </p>
      </Origin>
    </li>
  )
}

const Link = ({ to, text }: { to: string; text: string }) => (
  <a class="button plain" href={to} onClick={follow}>
    {text}
  </a>
)

type OriginProps = { entry: AuditEntry; children?: ComponentChildren }

const Origin = ({ entry: { id, address, requestId, authMode, instance }, children }: OriginProps) => {
  const facts = [
    [words.entry, String(id)],
    [words.address, address],
    [words.request, requestId],
    [words.mode, authMode],
    [words.instance, instance],
  ] as const
  return (
    <details>
      <summary>{words.origin}</summary>
      <dl class="box-facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <>
              <dt>{name}</dt>
              <dd class="code">{value}</dd>
            </>
          ),
        )}
      </dl>
      {children}
    </details>
  )
}
