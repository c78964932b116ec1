import { useState } from 'preact/hooks'
import { locale } from '../i18n/language.ts'
import { follow, goInstead } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { Icon } from '../kit/icons.tsx'
import { agoOf, useAnswer } from './ask.ts'
import {
  type Column,
  columns,
  countsOf,
  type Kind,
  kinds,
  listed,
  offersOf,
  pageOf,
  regionsOf,
  runsOffered,
  type Site,
  type Wanted,
} from './list.ts'
import { HubPages } from './pages.tsx'
import { hubTexts } from './texts.ts'

const words = hubTexts.sites
const everyMs = 15_000

/** Every site, the worst first; what is chosen is in the address, so that it can be shared. */
export const HubSites = ({ query, onLeft }: { query: URLSearchParams; onLeft: () => void }) => {
  const { answer, problem } = useAnswer<{ data: readonly Site[] }>('/api/hub/sites', onLeft, everyMs)
  const [text, setText] = useState(query.get('q') ?? '')
  const wanted: Wanted = {
    text,
    kind: kinds.find((one) => one === query.get('show')) ?? 'all',
    region: query.get('region') ?? '',
    by: columns.find((one) => one === query.get('by')) ?? 'state',
    isDown: query.has('down'),
  }
  const change = (next: Partial<Record<'q' | 'show' | 'region' | 'by' | 'down' | 'page', string | undefined>>) => {
    const changed = new URLSearchParams(query)
    changed.delete('page')
    for (const [key, value] of Object.entries(next)) {
      if (value === undefined || value === '') changed.delete(key)
      else changed.set(key, value)
    }
    goInstead(`/${changed.size > 0 ? `?${changed}` : ''}`)
  }
  const all = answer?.data ?? []
  const found = listed(all, wanted)
  const page = pageOf(found, Number(query.get('page') ?? 1) || 1)
  const forks = all.filter(({ standing }) => standing === 'forked').length
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title}</h1>
        <p class="muted" role="status">
          {answer ? words.shown(found.length, all.length) : problem || hubTexts.asking}
        </p>
      </div>
      {answer && problem ? <p class="card alarm">{hubTexts.stale(problem)}</p> : null}
      {forks > 0 ? (
        <p class="card alarm" role="alert">
          <Icon name="warning" /> {words.forks(forks)}
        </p>
      ) : null}
      {answer && all.length === 0 ? <p class="card">{words.none}</p> : null}
      {offersOf(all).map((offer) => (
        <p key={offer.version} class="card">
          {words.offer(offer.version, offer.sites, offer.running)}
          {offer.waitsFor.length > 0 ? ` ${words.offerWaits(offer.waitsFor)}` : null}
        </p>
      ))}
      {all.length > 0 ? (
        <section class="card" aria-label={words.title}>
          <Counts all={all} wanted={wanted} onChange={change} />
          <Filter
            text={text}
            kind={wanted.kind}
            region={wanted.region}
            regions={regionsOf(all)}
            file={fileOf(wanted)}
            onText={(next) => [setText(next), change({ q: next })]}
            onChange={change}
          />
          {found.length === 0 ? (
            <p class="blank">
              {words.noneFound}{' '}
              <a href="/" onClick={(event: MouseEvent) => [setText(''), follow(event)]}>
                {words.showAll}
              </a>
            </p>
          ) : (
            <Table rows={page.rows} wanted={wanted} onChange={change} />
          )}
          {page.pages > 1 ? <HubPages {...page} onPage={(to) => change({ page: String(to) })} /> : null}
        </section>
      ) : null}
    </main>
  )
}

type Change = (next: Partial<Record<'q' | 'show' | 'region' | 'by' | 'down' | 'page', string | undefined>>) => void

/** Address of the file with the sites that are shown. */
function fileOf({ text, kind, region }: Wanted): string {
  const query = new URLSearchParams({
    ...(text.trim() !== '' && { q: text.trim() }),
    ...(kind !== 'all' && { show: kind }),
    ...(region !== '' && { region }),
    format: 'csv',
  })
  return `/api/hub/sites?${query}`
}

/** How many sites of the region and the text are in which state; each leads to those. */
const Counts = ({ all, wanted, onChange }: { all: readonly Site[]; wanted: Wanted; onChange: Change }) => (
  <ul class="hub-counts" aria-label={words.counts}>
    {countsOf(all, wanted).map(({ kind, count }) => (
      <li key={kind}>
        <button
          type="button"
          class={`hub-mark ${kind}`}
          aria-pressed={kind === wanted.kind ? 'true' : 'false'}
          onClick={() => onChange({ show: kind === wanted.kind ? undefined : kind })}
        >
          {count.toLocaleString(locale)} {kind === 'trouble' ? words.withProblem : words.states[kind]}
        </button>
      </li>
    ))}
  </ul>
)

