import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import {
  addressOf,
  type Incident,
  incidentsApi,
  keyOf,
  type Reference,
  type Seen,
  seenOf,
  statusChip,
} from '../data/incident-data.ts'
import type { Permission, SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Acts, Field, Frame, Twice, useActs } from '../kit/acts.tsx'
import { follow } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { KeptPhoto } from '../pictures/kept-photo.tsx'
import { MakePackage } from '../proof/incident-package.tsx'
import { incidentTexts as words } from '../proof/incident-texts.ts'

type Answer = {
  readonly incident: Incident | undefined
  readonly seen: ReadonlyMap<string, Seen>
  readonly timeZone: string | undefined
}

/** One incident: what happened, what is kept for it, its timeline, its package, and what can be done about it. */
export const IncidentPage = ({ id, siteId, caller, onLeft }: ViewProps & { id: string }) => {
  const { answer, problem, reload } = useLive(
    () => load(id),
    ['incident'],
    () => onLeft(texts.signedOut),
    { isAbout: (heard) => heard.kind === 'incident' && heard.data.id === Number(id), comesLive: () => true },
  )
  const acts = useActs(onLeft, reload)
  const incident = answer?.incident
  const may = (permission: Permission) => caller.permissions.includes(permission)
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="incidents"
      back={{ to: '/incidents', words: words.back }}
      name={incident?.title ?? words.one(Number(id))}
      trouble={problem}
      status={answer ? '' : texts.loading}
    >
      {answer && !incident ? <p class="card">{words.noSuch}</p> : null}
      {answer && incident ? (
        <div class="unit-page">
          <div class="unit-side">
            <Facts incident={incident} timeZone={answer.timeZone} />
            <ToDo incident={incident} caller={caller} acts={acts} />
            {may('evidence:read') ? <Package id={incident.id} onLeft={onLeft} /> : null}
          </div>
          <div class="unit-side">
            <Evidence incident={incident} seen={answer.seen} timeZone={answer.timeZone} />
            <Timeline incident={incident} timeZone={answer.timeZone} />
          </div>
        </div>
      ) : null}
    </Frame>
  )
}

async function load(id: string): Promise<Answer> {
  const [incident, warehouses] = await Promise.all([
    ask<Incident>(`${incidentsApi}/${id}`).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined
      throw error
    }),
    get('/api/whms/warehouses', {}),
  ])
  const seen = await seenOf(incident?.evidenceReferences ?? [])
  return { incident, seen, timeZone: warehouses.data[0]?.timezone }
}

