import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { gatewayNow, Refused } from '../data/ask.ts'
import { utilizationOf, wholePercent } from '../data/floor-use.ts'
import type { Heard } from '../data/heard.ts'
import type { Slot } from '../data/shapes.ts'
import { useEvery } from '../data/use-every.ts'
import { useLive } from '../data/use-live.ts'
import { useOdd } from '../data/use-odd.ts'
import { withStates } from '../data/verify-queue.ts'
import { numberWords } from '../i18n/counting.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { timeOfDay } from '../i18n/words.ts'
import { Icon } from '../kit/icons.tsx'
import { NewestPicture } from '../pictures/newest-picture.tsx'
import { EnrolScreen, signInScreen } from './enrol.tsx'
import { shiftAt, shiftEveryMs, turnOf } from './shift.ts'
import { wallTexts as words } from './texts.ts'
import { openTasks, type WallCamera, type WallTrouble, wallTroubles } from './trouble.ts'
import { slotsOn, WallPlan } from './wall-plan.tsx'

/** Things that a screen shows at once. More of them take turns, but for troubles: there the worst stay. */
const atOnce = { tiles: 4, zones: 8, troubles: 3 }
const turnMs = 20_000
const retryMs = 5000

type Standing =
  | { readonly kind: 'asking'; readonly isLost: boolean }
  | { readonly kind: 'out'; readonly problem: string }
  | { readonly kind: 'in'; readonly siteId: string }

/**
 * The screen on the wall, at `/wall`. It belongs to no person: the screen is enrolled, signs in without one, and only reads.
 */
export const View = () => {
  const [standing, setStanding] = useState<Standing>({ kind: 'asking', isLost: false })
  const begin = () => {
    signInScreen().then(
      (session) => setStanding(session ? { kind: 'in', siteId: session.siteId } : { kind: 'out', problem: '' }),
      (error: unknown) => {
        if (error instanceof Refused && error.isSignedOut) return setStanding({ kind: 'out', problem: words.revoked })
        // The old content stays on the screen, with the time since when it is old.
        setStanding((before) => (before.kind === 'in' ? before : { kind: 'asking', isLost: true }))
        setTimeout(begin, retryMs)
      },
    )
  }
  useEffect(begin, [])
  useEffect(() => {
    document.documentElement.classList.add('wall-screen')
    document.title = words.title
    stayAwake()
    document.addEventListener('visibilitychange', stayAwake)
  }, [])
  if (standing.kind === 'in') return <Wall siteId={standing.siteId} onLeft={begin} />
  if (standing.kind === 'out') return <EnrolScreen problem={standing.problem} onDone={begin} />
  return <Waiting isLost={standing.isLost} />
}

const Waiting = ({ isLost }: { isLost: boolean }) => (
  <main class="wall-gate">
    <h1>Gatehouse</h1>
    <p role="status">{isLost ? words.unreachable : ''}</p>
  </main>
)

/** Keeps the screen on where the browser can; it ends with each change of tabs. */
function stayAwake(): void {
  if (!document.hidden) void navigator.wakeLock?.request('screen').catch(() => undefined)
}

const Wall = ({ siteId, onLeft }: { siteId: string; onLeft: () => void }) => {
  const { answer, problem: boxProblem } = useLive(load, ['camera', 'health'], onLeft)
  const { answer: floor, problem: floorProblem } = useLive(loadFloor, ['floor'], onLeft, floorManner)
  const odd = useOdd(undefined, '', floor !== undefined, floor)
  const problem = boxProblem || floorProblem
  const [freshMs, setFresh] = useState(0)
  useEffect(() => {
    if (answer) setFresh(gatewayNow())
  }, [answer, floor])
  useNewVersion(answer?.health.version)
  const [picture, isTurned] = useShift()
  if (!answer || !floor) return <Waiting isLost={problem !== ''} />
  const { health, cameras } = answer
  const timeZone = floor.warehouses[0]?.timezone
  const troubles = [...wallTroubles({ checks: health.checks, cameras }), ...openTasks(floor.slots, odd)]
  return (
    <main class={isTurned ? 'wall turned' : 'wall'} ref={picture}>
      <header class="wall-head">
        <h1>{siteId}</h1>
        <Clock timeZone={timeZone} />
      </header>
      <div class="wall-body">
        <div class="wall-view">
          <Halls floor={floor} odd={odd} />
          <Tiles cameras={cameras.filter(({ online }) => online)} />
        </div>
        <div class="wall-words">
          <Troubles
            troubles={troubles}
            isKnown={odd !== undefined}
            staleSince={problem === '' ? undefined : timeOfDay(freshMs, timeZone)}
          />
          <Figures floor={floor} odd={odd} cameras={cameras} hasZones={troubles.length < 2} />
        </div>
      </div>
    </main>
  )
}

async function load() {
  const [health, cameras] = await Promise.all([get('/api/health', {}), get('/api/iot/cctv', {})])
  return { health, cameras: cameras.data }
}

async function loadFloor() {
  const [slots, zones, warehouses] = await Promise.all([
    get('/api/whms/slots', {}),
    get('/api/whms/zones', {}),
    get('/api/whms/warehouses', {}),
  ])
  const all: readonly Slot[] = slots.data
  return { slots: all, zones: zones.data, warehouses: warehouses.data }
}

type Floor = Awaited<ReturnType<typeof loadFloor>>
type Odd = ReadonlyMap<number, string> | undefined