type FilterProps = {
  text: string
  kind: Kind
  region: string
  regions: readonly string[]
  file: string
  onText: (text: string) => void
  onChange: Change
}

const Filter = (props: FilterProps) => (
  <div class="hub-filter">
    <label>
      <span>{words.filter}</span>
      <input
        type="search"
        value={props.text}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event: Event) => props.onText(textOf(event))}
      />
    </label>
    <label>
      <span>{words.show}</span>
      <select onInput={(event: Event) => props.onChange({ show: textOf(event) })}>
        {kinds.map((one) => (
          <option key={one} value={one === 'all' ? '' : one} selected={one === props.kind}>
            {one === 'all' || one === 'trouble' || one === 'behind' || one === 'drift'
              ? words.kinds[one]
              : words.states[one]}
          </option>
        ))}
      </select>
    </label>
    {props.regions.length > 0 ? (
      <label>
        <span>{words.region}</span>
        <select onInput={(event: Event) => props.onChange({ region: textOf(event) })}>
          <option value="">{words.anyRegion}</option>
          {props.regions.map((one) => (
            <option key={one} value={one} selected={one === props.region}>
              {one}
            </option>
          ))}
        </select>
      </label>
    ) : null}
    <a class="button" href={props.file} download="sites.csv">
      {hubTexts.file}
    </a>
  </div>
)

const Table = ({ rows, wanted, onChange }: { rows: readonly Site[]; wanted: Wanted; onChange: Change }) => (
  <section class="scroller" tabindex={0} aria-label={words.table}>
    <table class="hub-table hub-rows hub-sorted">
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column} column={column} wanted={wanted} onChange={onChange} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((site) => (
          <Row key={site.siteId} site={site} />
        ))}
      </tbody>
    </table>
  </section>
)

/** A phone has room for what to look after, and leads to the rest. */
const classOf: Partial<Record<Column, string>> = {
  size: 'number hub-wide',
  alerts: 'number hub-wide',
  version: 'hub-wide',
}

const Head = ({ column, wanted, onChange }: { column: Column; wanted: Wanted; onChange: Change }) => {
  const isSorted = wanted.by === column
  const sort = isSorted ? (wanted.isDown ? 'descending' : 'ascending') : undefined
  const turn = () => onChange({ by: column, down: isSorted && !wanted.isDown ? '1' : undefined })
  return (
    <th scope="col" aria-sort={sort} class={classOf[column]}>
      <button type="button" class="plain" aria-label={words.sortedBy(words[column])} onClick={turn}>
        {words[column]}
        <span aria-hidden="true">{sort === undefined ? '' : wanted.isDown ? ' ↓' : ' ↑'}</span>
      </button>
    </th>
  )
}

/** In words; the mark of the state says the others. */
const notesOf = ({ problems }: Site) => problems.flatMap(({ kind, amount }) => words.notes[kind]?.(amount) ?? [])

const Row = ({ site }: { site: Site }) => {
  const { standing: state } = site
  const notes = notesOf(site)
  return (
    <tr class={`hub-${state}`}>
      <td>
        <span class={`hub-mark ${state}`}>{words.states[state]}</span>
        {notes.length > 0 ? <p class="hub-trouble">{notes.join(' · ')}</p> : null}
        {site.config.differsIn.length > 0 ? (
          <p class="hub-trouble">{words.differs(site.config.differsIn.join(', '))}</p>
        ) : null}
        {site.troubles.length > 0 ? (
          <p class="hub-trouble" lang="en">
            {site.troubles[0]?.message}
          </p>
        ) : null}
      </td>
      <th scope="row">
        <a href={`/sites/${encodeURIComponent(site.siteId)}`} onClick={follow}>
          {site.name}
        </a>
        {site.name === site.siteId ? null : <span class="muted code"> {site.siteId}</span>}
      </th>
      <td>{site.lagSeconds === null ? words.never : agoOf(site.lagSeconds)}</td>
      <td class="number hub-wide">{site.size.toLocaleString(locale)}</td>
      <td class="number hub-wide">
        {site.openAlerts === 0 ? (
          '0'
        ) : (
          <a href="/alerts" onClick={follow}>
            {site.openAlerts}
          </a>
        )}
      </td>
      <td class="hub-wide">
        {site.version ?? '–'}
        {site.offered === null || runsOffered(site) ? null : <p class="hub-trouble">{words.offered(site.offered)}</p>}
      </td>
    </tr>
  )
}
