import { useEffect, useRef, useState } from 'preact/hooks'
import { follow, go } from '../kit/address.ts'
import { type SiteFacts, useAnswer, useSiteFacts } from './ask.ts'
import { pastedOf } from './list.ts'
import { hubTexts } from './texts.ts'

const words = hubTexts.recall

type Pallet = {
  readonly siteId: string
  readonly asset_barcode: string
  /** Null: no site that has the lot of it names an item. */
  readonly gtin: string | null
  readonly lots: readonly string[]
  /** Null: it was taken out there. */
  readonly slot: string | null
  readonly since: string
  readonly state: keyof typeof words.states
  /** The transport unit with which it is on its way. */
  readonly unit: { readonly unitId: string; readonly reference: string | null } | null
}
/** A site for which the list may be wrong. */
type Behind = {
  readonly siteId: string
  readonly reason: 'forked' | 'late' | 'missing'
  /** Null: it never sent a feed. */
  readonly fedAt: string | null
  readonly leavesBehind: number
}
type Recalled = {
  readonly data: readonly Pallet[]
  readonly behind: readonly Behind[]
  readonly nextCursor: string | null
}

/**
 * Every pallet of a lot, of an item or of both, on all sites, as a list to send. A warning about a lot often does not name the
 * item.
 */
export const HubRecall = ({ gtin, lot, onLeft }: { gtin: string; lot: string; onLeft: () => void }) => {
  const item = useRef<HTMLInputElement>(null)
  const batch = useRef<HTMLInputElement>(null)
  const [isEmpty, setEmpty] = useState(false)
  const query = new URLSearchParams({ ...(lot !== '' && { lot }), ...(gtin !== '' && { gtin }) })
  const path = query.size === 0 ? undefined : `/api/hub/recall?${query}`
  const { answer, problem, fields } = useAnswer<Recalled>(path, onLeft)
  const sites = useSiteFacts(path !== undefined, onLeft)
  useEffect(() => {
    if (path === undefined) batch.current?.focus()
  }, [])
  const list = (event: Event) => {
    event.preventDefault()
    const typed = { lot: batch.current?.value.trim() ?? '', gtin: item.current?.value.trim() ?? '' }
    const wanted = Object.entries(typed).filter(([, text]) => text !== '')
    setEmpty(wanted.length === 0)
    if (wanted.length > 0) go(`/recall?${new URLSearchParams(wanted)}`)
    else batch.current?.focus()
  }
  const wrong = [...(fields.has('gtin') ? [words.wrongGtin] : []), ...(fields.has('lot') ? [words.wrongLot] : [])]
  const refused = wrong.length > 0 ? wrong.join(' ') : problem
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title}</h1>
      </div>
      <form class="card hub-form" onSubmit={list}>
        <div class="hub-ask">
          <label>
            <span>{words.lot}</span>
            <input ref={batch} key={lot} defaultValue={lot} maxlength={90} autocapitalize="none" spellcheck={false} />
          </label>
          <label>
            <span>{words.gtin}</span>
            <input ref={item} key={gtin} defaultValue={gtin} inputmode="numeric" maxlength={14} />
          </label>
          <button type="submit" class="strong">
            {words.go}
          </button>
        </div>
        <p class="muted">{words.hint}</p>
        <p class="problem" role="alert">
          {isEmpty ? words.empty : refused}
        </p>
      </form>
      {path !== undefined && !answer && !problem ? <p class="card">{hubTexts.asking}</p> : null}
      {answer && answer.behind.length > 0 ? (
        <p class="card" role="status">
          {words.behind(answer.behind.map((one) => behindWords(one, sites)))}
        </p>
      ) : null}
      {answer ? <List {...answer} lot={lot} sites={sites} file={`${path}&format=csv`} /> : null}
    </main>
  )
}

function behindWords({ siteId, reason, fedAt, leavesBehind }: Behind, sites: SiteFacts): string {
  const why = {
    forked: words.behindFor.forked,
    late: words.behindFor.late(fedAt === null ? null : sites.timeAt(siteId, fedAt)),
    missing: words.behindFor.missing(leavesBehind),
  }
  return `${sites.nameOf(siteId)} (${why[reason]})`
}