/** The stream sends each change of a slot, so thirty screens ask for the floor once. */
const floorManner = {
  comesLive: () => true,
  isHeavy: true,
  apply: (heard: Heard, floor: Floor): Floor | undefined =>
    heard.kind !== 'floor' || heard.data.layoutChanged
      ? undefined
      : { ...floor, slots: withStates(floor.slots, heard.data.slots) },
}

/** Loads the page anew after an update of the gateway. */
function useNewVersion(version: string | undefined): void {
  const before = useRef<string | null>(null)
  useEffect(() => {
    if (version === undefined) return
    if (before.current !== null && before.current !== version) location.reload()
    before.current = version
  }, [version])
}

/** Moves the element a little every minute, so that nothing burns in. Says whether the parts have changed places. */
function useShift() {
  const moved = useRef<HTMLElement>(null)
  const step = useEvery(shiftEveryMs / 4, () => Math.floor(gatewayNow() / shiftEveryMs))
  const { x, y, isTurned } = shiftAt(step)
  useEffect(() => moved.current?.style.setProperty('transform', `translate(${x}px, ${y}px)`))
  return [moved, isTurned] as const
}

const Clock = ({ timeZone }: { timeZone: string | undefined }) => (
  <p class="wall-time">{timeOfDay(useEvery(1000, gatewayNow), timeZone)}</p>
)

/** `isKnown`: whether the contradictions are known; before that nothing is called well. */
type TroublesProps = { troubles: readonly WallTrouble[]; isKnown: boolean; staleSince: string | undefined }

const Troubles = ({ troubles, isKnown, staleSince }: TroublesProps) => {
  const stale = { id: 'stale', what: words.stale(staleSince ?? ''), means: words.staleMeans, isWorst: true }
  const all = staleSince === undefined ? troubles : [stale, ...troubles]
  const shown = all.slice(0, atOnce.troubles)
  return (
    <section class="wall-troubles" aria-live="polite">
      {all.length === 0 && isKnown ? (
        <p class="wall-well">
          <Icon name="verified" /> {words.allWell}
        </p>
      ) : null}
      {shown.map(({ id, what, means, isWorst }) => (
        <div key={id} class={isWorst ? 'wall-trouble worst' : 'wall-trouble'}>
          <h2>
            <Icon name="warning" /> {what}
          </h2>
          <p>
            <Said words={means} />
          </p>
        </div>
      ))}
      {all.length > shown.length ? <p class="wall-more">{words.more(numberWords(all.length - shown.length))}</p> : null}
    </section>
  )
}

const percentOf = (percent: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent' }).format(wholePercent(percent) / 100)

const ofWords = (n: number, all: number): string => words.of(numberWords(n), numberWords(all))

/** `hasZones`: whether troubles leave room for the zones. */
type FiguresProps = { floor: Floor; odd: Odd; cameras: readonly WallCamera[]; hasZones: boolean }

const Figures = ({ floor, odd, cameras, hasZones }: FiguresProps) => {
  const turn = useEvery(turnMs / 4, turnNow)
  const use = utilizationOf(floor.slots, floor.zones)
  const { occupiedSlots, totalSlots, utilizationPercent, pendingVerifications, byZone } = use
  const wanted = cameras.filter(({ enabled, state }) => enabled && state !== 'off')
  const watching = wanted.filter(({ online }) => online).length
  const zones = byZone.filter(({ total }) => total > 0)
  return (
    <>
      <dl class="wall-figures">
        <Figure name={words.occupied} value={percentOf(utilizationPercent)} more={ofWords(occupiedSlots, totalSlots)} />
        <Figure name={words.toVerify} value={numberWords(pendingVerifications)} />
        <Figure name={words.contradictions} value={odd ? numberWords(odd.size) : '–'} />
        {wanted.length === 0 ? null : <Figure name={words.watching} value={ofWords(watching, wanted.length)} />}
      </dl>
      {zones.length < 2 || !hasZones ? null : (
        <section class="wall-zones" aria-label={words.zones}>
          {turnOf(zones, atOnce.zones, turn).map(({ zone, occupied, total }) => (
            <p key={zone}>
              <strong>{zone}</strong> {ofWords(occupied, total)}
              <meter min={0} max={Math.max(total, 1)} value={occupied} aria-label={zone} />
            </p>
          ))}
        </section>
      )}
    </>
  )
}

const Figure = ({ name, value, more }: { name: string; value: string; more?: string }) => (
  <div class="wall-figure">
    <dt>{name}</dt>
    <dd>
      <span class="wall-value">{value}</span>
      {more === undefined ? null : <span class="muted"> {more}</span>}
    </dd>
  </div>
)

const turnNow = () => Math.floor(gatewayNow() / turnMs)

/** The halls, one after the other when there are several. */
const Halls = ({ floor, odd }: { floor: Floor; odd: Odd }) => {
  const turn = useEvery(turnMs / 4, turnNow)
  const halls = floor.warehouses.filter((warehouse) => slotsOn(floor.slots, warehouse).length > 0)
  const [hall] = turnOf(halls, 1, turn)
  return hall ? <WallPlan warehouse={hall} slots={floor.slots} odd={odd} /> : null
}

const Tiles = ({ cameras }: { cameras: readonly WallCamera[] }) => {
  const turn = useEvery(turnMs / 4, turnNow)
  if (cameras.length === 0) return null
  return (
    <ul class="wall-tiles" aria-label={words.cameras}>
      {turnOf(cameras, atOnce.tiles, turn).map((camera) => (
        <li key={camera.id}>
          <NewestPicture camera={camera} isWanted />
          <p class="tile-name">{camera.name}</p>
        </li>
      ))}
    </ul>
  )
}
