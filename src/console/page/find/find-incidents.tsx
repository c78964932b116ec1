import { ask } from '../data/ask.ts'
import { type Incident, incidentsApi, statusChip } from '../data/incident-data.ts'
import type { Page, SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { follow } from '../kit/address.ts'
import { MakePackage } from '../proof/incident-package.tsx'
import { incidentTexts as words } from '../proof/incident-texts.ts'
import { aroundTexts } from './around-texts.ts'

/** So many incidents are listed beside a story. */
const most = 10

type Props = {
  code: string
  caller: SignedIn
  timeZone: string | undefined
  onLeft: (why: string) => void
}

/** The incidents that refer to this pallet, to one of its events or to a photo of it, each with its package of evidence. */
export const IncidentsOf = ({ code, caller, timeZone, onLeft }: Props) => {
  const { answer } = useLive(
    () => ask<Page<Incident>>(`${incidentsApi}?asset_barcode=${encodeURIComponent(code)}&limit=${most}`),
    ['incident'],
    () => {},
    { comesLive: () => true, isUrgent: true },
  )
  if (!answer || answer.data.length === 0) return null
  const { data, pagination } = answer
  return (
    <section class="card" aria-labelledby="incidents-of-title">
      <h2 id="incidents-of-title">{aroundTexts.incidents}</h2>
      {pagination.hasMore ? <p>{aroundTexts.newestIncidents(most)}</p> : null}
      <ul class="goods-rows">
        {data.map((one) => (
          <li key={one.id}>
            <a href={`/incidents/${one.id}`} onClick={follow}>
              {one.title ?? `${words.one(one.id)}: ${one.category}`}
            </a>
            <p class="goods-chips">
              <span class={`chip ${statusChip[one.status]}`}>{words.statuses[one.status]}</span>
              <span class="chip">{words.severities[one.severity]}</span>
              <span class="chip">{one.category}</span>
            </p>
            <p class="muted">{words.by(one.reportedBy, moment(one.createdAt, timeZone))}</p>
            {caller.permissions.includes('evidence:read') ? (
              <div class="find-acts">
                <MakePackage id={one.id} words={words.package} of={words.one(one.id)} onLeft={onLeft} />
              </div>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  )
}
