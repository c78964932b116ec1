import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, gatewayNow, Refused } from '../data/ask.ts'
import { askNewest } from '../data/asking.ts'
import type { Heard } from '../data/heard.ts'
import { newActId } from '../data/once-key.ts'
import type { PlacementEvent } from '../data/shapes.ts'
import { stillMs } from '../data/todo-list.ts'
import { type Since, useLive } from '../data/use-live.ts'
import { lasting } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Act, type Acts, Choice, Field, Frame, Twice, useActs } from '../kit/acts.tsx'
import { follow, goInstead } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import {
  afterNews,
  type BoardUnit,
  type Column,
  columnsOf,
  inStageSince,
  isCurrent,
  isLike,
  palletsOf,
  type UnitRecord,
  whyHeld,
  withMove,
} from './unit-board.ts'
import { UnitPage, unitAddress, unitsApi } from './unit-page.tsx'
import { stageName, unitTexts as words } from './unit-texts.ts'

/** Transport units at `/units`, by stage, and one of them at `/units/ID`. */
export const View = (props: ViewProps) => {
  const [, id] = /^\/units\/([^/]+)\/?$/.exec(props.pathname) ?? []
  return id === undefined ? <Board key="board" {...props} /> : <UnitPage key={id} id={id} {...props} />
}

/** A unit with what its history says, once that was asked for. */
type Shown = BoardUnit & { readonly record: UnitRecord | undefined; readonly pallets: number; readonly isAll: boolean }
type Answer = { readonly stages: readonly string[]; readonly units: readonly Shown[] }

const Board = ({ siteId, caller, asked, onLeft }: ViewProps) => {
  const { answer, problem, reload } = useLive(load, ['event', 'unit'], () => onLeft(texts.signedOut), {
    comesLive: () => true,
    apply,
  })
  const acts = useActs(onLeft, reload)
  const text = asked.get('find') ?? ''
  const direction = asked.get('direction') ?? 'all'
  const look = (next: { find?: string; direction?: string }) => {
    const { find, direction: way } = { find: text, direction, ...next }
    const query = new URLSearchParams({ ...(find && { find }), ...(way !== 'all' && { direction: way }) }).toString()
    goInstead(`/units${query && `?${query}`}`)
  }
  const open = answer?.units.filter(({ status }) => status !== 'completed') ?? []
  const held = open.filter(({ status }) => status === 'on_hold').length
  const shown = (answer?.units ?? []).filter(
    (unit) => (direction === 'all' || unit.direction === direction) && isLike(unit, text),
  )
  const mayAct = caller.permissions.includes('units:advance')
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="units"
      name={words.title}
      trouble={problem}
      status={answer ? words.count(open.length, held) : texts.loading}
    >
      {answer && answer.units.length === 0 ? <Empty mayAct={mayAct} /> : null}
      {answer && answer.units.length > 0 ? (
        <div class="goods-filter">
          <Field
            id="unit-find"
            words={words.find}
            value={text}
            type="search"
            scan="code"
            onText={(find) => look({ find })}
          />
          <Choice
            id="unit-direction"
            words={words.direction}
            value={direction}
            of={words.directions}
            onChoice={(way) => look({ direction: way })}
          />
        </div>
      ) : null}
      {answer && answer.units.length > 0 && shown.length === 0 ? <p class="card">{words.noneLike}</p> : null}
      {answer && shown.length > 0 ? (
        <div class="unit-board">
          {columnsOf(answer.stages, shown).map((column) => (
            <Stage
              key={column.stage}
              column={column}
              isLast={column.stage === answer.stages.at(-1)}
              mayAct={mayAct}
              acts={acts}
            />
          ))}
        </div>
      ) : null}
      {answer && mayAct ? <Register act={acts.act} isBusy={acts.isBusy} isOpen={answer.units.length === 0} /> : null}
    </Frame>
  )
}

const Empty = ({ mayAct }: { mayAct: boolean }) => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{words.empty}</strong>
    </p>
    <p>{mayAct ? words.emptyNext : words.emptyOther}</p>
  </section>
)

type StageProps = { column: Column<Shown>; isLast: boolean; mayAct: boolean; acts: Acts }

const Stage = ({ column: { stage, isKnown, units }, isLast, mayAct, acts }: StageProps) => (
  <section class={`unit-stage${units.length === 0 ? ' none' : ''}`} aria-label={stageName(stage)}>
    <h2>
      {stageName(stage)} <span class="muted">{units.length}</span>
    </h2>
    {isKnown ? null : <p class="muted">{words.gone}</p>}
    {isLast && units.length > 0 ? <p class="muted">{words.completedLately}</p> : null}
    {units.length === 0 ? <p class="muted">{words.noneHere}</p> : null}
    <ul>
      {units.map((unit) => (
        <li key={unit.id}>
          <UnitCard unit={unit} mayAct={mayAct} acts={acts} />
        </li>
      ))}
    </ul>
  </section>
)

