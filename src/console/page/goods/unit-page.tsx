import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, gatewayNow, Refused } from '../data/ask.ts'
import { askNewest } from '../data/asking.ts'
import type { Heard } from '../data/heard.ts'
import type { Permission, PlacementEvent, SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { kilograms } from '../i18n/counting.ts'
import { lasting, moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Acts, Choice, Field, Frame, Twice, useActs } from '../kit/acts.tsx'
import { follow, pageOfCode } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { wasSent } from '../kit/typed.ts'
import type { ViewProps } from '../kit/views.ts'
import { KeptPhoto } from '../pictures/kept-photo.tsx'
import { Fact } from '../proof/move.tsx'
import { inStageSince, type UnitRecord, type UnitStep, whyHeld } from './unit-board.ts'
import { stageName, unitTexts as words } from './unit-texts.ts'

export const unitsApi = '/api/whms/transport-units'
export const unitAddress = (id: string): string => `/units/${encodeURIComponent(id)}`

/** `hasMore`: there are older ones than these. */
type UnitMoves = { readonly data: readonly PlacementEvent[]; readonly hasMore: boolean }

const noMoves: UnitMoves = { data: [], hasMore: false }
const mostMoves = 2000

type Answer = {
  readonly unit: UnitRecord | undefined
  readonly stages: readonly string[]
  readonly moves: UnitMoves
  readonly timeZone: string | undefined
}

/** One transport unit: its facts, its acts, its pallets and its history. */
export const UnitPage = ({ id, siteId, caller, onLeft }: ViewProps & { id: string }) => {
  const { answer, problem, reload } = useLive(
    () => load(id),
    ['event', 'unit'],
    () => onLeft(texts.signedOut),
    { isAbout: (heard, known) => isOf(heard, id, known?.unit?.reference), comesLive: () => true },
  )
  const acts = useActs(onLeft, reload)
  const unit = answer?.unit
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="units"
      back={{ to: '/units', words: words.back }}
      name={unit?.reference ?? words.title}
      trouble={problem}
      status={answer ? '' : texts.loading}
    >
      {answer && !unit ? <p class="card">{words.noSuch}</p> : null}
      {answer && unit ? (
        <div class="unit-page">
          <div class="unit-side">
            <Facts unit={unit} timeZone={answer.timeZone} />
            <ToDo unit={unit} stages={answer.stages} caller={caller} acts={acts} />
          </div>
          <div class="unit-side">
            <Moves moves={answer.moves} timeZone={answer.timeZone} />
            <History unit={unit} timeZone={answer.timeZone} />
          </div>
        </div>
      ) : null}
    </Frame>
  )
}

/** Says whether something was recorded of this unit, or a move for it. */
function isOf(heard: Heard, id: string, reference: string | undefined): boolean {
  if (heard.kind === 'event') return [id, reference].includes(heard.data.work_order_ref ?? '')
  return heard.kind === 'unit' && heard.data.id === id
}

async function load(id: string): Promise<Answer> {
  const [unit, { stages }, warehouses] = await Promise.all([
    get('/api/whms/transport-units/{id}', { id }).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined
      throw error
    }),
    get('/api/whms/transport-units/workflow', {}),
    get('/api/whms/warehouses', {}),
  ])
  const timeZone = warehouses.data.find((one) => one.id === unit?.warehouseId)?.timezone
  return { unit, stages, moves: unit ? await movesOf(unit) : noMoves, timeZone }
}

/** Moves name the unit by its id, or by its reference while no other unit has the same. */
async function movesOf({ id, reference }: UnitRecord): Promise<UnitMoves> {
  const by = (ref: string) => `/api/whms/events?work_order_ref=${encodeURIComponent(ref)}`
  const alike = await get('/api/whms/transport-units', { limit: 2, reference })
  const refs = alike.data.length > 1 ? [id] : [id, reference]
  const found = await Promise.all(refs.map((ref) => askNewest<PlacementEvent>(by(ref), mostMoves)))
  const data = found
    .flatMap((page) => page.data)
    .filter(({ event_type }) => event_type === 'PLACED' || event_type === 'REMOVED')
    .toSorted((a, b) => b.timestamp.localeCompare(a.timestamp))
  return { data, hasMore: found.some(({ pagination }) => pagination.hasMore) }
}

