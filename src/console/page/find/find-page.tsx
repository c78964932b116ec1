import { useRef, useState } from 'preact/hooks'
import { decodedWords, printable } from '../codes/scan-place.ts'
import { get } from '../data/api.ts'
import { ask, gatewayNow, Refused } from '../data/ask.ts'
import type { Heard } from '../data/heard.ts'
import type { Asset, ScanAnswer, ScanMatch, SignedIn, Slot, Story, StoryStep, TransportUnit } from '../data/shapes.ts'
import { toRegister } from '../data/todo-list.ts'
import { useLive } from '../data/use-live.ts'
import { kilograms } from '../i18n/counting.ts'
import { findTexts as words } from '../i18n/find-texts.ts'
import { Said } from '../i18n/said.tsx'
import { placeWords, slotNow } from '../i18n/story-words.ts'
import { texts } from '../i18n/texts.ts'
import { assetTypeWords, exactTime } from '../i18n/words.ts'
import { type Acts, useActs } from '../kit/acts.tsx'
import { follow, pageOfCode } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { Icon } from '../kit/icons.tsx'
import { RegisterForm } from '../kit/register-form.tsx'
import { registerTexts } from '../kit/register-texts.ts'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import { warningWords } from '../kit/warning-words.ts'
import { Fact, Move } from '../proof/move.tsx'
import { aroundTexts } from './around-texts.ts'
import { CountsHere, SameGoods, SmallPlan } from './find-around.tsx'
import { IncidentsOf } from './find-incidents.tsx'

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

type Found = {
  readonly code: string
  readonly answer: ScanAnswer | undefined
  readonly steps: readonly StoryStep[] | undefined
  /** Says which moves are not shown; empty when all are. */
  readonly leftOut: string
}

const pageSize = 200
const mostSteps = 1000
const linkSeconds = 3600

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

/** An expiring link opens the story alone, whose steps have the time zone. */
const zoneIn = ({ steps }: Found): string | undefined => steps?.at(-1)?.timezone

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

/** Whether a message of the gateway changes the result: a move of this pallet, or one in its slot. */
function concerns(heard: Heard, found: Found | undefined): boolean {
  if (heard.kind === 'floor') return heard.data.layoutChanged
  if (heard.kind === 'unit')
    return (
      !found || found.answer?.matches.some(({ kind, id }) => kind === 'transport_unit' && id === heard.data.id) === true
    )
  if (heard.kind !== 'event') return false
  const { asset_barcode, asset_key, slot_id } = heard.data
  const asset = found?.answer?.matches.find(({ kind }) => kind === 'asset')?.asset
  const slot = found?.answer?.matches.find(({ kind }) => kind === 'slot')?.slot
  // Each event may be the first of an unknown code.
  if (!found || (!asset && !slot)) return true
  const names = new Set([
    ...[found.code, asset?.asset_id],
    ...(found.steps ?? []).flatMap(({ event }) => [event.asset_barcode, event.asset_key]),
  ])
  const isInSlot = slot_id === (slot?.id ?? found.steps?.at(-1)?.slot.id)
  return isInSlot || names.has(asset_barcode) || names.has(asset_key)
}

const titleOf = (code: string, answer: ScanAnswer | undefined) =>
  printable(answer?.matches.find(({ kind }) => kind === 'asset')?.asset?.asset_id ?? code)

async function findCode(code: string, at: string | undefined): Promise<Found> {
  const answer = await get('/api/whms/scan/{code}', { code })
  const isAsset = answer.matches.some(({ kind }) => kind === 'asset')
  const story = isAsset ? await storyOf(code, at === undefined ? '' : `&at=${encodeURIComponent(at)}`) : undefined
  return { code, answer, steps: story?.steps, leftOut: story?.leftOut ?? '' }
}

async function findBySignature(code: string, signed: string): Promise<Found> {
  const { data, pagination } = await ask<Story>(`${storyPath(code)}&signed=${signed}`)
  return { code, answer: undefined, steps: data, leftOut: pagination.hasMore ? words.newerLeftOut : '' }
}

const storyPath = (code: string) => `/api/whms/assets/${encodeURIComponent(code)}/story?limit=${pageSize}`