const UnitCard = ({ unit, mayAct, acts }: { unit: Shown; mayAct: boolean; acts: Acts }) => {
  const { record, status, nextStage, reference } = unit
  const sinceMs = gatewayNow() - Date.parse(record ? inStageSince(record) : unit.updatedAt)
  const isOver = status === 'completed' || status === 'cancelled'
  const isLong = !isOver && sinceMs > stillMs
  return (
    <article class={`card unit-card ${status}`} aria-label={reference}>
      <h3>
        <a href={unitAddress(unit.id)} onClick={follow}>
          {reference}
        </a>
      </h3>
      <p>
        <span class="chip">{words.directions[unit.direction === 'outbound' ? 'outbound' : 'inbound']}</span>{' '}
        {unit.pallets === 0 ? null : (
          <span class="chip">
            {unit.isAll ? words.pallets(unit.pallets) : words.atLeast(words.pallets(unit.pallets))}
          </span>
        )}
      </p>
      {unit.carrier || unit.vehicle ? (
        <p>{[unit.carrier, unit.vehicle].filter((part) => part !== null).join(' · ')}</p>
      ) : null}
      {status === 'on_hold' ? (
        <p class="unit-why">
          <Icon name="warning" />
          <span>{record ? words.why(whyHeld(record) ?? words.noReason) : words.statuses.on_hold}</span>
        </p>
      ) : null}
      {isOver ? null : (
        <p class={isLong ? 'unit-long' : 'muted'}>
          {(record ? words.here : words.last)(lasting(Math.max(0, sinceMs)))}
        </p>
      )}
      {mayAct && status === 'active' && nextStage !== null ? (
        <Twice
          words={words.advance(stageName(nextStage))}
          sure={words.sureAdvance(stageName(nextStage))}
          of={words.ofUnit(reference)}
          isBusy={acts.isBusy}
          onSure={() => {
            const body = { toStage: nextStage }
            const advance = () => ask(`${unitsApi}/${unit.id}/advance`, { method: 'POST', body })
            void acts.act(advance, words.advanced(reference, stageName(nextStage)))
          }}
        />
      ) : null}
    </article>
  )
}

const blank = { reference: '', direction: 'inbound', sscc: '', carrier: '', vehicle: '', note: '' }

const Register = ({ act, isBusy, isOpen }: { act: Act; isBusy: boolean; isOpen: boolean }) => {
  const [form, setForm] = useState(blank)
  const [actId, setActId] = useState(newActId())
  const keep = (name: keyof typeof blank) => (value: string) => setForm((before) => ({ ...before, [name]: value }))
  const register = async () => {
    const filled = Object.fromEntries(Object.entries(form).filter(([, value]) => value.trim() !== ''))
    const body = { ...filled, client_event_id: actId }
    const isDone = await act(() => ask(unitsApi, { method: 'POST', body }), words.registered(form.reference))
    if (!isDone) return
    setForm(blank)
    setActId(newActId())
  }
  return (
    <details class="card goods-form" open={isOpen}>
      <summary>{words.register}</summary>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void register()
        }}
      >
        <Field
          id="unit-reference"
          words={words.reference}
          hint={words.referenceHint}
          value={form.reference}
          required
          most={128}
          scan="code"
          onText={keep('reference')}
        />
        <Choice
          id="unit-way"
          words={words.direction}
          value={form.direction}
          of={{ inbound: words.directions.inbound, outbound: words.directions.outbound }}
          onChoice={keep('direction')}
        />
        <Field id="unit-carrier" words={words.carrier} value={form.carrier} most={128} onText={keep('carrier')} />
        <Field
          id="unit-vehicle"
          words={words.vehicle}
          value={form.vehicle}
          most={128}
          scan="code"
          onText={keep('vehicle')}
        />
        <Field id="unit-sscc" words={words.sscc} value={form.sscc} most={64} scan="code" onText={keep('sscc')} />
        <Field id="unit-note" words={words.note} value={form.note} rows={2} most={4000} onText={keep('note')} />
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.registerButton}
        </button>
      </form>
    </details>
  )
}