const chipOf: Readonly<Record<string, string>> = { on_hold: 'warn', completed: 'ok', cancelled: 'danger' }

const Facts = ({ unit, timeZone }: { unit: UnitRecord; timeZone: string | undefined }) => {
  const since = inStageSince(unit)
  return (
    <section class="card" aria-labelledby="unit-facts">
      <h2 id="unit-facts">{words.facts}</h2>
      <p class="unit-chips">
        <span class={`chip ${chipOf[unit.status] ?? ''}`}>{statusName(unit.status)}</span>
        <span class="chip">{stageName(unit.stage)}</span>
        <span class="chip">{words.directions[unit.direction === 'outbound' ? 'outbound' : 'inbound']}</span>
      </p>
      {unit.status === 'on_hold' ? (
        <p class="unit-why">
          <Icon name="warning" />
          <span>{words.why(whyHeld(unit) ?? words.noReason)}</span>
        </p>
      ) : null}
      <dl class="facts">
        <Fact
          name={words.since}
          value={`${lasting(Math.max(0, gatewayNow() - Date.parse(since)))} (${moment(since, timeZone)})`}
        />
        {unit.carrier ? <Fact name={words.carrier} value={unit.carrier} /> : null}
        {unit.vehicle ? <Fact name={words.vehicle} value={unit.vehicle} /> : null}
        {unit.sscc ? <Fact name="SSCC" value={unit.sscc} /> : null}
        {unit.evidence.scaleReading === null ? null : (
          <Fact name={words.weight} value={`${unit.evidence.scaleReading} kg`} />
        )}
        <Fact name={words.created} value={moment(unit.createdAt, timeZone)} />
        {unit.completedAt ? <Fact name={words.completed} value={moment(unit.completedAt, timeZone)} /> : null}
      </dl>
    </section>
  )
}

const statuses: Readonly<Record<string, string>> = words.statuses
const statusName = (status: string) => statuses[status] ?? status

type ToDoProps = { unit: UnitRecord; stages: readonly string[]; caller: SignedIn; acts: Acts }

const ToDo = ({ unit, stages, caller, acts }: ToDoProps) => {
  const may = (permission: Permission) => caller.permissions.includes(permission)
  if (!may('units:advance')) return null
  const { id, status, reference, nextStage } = unit
  const post = (what: string, body: Readonly<Record<string, unknown>> = {}) => {
    return () => ask(`${unitsApi}/${id}/${what}`, { method: 'POST', body })
  }
  const isOpen = status === 'active' || status === 'on_hold'
  const further = nextStage === null ? [] : stages.slice(stages.indexOf(nextStage) + 1)
  return (
    <section class="card unit-acts" aria-labelledby="unit-acts">
      <h2 id="unit-acts">{words.acts}</h2>
      {status === 'active' ? <Advance unit={unit} acts={acts} /> : null}
      {status === 'on_hold' ? (
        <Twice
          words={words.resume}
          sure={words.sureResume}
          strong
          isBusy={acts.isBusy}
          onSure={() => void acts.act(post('resume'), words.resumed(reference))}
        />
      ) : null}
      {status === 'active' ? (
        <WithReason
          id="hold"
          title={words.hold}
          why={words.holdWhy}
          button={words.hold}
          acts={acts}
          onReason={(reason) => acts.act(post('hold', { reason }), words.held(reference))}
        />
      ) : null}
      <Weigh acts={acts} onWeight={(kg, said) => acts.act(post('evidence', { scale_weight_kg: kg }), said)} />
      {may('units:override') && status === 'active' && further.length > 0 ? (
        <Skip
          stages={further}
          acts={acts}
          onSkip={(toStage, reason) =>
            acts.act(post('advance', { toStage, reason }), words.advanced(reference, stageName(toStage)))
          }
        />
      ) : null}
      {may('units:override') && isOpen ? (
        <WithReason
          id="cancel"
          title={words.cancelUnit}
          why={words.cancelWhy}
          button={words.cancelUnit}
          sure={words.cancelSure}
          acts={acts}
          onReason={(reason) => acts.act(post('cancel', { reason }), words.cancelled(reference))}
        />
      ) : null}
      <a
        class="button"
        href={`${unitsApi}/${encodeURIComponent(id)}/receipt-link?format=html`}
        target="_blank"
        rel="noopener"
      >
        <Icon name="print" /> {words.receipt}
      </a>
      <button type="button" class="plain" onClick={() => print()}>
        <Icon name="print" /> {words.print}
      </button>
    </section>
  )
}

