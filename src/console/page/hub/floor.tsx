import { useRef, useState } from 'preact/hooks'
import { alertWords } from '../i18n/alert-words.ts'
import { locale } from '../i18n/language.ts'
import { follow, go } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { timeOf, useAnswer, useSite } from './ask.ts'
import { type Fleet, pageOf, runsOffered, type Site } from './list.ts'
import { HubPages } from './pages.tsx'
import { HubProblem } from './problem.tsx'
import { hubTexts } from './texts.ts'

const words = hubTexts.floor
const everyMs = 15_000

type Slot = {
  readonly slot: string
  readonly slot_id: number
  readonly isOccupied: boolean
  readonly assetBarcode: string | null
  readonly isVerified?: boolean
  readonly isDisputed?: boolean
  /** null: nothing has ever been there. */
  readonly since: string | null
}

/** The slots of a site, now or at a time of the past. */
export const HubFloor = ({ siteId, at, onLeft }: { siteId: string; at: string; onLeft: () => void }) => {
  const site = useSite(siteId, onLeft, everyMs)
  const path = `/api/hub/sites/${encodeURIComponent(siteId)}/slots`
  const isPast = Number.isFinite(Date.parse(at))
  const asked = isPast ? `${path}?at=${encodeURIComponent(new Date(at).toISOString())}` : path
  const { answer, problem, code } = useAnswer<{ data: readonly Slot[] }>(asked, onLeft, isPast ? undefined : everyMs)
  const [text, setText] = useState('')
  const [wantedPage, setPage] = useState(1)
  const wanted = text.trim().toLowerCase()
  const slots = answer?.data ?? []
  const found = slots.filter((one) => `${one.slot}\n${one.assetBarcode ?? ''}`.toLowerCase().includes(wanted))
  const page = pageOf(found, wantedPage)
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title(site?.name ?? siteId)}</h1>
        {site ? <span class={`hub-mark ${site.standing}`}>{hubTexts.sites.states[site.standing]}</span> : null}
        <p class="muted" role="status">
          {code === 'NOT_FOUND' ? '' : isPast ? words.asOf(timeOf(at, site?.timezone)) : words.asNow}
          {answer && slots.length > 0
            ? ` · ${words.count(slots.filter(({ isOccupied }) => isOccupied).length, slots.length)}`
            : ''}
        </p>
      </div>
      {site && site.leavesBehind > 0 && !isPast ? <p class="card alarm">{words.behind(site.leavesBehind)}</p> : null}
      {site && !isPast
        ? site.unendedLogs.map((log) => (
            <p class="card alarm" key={log}>
              {words.olderLog} <code>gatehouse hub retire --log {log}</code>
            </p>
          ))
        : null}
      {site?.state === 'forked' ? <HubLogs site={site} /> : null}
      {site ? <Gateway site={site} /> : null}
      {code === 'NOT_FOUND' ? null : <Time siteId={siteId} at={isPast ? at : ''} />}
      <HubProblem problem={problem} code={code} unknown={words.unknown} />
      {answer || problem !== '' ? null : <p class="card">{hubTexts.asking}</p>}
      {answer && slots.length === 0 ? <p class="card">{isPast ? words.noneThen : words.none}</p> : null}
      {slots.length > 0 ? (
        <section class="card" aria-label={words.title(site?.name ?? siteId)}>
          <div class="hub-filter">
            <label>
              <span>{words.filter}</span>
              <input
                type="search"
                value={text}
                autocapitalize="none"
                spellcheck={false}
                onInput={(event: Event) => [setText(textOf(event)), setPage(1)]}
              />
            </label>
            <a class="button" href={`${asked}${isPast ? '&' : '?'}format=csv`} download={`floor-${siteId}.csv`}>
              {hubTexts.file}
            </a>
          </div>
          <Slots rows={page.rows} timezone={site?.timezone} />
          {page.pages > 1 ? <HubPages {...page} onPage={setPage} /> : null}
        </section>
      ) : null}
      {site && site.state !== 'forked' ? <HubLogs site={site} /> : null}
    </main>
  )
}