/** Units that were registered and completed within this span are shown as completed. */
const completedMs = 2 * 24 * 60 * 60 * 1000
/** The histories that are asked for in one round, so that a full board stays below the rate of a caller. */
const mostRecords = 10
/** The moves that are looked through for pallets of the units; of older ones it is only known that there are some. */
const mostMoves = 500
const movesKeptMs = 60_000

const records = new Map<string, UnitRecord>()
/** Units whose record has a step that the page made of a message: it has no operator, and the time of this page. */
const unread = new Set<string>()
let moves: {
  readonly askedMs: number
  readonly hasMore: boolean
  readonly data: readonly PlacementEvent[]
} = {
  askedMs: Number.NEGATIVE_INFINITY,
  hasMore: false,
  data: [],
}

type Moves = typeof moves

async function load(since?: Since<Answer>): Promise<Answer> {
  const changed = since?.heard.flatMap((one) => (one.kind === 'unit' ? [one.data.id] : [])) ?? []
  return since && new Set(changed).size <= mostRecords ? changedIn(since, [...new Set(changed)]) : loadAll()
}

/** Reads only the units that the stream names. */
async function changedIn({ answer, heard }: Since<Answer>, ids: readonly string[]): Promise<Answer> {
  const found = await Promise.all(ids.map((id) => get('/api/whms/transport-units/{id}', { id })))
  for (const record of found) keepRecord(record)
  // Moves that came while an answer was on its way.
  const { stages, units } = heard.reduce((so, one) => (one.kind === 'event' && apply(one, so)) || so, answer)
  const read = found
    .filter(({ status }) => status !== 'cancelled')
    .map((record) => ({ ...record, record, pallets: 0, isAll: true }))
  return { stages, units: counted([...read, ...units.filter(({ id }) => !ids.includes(id))]) }
}

/** Applies what the stream tells: the moves of pallets, and a unit that goes on. */
function apply(heard: Heard, answer: Answer): Answer | undefined {
  if (heard.kind === 'event') {
    const { event_type, work_order_ref } = heard.data
    if (event_type !== 'PLACED' || work_order_ref === null) return answer
    if (!moves.data.some(({ id }) => id === heard.data.id)) moves = withMove(moves, heard.data, mostMoves)
    return { ...answer, units: counted(answer.units) }
  }
  if (heard.kind !== 'unit') return undefined
  const { id } = heard.data
  const unit = answer.units.find((one) => one.id === id)
  const next = unit && afterNews(unit, heard.data, answer.stages, gatewayNow())
  if (!next?.record) return undefined
  records.set(id, next.record)
  unread.add(id)
  return { ...answer, units: answer.units.map((one) => (one.id === id ? next : one)) }
}

function counted(units: readonly Shown[]): Shown[] {
  const pallets = palletsOf(
    units.filter(({ status }) => status !== 'completed'),
    moves.data,
  )
  return units.map((unit) => ({ ...unit, pallets: pallets.get(unit.id) ?? 0, isAll: !moves.hasMore }))
}

async function loadAll(): Promise<Answer> {
  const from = new Date(gatewayNow() - completedMs).toISOString()
  const [{ stages }, active, held, completed] = await Promise.all([
    get('/api/whms/transport-units/workflow', {}),
    get('/api/whms/transport-units', { status: 'active' }),
    get('/api/whms/transport-units', { status: 'on_hold' }),
    get('/api/whms/transport-units', { status: 'completed', from }),
  ])
  const open = [...held.data, ...active.data]
  if (open.length > 0 && performance.now() - moves.askedMs > movesKeptMs) {
    const { data, pagination } = await askNewest<Moves['data'][number]>('/api/whms/events?event_type=PLACED', mostMoves)
    moves = { askedMs: performance.now(), data, hasMore: pagination.hasMore }
  }
  const stale = open
    .filter((unit) => unread.has(unit.id) || !isCurrent(records.get(unit.id), unit))
    .slice(0, mostRecords)
  await Promise.all(stale.map(({ id }) => readRecord(id)))
  const units = [...open, ...completed.data].map((unit) => {
    const record = records.get(unit.id)
    return { ...unit, record: isCurrent(record, unit) ? record : undefined, pallets: 0, isAll: true }
  })
  return { stages, units: counted(units) }
}

function keepRecord(record: UnitRecord): void {
  records.set(record.id, record)
  unread.delete(record.id)
}

/** A unit whose history cannot be read now is shown without it. */
async function readRecord(id: string): Promise<void> {
  try {
    keepRecord(await get('/api/whms/transport-units/{id}', { id }))
  } catch (error) {
    if (error instanceof Refused && error.isSignedOut) throw error
  }
}