/** The next stage; a unit without stages in the config is completed by one more step. */
const Advance = ({ unit: { id, nextStage, reference }, acts }: { unit: UnitRecord; acts: Acts }) => {
  const body = nextStage === null ? {} : { toStage: nextStage }
  const stage = nextStage === null ? words.completed : stageName(nextStage)
  return (
    <Twice
      words={nextStage === null ? words.complete : words.advance(stage)}
      sure={nextStage === null ? words.sureComplete : words.sureAdvance(stage)}
      strong
      isBusy={acts.isBusy}
      onSure={() =>
        void acts.act(
          () => ask(`${unitsApi}/${id}/advance`, { method: 'POST', body }),
          words.advanced(reference, stage),
        )
      }
    />
  )
}

type ReasonProps = {
  id: string
  title: string
  why: string
  button: string
  /** Label of the second press; without it one press is enough. */
  sure?: string
  acts: Acts
  before?: JSX.Element
  onReason: (reason: string) => Promise<boolean>
}

/** Something that needs a reason. The reason stays in its field until the gateway has taken it. */
const WithReason = ({ id, title, why, button, sure, acts, before, onReason }: ReasonProps) => {
  const [reason, setReason] = useState('')
  const [isMissing, setMissing] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const send = async () => {
    setMissing(reason.trim() === '')
    if (reason.trim() === '') return document.getElementById(`unit-${id}-why`)?.focus()
    if (!(await onReason(reason.trim()))) return
    setReason('')
    // The choice beside the reason was sent, whatever the next choice is.
    setTimeout(() => wasSent(form.current))
  }
  return (
    <details>
      <summary>{title}</summary>
      <form
        ref={form}
        onSubmit={(event: Event) => {
          event.preventDefault()
          if (sure === undefined) void send()
        }}
      >
        {before ?? null}
        <Field id={`unit-${id}-why`} words={why} value={reason} rows={2} most={4000} onText={setReason} />
        <p class="problem" role="alert">
          {isMissing && reason.trim() === '' ? words.needed : ''}
        </p>
        {sure === undefined ? (
          <button type="submit" class="strong" aria-disabled={acts.isBusy ? 'true' : 'false'}>
            {button}
          </button>
        ) : (
          <Twice words={button} sure={sure} isBusy={acts.isBusy} onSure={() => void send()} />
        )}
      </form>
    </details>
  )
}

type SkipProps = { stages: readonly string[]; acts: Acts; onSkip: (stage: string, reason: string) => Promise<boolean> }

const Skip = ({ stages, acts, onSkip }: SkipProps) => {
  // When the unit advances meanwhile, the gateway refuses this stage; another choice would skip a stage unasked.
  const [stage, setStage] = useState(stages[0] ?? '')
  const choices = stages.includes(stage) ? stages : [stage, ...stages]
  return (
    <WithReason
      id="skip"
      title={words.skip}
      why={words.skipWhy}
      button={words.skipSure(stageName(stage))}
      acts={acts}
      onReason={(reason) => onSkip(stage, reason)}
      before={
        <Choice
          id="unit-skip-to"
          words={words.skipTo}
          value={stage}
          of={Object.fromEntries(choices.map((one) => [one, stageName(one)]))}
          onChoice={setStage}
        />
      }
    />
  )
}