const Facts = ({ incident, timeZone }: { incident: Incident; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="incident-facts">
    <h2 id="incident-facts">{words.facts}</h2>
    <p class="goods-chips">
      <span class={`chip ${statusChip[incident.status]}`}>{words.statuses[incident.status]}</span>
      <span class="chip">{words.severities[incident.severity]}</span>
      <span class="chip">{incident.category}</span>
    </p>
    {incident.description === null ? null : <p class="as-written">{incident.description}</p>}
    <p class="muted">
      {words.one(incident.id)}. {words.by(incident.reportedBy, moment(incident.createdAt, timeZone))}
    </p>
    {incident.resolution === null ? null : (
      <p class="as-written">
        <strong>{words.statuses.resolved}:</strong> {incident.resolution}
      </p>
    )}
  </section>
)

const ToDo = ({ incident, caller, acts }: { incident: Incident; caller: SignedIn; acts: Acts }) => {
  const [text, setText] = useState('')
  const [isMissing, setMissing] = useState(false)
  const post = (what: string, body?: unknown) => () =>
    ask(`${incidentsApi}/${incident.id}/${what}`, { method: 'POST', ...(body !== undefined && { body }) })
  const resolve = async () => {
    setMissing(text.trim() === '')
    if (text.trim() === '') return document.getElementById('incident-resolution')?.focus()
    if (await acts.act(post('resolve', { resolution: text.trim() }), words.resolved)) setText('')
  }
  const isClosed = incident.status === 'resolved' || !caller.permissions.includes('incidents:resolve')
  return (
    <section class="card unit-acts" aria-labelledby="incident-acts">
      <h2 id="incident-acts">{words.acts}</h2>
      {incident.status === 'open' && !isClosed ? (
        <Twice
          words={words.investigate}
          sure={words.investigateSure}
          strong
          isBusy={acts.isBusy}
          onSure={() => void acts.act(post('investigate'), words.investigating)}
        />
      ) : null}
      {isClosed ? null : (
        <form onSubmit={(event: Event) => event.preventDefault()}>
          <Field id="incident-resolution" words={words.resolution} value={text} rows={3} most={4000} onText={setText} />
          <p class="problem" role="alert">
            {isMissing && text.trim() === '' ? words.needed : ''}
          </p>
          <Twice words={words.resolve} sure={words.resolveSure} isBusy={acts.isBusy} onSure={() => void resolve()} />
        </form>
      )}
      <button type="button" class="plain" onClick={() => print()}>
        <Icon name="print" /> {words.print}
      </button>
    </section>
  )
}

const Package = ({ id, onLeft }: { id: number; onLeft: (why: string) => void }) => (
  <section class="card unit-acts" aria-labelledby="incident-package">
    <h2 id="incident-package">{words.package}</h2>
    <p>{words.packageWhat}</p>
    <MakePackage strong {...{ id, onLeft }} words={words.packageMake} />
  </section>
)

type EvidenceProps = { incident: Incident; seen: ReadonlyMap<string, Seen>; timeZone: string | undefined }

const Evidence = ({ incident: { evidenceReferences: all, status }, seen, timeZone }: EvidenceProps) => (
  <section class="card" aria-labelledby="incident-evidence">
    <h2 id="incident-evidence">
      {words.evidence} <span class="muted">{all.length}</span>
    </h2>
    <p class="muted">{all.length === 0 ? words.noEvidence : status === 'resolved' ? words.released : words.held}</p>
    <ul class="goods-rows">
      {all.map((one, index) => (
        <li key={`${index} ${keyOf(one)}`}>
          <span class="muted">{words.kinds[one.type] ?? one.type}</span>{' '}
          <Referred reference={one} seen={seen.get(keyOf(one))} timeZone={timeZone} />
        </li>
      ))}
    </ul>
  </section>
)

type ReferredProps = { reference: Reference; seen: Seen | undefined; timeZone: string | undefined }

const Referred = ({ reference, seen, timeZone }: ReferredProps) => {
  const { type, id } = reference
  if (id === null) return <em>{words.erased}</em>
  if (type === 'photo')
    return (
      <span class="incident-photo">
        <KeptPhoto sha256={id} alt={words.photoOf} timeZone={timeZone} isLink />
      </span>
    )
  const address = addressOf(reference, seen)
  const text = referredWords(id, seen, timeZone)
  return address === undefined ? (
    <span class="code">{text}</span>
  ) : (
    <a href={address} onClick={follow}>
      {text}
    </a>
  )
}

function referredWords(id: string, seen: Seen | undefined, timeZone: string | undefined): string {
  const { event, detection } = seen ?? {}
  if (detection) return words.motion(detection.cctvId, moment(detection.timestamp, timeZone))
  if (!event) return id
  return `${words.moves[event.event_type](event.asset_barcode, event.slot_code)}, ${moment(event.timestamp, timeZone)}`
}

const Timeline = ({ incident, timeZone }: { incident: Incident; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="incident-timeline">
    <h2 id="incident-timeline">{words.timeline}</h2>
    <ol class="goods-rows" reversed>
      {incident.history.toReversed().map((step) => (
        <li key={step.eventId}>
          <strong>{words.statuses[step.status]}</strong>
          <p class="muted">
            <time datetime={step.timestamp}>{moment(step.timestamp, timeZone)}</time>, {step.actor},{' '}
            {words.leaf(step.seq)}
          </p>
        </li>
      ))}
    </ol>
  </section>
)
