import { useState } from 'preact/hooks'
import { decodedWords, printable } from '../codes/scan-place.ts'
import { get } from '../data/api.ts'
import type { ScanAnswer, SignedIn, Slot, TransportUnit } from '../data/shapes.ts'
import { toRegister } from '../data/todo-list.ts'
import { useLive } from '../data/use-live.ts'
import { findTexts as words } from '../i18n/find-texts.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { type Acts, useActs } from '../kit/acts.tsx'
import { follow, pageOfCode } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { Icon } from '../kit/icons.tsx'
import { RegisterForm } from '../kit/register-form.tsx'
import { registerTexts } from '../kit/register-texts.ts'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import { warningWords } from '../kit/warning-words.ts'
import { Fact } from '../proof/move.tsx'
import { CountsHere, SmallPlan } from './find-around.tsx'
import { concerns, type Found, findBySignature, findCode, zoneIn } from './look-up.ts'
import { StoryOf } from './story.tsx'

export type FindProps = {
  siteId: string
  /** Undefined: no one is signed in, and an expiring link is open. */
  caller: SignedIn | undefined
  /** Undefined: no code is requested yet. */
  code: string | undefined
  at: string | undefined
  /** Signature of an expiring link; then no sign-in is needed. */
  signed: string | undefined
  onLeft: (why: string) => void
}

/** The result for a code: the story of a pallet, a transport unit, a slot, or the fields of an unknown code. */
export const View = ({ siteId, caller, code, at, signed, onLeft }: FindProps) => (
  <>
    {caller ? (
      <Bar here={undefined} {...{ siteId, caller, onLeft }} />
    ) : (
      <header class="bar">
        <p class="brand">
          <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
        </p>
        <p class="site">{siteId}</p>
      </header>
    )}
    {code === undefined ? (
      <main class="find-page">
        <h1 class="find-code">{words.title}</h1>
        <p>{words.hint}</p>
      </main>
    ) : (
      <Looked key={`${code} ${at} ${signed}`} {...{ code, at, signed, caller, onLeft }} />
    )}
  </>
)

type LookedProps = Omit<FindProps, 'siteId' | 'code'> & { code: string }

const Looked = ({ code, at, signed, caller, onLeft }: LookedProps) => {
  const [isEnded, setEnded] = useState(false)
  const timeZone = useTimeZone(signed === undefined)
  const {
    answer: found,
    problem,
    reload,
  } = useLive(
    () => (signed === undefined ? findCode(code, at) : findBySignature(code, signed)),
    ['floor', 'event', 'unit'],
    () => (signed === undefined ? onLeft(texts.signedOut) : setEnded(true)),
    // The past, and the view of a link, do not change.
    { isAbout: concerns, comesLive: () => true, isUrgent: true, isFixed: at !== undefined || signed !== undefined },
  )
  const acts = useActs(onLeft, reload)
  const trouble = isEnded ? words.linkEnded : problem
  return (
    <>
      <TroubleStrip problem={trouble === '' ? acts.problem : trouble} />
      <main class="find-page">
        <div>
          <h1 class="find-code" tabindex={-1} ref={acts.title}>
            <span class="code">{titleOf(code, found?.answer)}</span>
          </h1>
          <p role="status">{acts.said}</p>
        </div>
        {!found && trouble === '' ? <p class="blank">{words.looking}</p> : null}
        {found ? <Answer {...{ found, at, caller, acts, onLeft }} timeZone={timeZone ?? zoneIn(found)} /> : null}
      </main>
    </>
  )
}

/** Returns the zone of the hall. It is requested until it is known, because times would be those of the device otherwise. */
function useTimeZone(isSignedIn: boolean): string | undefined {
  const { answer } = useLive(
    async () => (isSignedIn ? await get('/api/whms/warehouses', {}) : { data: [] }),
    [],
    () => {},
    { isUrgent: true, isFixed: true },
  )
  return answer?.data[0]?.timezone
}

const titleOf = (code: string, answer: ScanAnswer | undefined) =>
  printable(answer?.matches.find(({ kind }) => kind === 'asset')?.asset?.asset_id ?? code)

type AnswerProps = {
  found: Found
  at: string | undefined
  timeZone: string | undefined
  caller: SignedIn | undefined
  acts: Acts
  onLeft: (why: string) => void
}