const Weigh = ({ acts, onWeight }: { acts: Acts; onWeight: (kg: number, said: string) => Promise<boolean> }) => {
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const send = async () => {
    // A German keyboard has a comma where others have the point.
    const kg = Number(typed.trim().replace(',', '.'))
    const isWeight = typed.trim() !== '' && Number.isFinite(kg) && kg >= 0
    setWrong(!isWeight)
    if (!isWeight) return document.getElementById('unit-weight')?.focus()
    if (await onWeight(kg, words.weighed(kilograms(kg)))) setTyped('')
  }
  return (
    <details>
      <summary>{words.weigh}</summary>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void send()
        }}
      >
        <Field id="unit-weight" words={words.weightKg} value={typed} onText={setTyped} most={12} />
        <p class="problem" role="alert">
          {isWrong ? words.weightWrong : ''}
        </p>
        <button type="submit" class="strong" aria-disabled={acts.isBusy ? 'true' : 'false'}>
          {words.weigh}
        </button>
      </form>
    </details>
  )
}

const howMany = (n: number, hasMore: boolean) => (hasMore ? words.atLeast(String(n)) : String(n))

const Moves = ({ moves: { data: moves, hasMore }, timeZone }: { moves: UnitMoves; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="unit-moves">
    <h2 id="unit-moves">
      {words.moves}{' '}
      <span class="muted">{howMany(new Set(moves.map(({ asset_barcode }) => asset_barcode)).size, hasMore)}</span>
    </h2>
    {moves.length === 0 ? <p class="muted">{words.noMoves}</p> : null}
    <ul class="goods-rows">
      {moves.map((one) => (
        <li key={one.id}>
          <a href={pageOfCode(one.asset_barcode)} onClick={follow}>
            {one.asset_barcode}
          </a>{' '}
          {one.event_type === 'PLACED' ? words.placed : words.removed} <strong>{one.slot_code}</strong>{' '}
          <time class="muted" datetime={one.timestamp}>
            {moment(one.timestamp, timeZone)}
          </time>
        </li>
      ))}
    </ul>
  </section>
)

const History = ({ unit, timeZone }: { unit: UnitRecord; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="unit-history">
    <h2 id="unit-history">{words.history}</h2>
    <ol class="goods-rows" reversed>
      {unit.history.toReversed().map((step) => (
        <li key={step.eventId}>
          <Step step={step} timeZone={timeZone} photos={photosOf(unit, step.eventId)} />
        </li>
      ))}
    </ol>
  </section>
)

const photosOf = ({ evidence: { items } }: UnitRecord, eventId: string): readonly string[] =>
  items.flatMap((item) =>
    item.eventId === eventId && item.photoEvidence === 'held' && item.sha256 !== null ? [item.sha256] : [],
  )

type StepProps = { step: UnitStep; timeZone: string | undefined; photos: readonly string[] }

const Step = ({ step, timeZone, photos }: StepProps) => (
  <>
    <p>
      <strong>{words.actions[step.action] ?? step.action}</strong>
      {step.fromStage !== null && step.fromStage !== step.toStage
        ? `: ${stageName(step.fromStage)} → ${stageName(step.toStage)}`
        : ''}
      {step.scaleReading === null ? '' : ` · ${step.scaleReading} kg`}
    </p>
    {step.reason === null ? null : <p>{step.reason}</p>}
    {step.note === null ? null : <p>{step.note}</p>}
    {photos.length === 0 ? null : (
      <p class="unit-photos">
        {photos.map((sha256, index) => (
          <KeptPhoto key={sha256} sha256={sha256} alt={words.photo(index + 1)} timeZone={timeZone} isLink />
        ))}
      </p>
    )}
    <p class="muted">
      <time datetime={step.timestamp}>{moment(step.timestamp, timeZone)}</time> {words.by(step.operator)},{' '}
      {words.leaf(step.seq)}
    </p>
  </>
)