/** Facts that the gateway of the site reports. */
const Gateway = ({ site }: { site: Site }) => {
  const { fleet, version, timezone, config, regions, offered, troubles } = site
  if (!fleet) return null
  const at = (iso: string | null) => (iso === null ? words.unknownYet : timeOf(iso, timezone))
  const facts = [
    [hubTexts.sites.version, version ?? words.unknownYet],
    [words.offered, offered === null || runsOffered(site) ? '' : offered],
    [words.region, regions.join(', ')],
    [words.alerts, fleet.openAlerts === null ? words.alertsMany : fleet.openAlerts.toLocaleString(locale)],
    [words.cameras, words.ofCameras(fleet.cameras.withoutPictures, fleet.cameras.configured)],
    [words.free, fleet.freeBytes === null ? words.unknownYet : words.gib(fleet.freeBytes / 1024 ** 3)],
    [words.certificate, at(fleet.certificateUntil)],
    [words.backup, at(fleet.backupAt)],
    [words.rehearsed, at(fleet.rehearsedAt)],
    [words.config, fleet.configHash.slice(0, 8)],
    [words.differs, config.differsIn.join(', ')],
    [words.changed(at(config.changedAt)), config.changed.join(', ')],
  ] as const
  return (
    <section class="card" aria-labelledby="hub-gateway">
      <h2 id="hub-gateway">{words.gateway}</h2>
      <dl class="hub-facts">
        {facts
          .filter(([, how]) => how !== '')
          .map(([what, how]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{how}</dd>
            </div>
          ))}
      </dl>
      {troubles.length > 0 ? (
        <>
          <h3>{words.troubles}</h3>
          <ul class="hub-gateway-alerts" lang="en">
            {troubles.map(({ message, since }) => (
              <li key={`${message} ${since}`}>
                {message} <span class="muted">{timeOf(since, timezone)}</span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      <GatewayAlerts fleet={fleet} timezone={timezone} />
    </section>
  )
}

/** The newest open alerts of a gateway as texts. It sends their kinds alone, because a message may name people. */
const GatewayAlerts = ({ fleet, timezone }: { fleet: Fleet; timezone: string }) => {
  const { alerts = [], openAlerts } = fleet
  if (alerts.length === 0) return null
  return (
    <>
      <h3>{words.alertsNewest(alerts.length, openAlerts ?? alerts.length)}</h3>
      <ul class="hub-gateway-alerts">
        {alerts.map(({ kind, at }) => (
          <li key={`${kind} ${at}`}>
            <strong>{alertWords(kind).means}</strong> <span class="muted">{timeOf(at, timezone)}</span>
            <p class="muted">
              {words.todo} {alertWords(kind).todo}
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}

const Time = ({ siteId, at }: { siteId: string; at: string }) => {
  const field = useRef<HTMLInputElement>(null)
  const here = `/sites/${encodeURIComponent(siteId)}`
  const show = (event: Event) => {
    event.preventDefault()
    const ms = Date.parse(field.current?.value ?? '')
    if (Number.isFinite(ms)) go(`${here}?at=${encodeURIComponent(new Date(ms).toISOString())}`)
  }
  return (
    <form class="card hub-form" onSubmit={show}>
      <div class="hub-ask">
        <label>
          <span>{words.at}</span>
          <input
            key={at}
            ref={field}
            type="datetime-local"
            step={60}
            defaultValue={at === '' ? '' : localOf(at)}
            required
          />
        </label>
        <button type="submit" class="strong">
          {words.show}
        </button>
        {at === '' ? null : (
          <a class="button" href={here} onClick={follow}>
            {words.now}
          </a>
        )}
      </div>
    </form>
  )
}

/** A time as the field wants it: by the clock of this device. */
function localOf(iso: string): string {
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const Slots = ({ rows, timezone }: { rows: readonly Slot[]; timezone: string | undefined }) => (
  <table class="hub-table hub-rows">
    <thead>
      <tr>
        <th scope="col">{hubTexts.find.slot}</th>
        <th scope="col">{hubTexts.recall.pallet}</th>
        <th scope="col">{words.how}</th>
        <th scope="col">{hubTexts.find.since}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ slot, slot_id, assetBarcode, isVerified, isDisputed, since }) => (
        <tr key={slot_id}>
          <th scope="row">{slot}</th>
          <td>
            {assetBarcode === null ? (
              <span class="muted">{words.empty}</span>
            ) : (
              <a class="code" href={`/find?code=${encodeURIComponent(assetBarcode)}`} onClick={follow}>
                {assetBarcode}
              </a>
            )}
          </td>
          <td>
            {isDisputed ? <span class="hub-mark forked">{words.disputed}</span> : null}
            {isVerified ? hubTexts.find.verified : isVerified === false && !isDisputed ? words.unverified : ''}
          </td>
          <td>{since === null ? words.unknownYet : timeOf(since, timezone)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Leads from a site to what its boxes have signed. */
const HubLogs = ({ site: { logId, earlierLogs, state } }: { site: Site }) => (
  <section class={`card ${state === 'forked' ? 'alarm' : ''}`} aria-labelledby="hub-logs">
    <h2 id="hub-logs">{hubTexts.log.ofSite}</h2>
    <p>{hubTexts.log.ofSiteHint[state]}</p>
    <p class="hub-links">
      <a href={`/logs/${logId}`} onClick={follow}>
        {state === 'forked' ? hubTexts.log.toBoth : hubTexts.log.toNewest}
      </a>
      {earlierLogs.toReversed().map((one, i) => (
        <a key={one} href={`/logs/${one}`} onClick={follow}>
          {hubTexts.log.toEarlier(i + 1)}
        </a>
      ))}
    </p>
  </section>
)