const Answer = ({ found, at, timeZone, caller, acts, onLeft }: AnswerProps) => {
  const { code, answer, steps, leftOut } = found
  const matches = answer?.matches ?? []
  const asset = matches.find(({ kind }) => kind === 'asset')
  const units = matches.filter(({ kind }) => kind === 'transport_unit')
  const slot = matches.find(({ kind }) => kind === 'slot')?.slot
  const isUnknown = steps === undefined && matches.length === 0
  const mayRegister = at === undefined && caller?.permissions.includes(toRegister) === true
  const unregistered = isUnknown ? code : asset?.asset?.provisional === true ? asset.asset.asset_id : undefined
  return (
    <>
      {slot ? <SlotFound slot={slot} changes={found} /> : null}
      {units.map((match) => (
        <Unit
          key={match.id}
          unit={match.resource ?? {}}
          timeZone={timeZone}
          mayHandOut={caller?.permissions.includes('units:advance') ?? false}
        />
      ))}
      {isUnknown && answer ? <Unknown answer={answer} isPast={at !== undefined} /> : null}
      {mayRegister && answer && unregistered !== undefined ? (
        <Register code={unregistered} isKnown={!isUnknown} acts={acts} />
      ) : null}
      {steps ? (
        <StoryOf
          code={asset?.asset?.asset_id ?? code}
          steps={steps}
          leftOut={leftOut}
          match={asset}
          at={at}
          timeZone={timeZone}
          caller={caller}
          onLeft={onLeft}
        />
      ) : null}
    </>
  )
}

const SlotFound = ({ slot, changes }: { slot: Slot; changes: unknown }) => (
  <>
    <p class="card">
      {words.isSlot} <strong>{slot.slot_id}</strong>,{' '}
      {slot.assetBarcode === null ? words.empty : `${words.withPallet} `}
      {slot.assetBarcode === null ? null : (
        <a href={pageOfCode(slot.assetBarcode)} onClick={follow}>
          {slot.assetBarcode}
        </a>
      )}
      .{' '}
      <a class="button" href={`/?slot=${slot.id}`} onClick={follow}>
        {words.showOnFloor}
      </a>
    </p>
    <SmallPlan slotId={slot.id} />
    <CountsHere slotId={slot.id} label={slot.slot_id} changes={changes} />
  </>
)

/** Says that the code is unknown, with its readable fields. */
const Unknown = ({ answer: { code, barcode }, isPast }: { answer: ScanAnswer; isPast: boolean }) => (
  <section class="card" aria-labelledby="unknown-title">
    <h2 id="unknown-title">{isPast ? words.notThen : words.neverSeen}</h2>
    <p>
      {words.noneHas} <span class="code">{printable(code)}</span>.
    </p>
    {barcode.gs1 ? <p>{words.readAs(decodedWords(barcode.gs1))}</p> : <p>{words.plainText}</p>}
    {barcode.warnings.map((warning) => (
      <p key={warning.code} class="problem">
        <Said words={warningWords(warning)} />
      </p>
    ))}
    {isPast ? null : <p>{words.unknownNext}</p>}
  </section>
)

type RegisterProps = { code: string; isKnown: boolean; acts: Acts }

/** Registers the pallet of this code. It is folded, because most people search for a location. */
const Register = ({ code, isKnown, acts }: RegisterProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <section class="card" aria-label={registerTexts.open}>
      {isOpen ? <h2>{registerTexts.title(printable(code))}</h2> : null}
      {isKnown ? <p>{registerTexts.unregistered}</p> : null}
      {isOpen ? (
        <RegisterForm code={code} act={acts.act} isBusy={acts.isBusy} onCancel={() => setOpen(false)} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          {registerTexts.open}
        </button>
      )}
    </section>
  )
}

type UnitProps = { unit: Partial<TransportUnit>; timeZone: string | undefined; mayHandOut: boolean }

const Unit = ({ unit, timeZone, mayHandOut }: UnitProps) => (
  <section class="card" aria-label={words.unit(unit.reference ?? '')}>
    <h2>{words.unit(unit.reference ?? '')}</h2>
    <dl class="facts">
      <Fact name={words.stage} value={unit.stage ?? ''} />
      <Fact name={words.status} value={words.statuses[unit.status ?? ''] ?? (unit.status ?? '').replaceAll('_', ' ')} />
      <Fact name={words.direction} value={words.directions[unit.direction ?? ''] ?? unit.direction ?? ''} />
      {unit.carrier ? <Fact name={words.carrier} value={unit.carrier} /> : null}
      {unit.vehicle ? <Fact name={words.vehicle} value={unit.vehicle} /> : null}
      {unit.updatedAt ? <Fact name={words.lastRecord} value={exactTime(unit.updatedAt, timeZone)} /> : null}
    </dl>
    {mayHandOut && unit.id ? (
      <p class="find-acts">
        <a
          class="button"
          href={`/api/whms/transport-units/${encodeURIComponent(unit.id)}/receipt-link?format=html`}
          target="_blank"
          rel="noopener"
        >
          <Icon name="print" /> {words.receipt}
        </a>
      </p>
    ) : null}
  </section>
)
