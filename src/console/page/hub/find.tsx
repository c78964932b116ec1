import { useEffect, useRef } from 'preact/hooks'
import { follow, go } from '../kit/address.ts'
import { type SiteFacts, useAnswer, useSiteFacts } from './ask.ts'
import { hubTexts } from './texts.ts'

const words = hubTexts.find

type Place = {
  readonly siteId: string
  readonly asset_barcode: string
  readonly slot: string | null
  readonly since: string
  readonly isVerified: boolean
  readonly state: keyof typeof words.states
}
type Move = {
  readonly siteId: string
  readonly logId: string
  readonly slot: string
  readonly event_type: 'PLACED' | 'REMOVED'
  readonly timestamp: string
  readonly seq: number
  /** Absent where the account may not see names, or the person was erased. */
  readonly operator?: string
}
type Found = {
  readonly data: readonly Place[]
  /** The transport unit with which it is on its way. */
  readonly unit: {
    readonly siteId: string
    readonly unitId: string
    readonly reference: string | null
    readonly direction: string | null
    /** Time of its newest step. */
    readonly since: string
  } | null
  readonly trail: readonly Move[]
  readonly behindFork: readonly Move[]
}

/** Where a code is, on any site, and how it came there. */
export const HubFind = ({ code, onLeft }: { code: string; onLeft: () => void }) => {
  const field = useRef<HTMLInputElement>(null)
  const path = code === '' ? undefined : `/api/hub/search?code=${encodeURIComponent(code)}`
  const { answer, problem } = useAnswer<Found>(path, onLeft)
  const sites = useSiteFacts(path !== undefined, onLeft)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [code])
  const find = (event: Event) => {
    event.preventDefault()
    const asked = field.current?.value.trim() ?? ''
    if (asked !== '') go(`/find?code=${encodeURIComponent(asked)}`)
  }
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title}</h1>
      </div>
      <form class="card hub-form" onSubmit={find}>
        <label for="hub-code">{words.code}</label>
        <div class="hub-ask">
          <input
            id="hub-code"
            ref={field}
            key={code}
            defaultValue={code}
            maxlength={256}
            autocapitalize="none"
            spellcheck={false}
          />
          <button type="submit" class="strong">
            {words.go}
          </button>
        </div>
        <p class="muted">{words.hint}</p>
        <p class="problem" role="alert">
          {problem}
        </p>
      </form>
      <div role="status">
        {path !== undefined && !answer && !problem ? <p class="card">{hubTexts.asking}</p> : null}
        {answer && answer.data.length + answer.behindFork.length === 0 ? (
          <p class="card">
            {words.unknown(code)}{' '}
            <a href="/" onClick={follow}>
              {words.toSites}
            </a>
          </p>
        ) : null}
        {answer && answer.data.length > 0 ? (
          <p class={`card hub-verdict ${verdictOf(answer)}`}>{sentenceOf(answer, sites)}</p>
        ) : null}
      </div>
      {answer && answer.data.length > 0 ? <Places places={answer.data} sites={sites} /> : null}
      {answer && answer.trail.length > 0 ? (
        <Trail title={words.trail} moves={answer.trail} file={`${path}&format=csv`} sites={sites} />
      ) : null}
      {answer && answer.behindFork.length > 0 ? (
        <Trail title={words.behind} hint={words.behindHint} moves={answer.behindFork} sites={sites} />
      ) : null}
    </main>
  )
}

const verdictOf = ({ data }: Found) => data.find(({ state }) => state !== 'left')?.state ?? 'left'

function sentenceOf(found: Found, { nameOf, timeAt }: SiteFacts): string {
  const state = verdictOf(found)
  const places = found.data.filter((one) => one.state === state)
  const slots = places.map(({ siteId, slot }) => words.slotAt(nameOf(siteId), slot ?? ''))
  const { unit } = found
  if (state !== 'in_transit' || !unit) return words.states[state](slots.join(words.and))
  // A unit that comes in is one of the site that expects it.
  return words.onItsWay({
    from: nameOf(places[0]?.siteId ?? unit.siteId),
    to: unit.direction === 'inbound' ? nameOf(unit.siteId) : undefined,
    unit: unit.reference ?? unit.unitId,
    since: timeAt(unit.siteId, unit.since),
  })
}

const Places = ({ places, sites }: { places: readonly Place[]; sites: SiteFacts }) => (
  <section class="card" aria-labelledby="hub-now">
    <h2 id="hub-now">{words.now}</h2>
    <table class="hub-table hub-rows">
      <thead>
        <tr>
          <th scope="col">{words.site}</th>
          <th scope="col">{words.slot}</th>
          <th scope="col">{words.since}</th>
        </tr>
      </thead>
      <tbody>
        {places.map(({ siteId, asset_barcode, slot, since, isVerified }) => (
          <tr key={`${siteId} ${asset_barcode}`}>
            <th scope="row">
              <a href={`/sites/${encodeURIComponent(siteId)}`} onClick={follow}>
                {sites.nameOf(siteId)}
              </a>
            </th>
            <td>
              {slot ?? words.gone}
              {isVerified ? ` (${words.verified})` : ''}
            </td>
            <td>{sites.timeAt(siteId, since)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

type TrailProps = {
  title: string
  hint?: string
  moves: readonly Move[]
  /** Address of all of them as a file. */
  file?: string
  sites: SiteFacts
}

const Trail = ({ title, hint, moves, file, sites }: TrailProps) => (
  <section class="card" aria-label={title}>
    <div class="card-head">
      <h2>{title}</h2>
      {file === undefined ? null : (
        <a class="button" href={file} download="trail.csv">
          {hubTexts.file}
        </a>
      )}
    </div>
    {hint === undefined ? null : <p class="muted">{hint}</p>}
    <ol class="hub-trail">
      {moves.toReversed().map(({ siteId, logId, slot, event_type, timestamp, seq, operator }) => (
        <li key={`${logId} ${seq}`}>
          <strong>{sites.nameOf(siteId)}</strong>
          <span>
            {words.moves[event_type]}: {slot}
            {operator === undefined ? '' : ` · ${operator}`}
          </span>
          <span>
            <a href={`/sites/${encodeURIComponent(siteId)}?at=${encodeURIComponent(timestamp)}`} onClick={follow}>
              {sites.timeAt(siteId, timestamp)}
            </a>
            {' · '}
            {sites.may(siteId, 'evidence:read') ? (
              <a href={`/api/hub/logs/${logId}/entries/${seq}`} download={`leaf-${seq}.proof.json`}>
                {words.proof(seq)}
              </a>
            ) : (
              <span class="muted">{words.entry(seq)}</span>
            )}
          </span>
        </li>
      ))}
    </ol>
  </section>
)