/** Returns the newest moves, oldest first, and says which are left out; undefined for a code that is no asset. */
async function storyOf(
  code: string,
  query: string,
): Promise<(Pick<Found, 'leftOut'> & { steps: StoryStep[] }) | undefined> {
  const path = `${storyPath(code)}${query}`
  try {
    let page = await ask<Story>(path)
    const { total } = page.pagination
    const older = Math.max(0, (total ?? 0) - mostSteps)
    if (older > 0) page = await ask<Story>(`${path}&offset=${older}`)
    const steps = [...page.data]
    // Events recorded meanwhile are read as well; only a story too long to count is read from its beginning.
    while (page.pagination.nextCursor !== null && (total !== null || steps.length < mostSteps)) {
      page = await ask<Story>(`${path}&cursor=${encodeURIComponent(page.pagination.nextCursor)}`)
      steps.push(...page.data)
    }
    const isCut = page.pagination.nextCursor !== null
    return { steps, leftOut: isCut ? words.newerLeftOut : older > 0 ? words.olderLeftOut(older) : '' }
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

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

/** An incident about a pallet refers to so many of its newest moves. */
const mostReferred = 20

/** Returns the references of an incident about the pallet, one on a line: photos and films belong to a move, not to a pallet. */
const aboutOf = (code: string, steps: readonly StoryStep[]): string =>
  [`asset:${code}`, ...steps.slice(-mostReferred).map(({ event }) => `event:${event.id}`)].join('\n')

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

type StoryProps = {
  code: string
  steps: readonly StoryStep[]
  leftOut: string
  match: ScanMatch | undefined
  at: string | undefined
  timeZone: string | undefined
  caller: SignedIn | undefined
  onLeft: (why: string) => void
}

const StoryOf = ({ code, steps, leftOut, match, at, timeZone, caller, onLeft }: StoryProps) => {
  const isSignedIn = caller !== undefined
  const [isPrinting, setPrinting] = useState(false)
  const asking = useRef(new Set<Promise<unknown>>())
  const onAsking = (asked: Promise<unknown>) => {
    asking.current?.add(asked)
    void asked.finally(() => asking.current?.delete(asked))
  }
  const print = async () => {
    setPrinting(true)
    // The moves send requests in the effects of the next drawing, and their answers are drawn before the page is printed.
    await nextFrame()
    await Promise.allSettled([...(asking.current ?? [])])
    await nextFrame()
    window.print()
    setPrinting(false)
  }
  const nowMs = at === undefined ? gatewayNow() : Date.parse(at)
  const stands = isSignedIn ? slotNow(steps, at === undefined ? match?.location : undefined) : undefined
  return (
    <>
      <div class="find-top">
        <section class="card find-head" aria-label={words.where}>
          {at === undefined ? null : (
            <p class="past">
              {words.past(exactTime(at, timeZone))}{' '}
              <a class="button plain" href={pageOfCode(code)} onClick={follow}>
                {words.toNow}
              </a>
            </p>
          )}
          <p class="where">{placeWords(steps, at === undefined ? match?.location : undefined, timeZone)}</p>
          {match?.asset ? <AssetFacts asset={match.asset} /> : null}
          <div class="find-acts">
            <button type="button" onClick={print}>
              <Icon name="print" /> {words.print}
            </button>
            {isSignedIn ? (
              <a
                class="button"
                href={`/api/whms/assets/${encodeURIComponent(code)}/label?format=svg`}
                target="_blank"
                rel="noopener"
              >
                <Icon name="print" /> {words.label}
              </a>
            ) : null}
            {caller?.permissions.includes('incidents:create') && at === undefined ? (
              <a class="button" href={`/incidents?about=${encodeURIComponent(aboutOf(code, steps))}`} onClick={follow}>
                <Icon name="warning" /> {aroundTexts.report}
              </a>
            ) : null}
            {isSignedIn && at === undefined ? <Share code={code} timeZone={timeZone} /> : null}
          </div>
        </section>
        {stands ? <SmallPlan slotId={stands.id} /> : null}
      </div>
      {stands && at === undefined ? <CountsHere slotId={stands.id} label={stands.slot_id} changes={steps} /> : null}
      {caller?.permissions.includes('incidents:read') && at === undefined ? (
        <IncidentsOf key={code} {...{ code, caller, timeZone, onLeft }} />
      ) : null}
      {isSignedIn && at === undefined && match?.asset?.gtin ? (
        <SameGoods key={`${match.asset.gtin} ${match.asset.lot}`} asset={match.asset} timeZone={timeZone} />
      ) : null}
      <section aria-labelledby="moves-title">
        <h2 id="moves-title">{words.moves(steps.length)}</h2>
        {leftOut === '' ? null : <p>{leftOut}</p>}
        <ol class="moves" reversed>
          {steps.toReversed().map((step) => (
            <Move key={step.event.id} {...{ step, code, timeZone, isSignedIn, nowMs, onAsking, isPrinting }} />
          ))}
        </ol>
      </section>
    </>
  )
}

const nextFrame = () => new Promise((resolve) => setTimeout(resolve, 50))

const AssetFacts = ({ asset }: { asset: Asset }) => {
  const facts = {
    [words.type]: asset.type === null ? null : assetTypeWords(asset.type),
    SSCC: asset.sscc,
    GTIN: asset.gtin,
    [words.lot]: asset.lot,
    [words.bestBefore]: asset.bestBefore,
    [words.serial]: asset.serial,
    [words.weight]: asset.weight_kg === null ? null : kilograms(asset.weight_kg),
  }
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, value]) =>
        value === null ? null : <Fact key={name} name={name} value={value} />,
      )}
    </dl>
  )
}

/** Makes a link to this story that works without a sign-in, for an hour. */
const Share = ({ code, timeZone }: { code: string; timeZone: string | undefined }) => {
  const [link, setLink] = useState<{ url: string; expiresAt: string } | undefined>(undefined)
  const [said, setSaid] = useState('')
  const share = () => {
    const body = { path: storyPath(code), seconds: linkSeconds }
    ask<{ url: string; expiresAt: string }>('/api/signed-urls', { method: 'POST', body }).then(
      ({ url, expiresAt }) => {
        const signed = url.slice(url.indexOf('signed='))
        setLink({ url: `${location.origin}${pageOfCode(code)}?${signed}`, expiresAt })
      },
      (error: Error) => setSaid(words.linkFailed(error.message)),
    )
  }
  const copy = () =>
    navigator.clipboard?.writeText(link?.url ?? '').then(
      () => setSaid(words.copied),
      () => setSaid(words.copyByHand),
    )
  return (
    <div class="share">
      <button type="button" onClick={share}>
        <Icon name="link" /> {words.link}
      </button>
      {link ? (
        <p>
          <label for="share-link">{words.opensUntil(exactTime(link.expiresAt, timeZone))}</label>
          <input id="share-link" type="text" readonly value={link.url} />
          <button type="button" onClick={copy}>
            {words.copy}
          </button>
        </p>
      ) : null}
      <p role="status">
        <Said words={said} />
      </p>
    </div>
  )
}