/** Summary of the list in one line. A pallet in two places is one pallet. */
function summaryOf(pallets: readonly Pallet[]): string {
  const standing = pallets.filter(({ slot }) => slot !== null)
  const countOf = (state: Pallet['state']) => pallets.filter((one) => one.state === state).length
  const sites = new Set(standing.map(({ siteId }) => siteId)).size
  return [
    words.found(new Set(standing.map(({ asset_barcode }) => asset_barcode)).size, sites),
    ...(['in_transit', 'left'] as const)
      .map((state) => ({ state, n: countOf(state) }))
      .filter(({ n }) => n > 0)
      .map(({ state, n }) => words.besides[state](n)),
  ].join(', ')
}

const stateWords = ({ state, unit }: Pallet): string =>
  unit === null ? words.states[state] : `${words.states[state]} (${unit.reference ?? unit.unitId})`

type ListProps = Omit<Recalled, 'behind'> & { lot: string; sites: SiteFacts; file: string }

const List = ({ data: pallets, nextCursor, lot, sites, file }: ListProps) => {
  const [done, setDone] = useState('')
  const items = [...new Set(pallets.map(({ gtin }) => gtin))].map((gtin) => ({
    gtin,
    ofItem: pallets.filter((one) => one.gtin === gtin),
  }))
  const known = items.filter(({ gtin }) => gtin !== null).length
  const copy = () => {
    const rows = pallets.map((one) => [
      ...[one.gtin ?? '', one.lots.join(' '), one.siteId, one.asset_barcode, one.slot ?? ''],
      ...[one.since, stateWords(one)],
    ])
    const copying = navigator.clipboard?.writeText(pastedOf(rows)) ?? Promise.reject(new Error('no clipboard'))
    copying.then(
      () => setDone(words.copied),
      () => setDone(words.notCopied),
    )
  }
  if (pallets.length === 0) {
    return (
      <p class="card" role="status">
        {lot === '' ? words.none.item : words.none.lot(lot)}
      </p>
    )
  }
  return (
    <section class="card" aria-labelledby="hub-list">
      <div class="card-head">
        <h2 id="hub-list">{summaryOf(pallets)}</h2>
        <div class="hub-acts">
          <button type="button" onClick={copy}>
            {words.copy}
          </button>
          <button type="button" onClick={() => print()}>
            {words.print}
          </button>
          <a class="button" href={file} download="recall.csv">
            {hubTexts.file}
          </a>
        </div>
      </div>
      <p role="status">{done}</p>
      {nextCursor === null ? null : <p class="note">{words.more}</p>}
      {known > 1 ? <p class="note">{words.items(known)}</p> : null}
      {items.map(({ gtin, ofItem }) => (
        <section key={gtin ?? ''} class="hub-item" aria-label={words.item(gtin)}>
          <h3>
            {words.item(gtin)}
            {items.length > 1 ? <span class="muted"> · {summaryOf(ofItem)}</span> : null}
          </h3>
          <Pallets pallets={ofItem} namesLots={lot === ''} sites={sites} />
        </section>
      ))}
    </section>
  )
}

type PalletsProps = { pallets: readonly Pallet[]; namesLots: boolean; sites: SiteFacts }

/** The pallets of one item. `namesLots`: they are of several. */
const Pallets = ({ pallets, namesLots, sites }: PalletsProps) => (
  <table class="hub-table hub-rows">
    <thead>
      <tr>
        <th scope="col">{hubTexts.find.site}</th>
        <th scope="col">{words.pallet}</th>
        {namesLots ? <th scope="col">{words.ofLot}</th> : null}
        <th scope="col">{hubTexts.find.slot}</th>
        <th scope="col">{words.state}</th>
        <th scope="col">{hubTexts.find.since}</th>
      </tr>
    </thead>
    <tbody>
      {pallets.map((one) => (
        <tr key={`${one.siteId} ${one.asset_barcode} ${one.slot}`}>
          <td>{sites.nameOf(one.siteId)}</td>
          <th scope="row">
            <a class="code" href={`/find?code=${encodeURIComponent(one.asset_barcode)}`} onClick={follow}>
              {one.asset_barcode}
            </a>
          </th>
          {namesLots ? <td>{one.lots.join(', ')}</td> : null}
          <td>{one.slot ?? '–'}</td>
          <td>{stateWords(one)}</td>
          <td>{sites.timeAt(one.siteId, one.since)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
