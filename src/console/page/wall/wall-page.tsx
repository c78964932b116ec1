import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { gatewayNow, Refused } from '../data/ask.ts'
import { wholePercent } from '../data/floor-use.ts'
import { useEvery } from '../data/use-every.ts'
import { useLive } from '../data/use-live.ts'
import { numberWords } from '../i18n/counting.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { timeOfDay } from '../i18n/words.ts'
import { Icon } from '../kit/icons.tsx'
import { NewestPicture } from '../pictures/newest-picture.tsx'
import { EnrolScreen, signInScreen } from './enrol.tsx'
import { shiftAt, shiftEveryMs, turnOf } from './shift.ts'
import { wallTexts as words } from './texts.ts'
import { type WallCamera, type WallTrouble, wallTroubles } from './trouble.ts'

/** Things that a screen shows at once. More of them take turns, but for troubles: there the worst stay. */
const atOnce = { tiles: 6, tilesInTrouble: 3, zones: 8, troubles: 3 }
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
  // Not for each event of the floor: thirty screens would ask for all of it every five seconds.
  const { answer, problem } = useLive(load, ['camera', 'health'], onLeft)
  const [freshMs, setFresh] = useState(0)
  useEffect(() => {
    if (answer) setFresh(gatewayNow())
  }, [answer])
  useNewVersion(answer?.health.version)
  const [picture, isTurned] = useShift()
  if (!answer) return <Waiting isLost={problem !== ''} />
  const { health, cameras, timeZone } = answer
  const troubles = wallTroubles({ checks: health.checks, cameras })
  return (
    <main class={isTurned ? 'wall turned' : 'wall'} ref={picture}>
      <header class="wall-head">
        <h1>{siteId}</h1>
        <Clock timeZone={timeZone} />
      </header>
      <Troubles troubles={troubles} staleSince={problem === '' ? undefined : timeOfDay(freshMs, timeZone)} />
      <Figures answer={answer} />
      <Tiles
        cameras={cameras.filter(({ online }) => online)}
        room={troubles.length > 1 ? atOnce.tilesInTrouble : atOnce.tiles}
      />
    </main>
  )
}

async function load() {
  const [health, utilization, discrepancies, cameras, warehouses] = await Promise.all([
    get('/api/health', {}),
    get('/api/whms/dashboard/utilization', {}),
    get('/api/whms/discrepancies', {}),
    get('/api/iot/cctv', {}),
    get('/api/whms/warehouses', {}),
  ])
  return {
    health,
    utilization,
    contradictions: discrepancies.data.length,
    cameras: cameras.data,
    timeZone: warehouses.data[0]?.timezone,
  }
}

type Answer = Awaited<ReturnType<typeof load>>

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

type TroublesProps = { troubles: readonly WallTrouble[]; staleSince: string | undefined }

const Troubles = ({ troubles, staleSince }: TroublesProps) => {
  const stale = { id: 'stale', what: words.stale(staleSince ?? ''), means: words.staleMeans, isWorst: true }
  const all = staleSince === undefined ? troubles : [stale, ...troubles]
  const shown = all.slice(0, atOnce.troubles)
  return (
    <section class="wall-troubles" aria-live="polite">
      {all.length === 0 ? (
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

const Figures = ({ answer: { utilization, contradictions, cameras } }: { answer: Answer }) => {
  const turn = useEvery(turnMs / 4, turnNow)
  const { occupiedSlots, totalSlots, utilizationPercent, pendingVerifications, byZone } = utilization
  const wanted = cameras.filter(({ enabled, state }) => enabled && state !== 'off')
  const watching = wanted.filter(({ online }) => online).length
  const zones = byZone.filter(({ total }) => total > 0)
  return (
    <>
      <dl class="wall-figures">
        <Figure name={words.occupied} value={percentOf(utilizationPercent)} more={ofWords(occupiedSlots, totalSlots)} />
        <Figure name={words.toVerify} value={numberWords(pendingVerifications)} />
        <Figure name={words.contradictions} value={numberWords(contradictions)} />
        {wanted.length === 0 ? null : <Figure name={words.watching} value={ofWords(watching, wanted.length)} />}
      </dl>
      {zones.length < 2 ? null : (
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

const Tiles = ({ cameras, room }: { cameras: readonly WallCamera[]; room: number }) => {
  const turn = useEvery(turnMs / 4, turnNow)
  if (cameras.length === 0) return null
  return (
    <ul class="wall-tiles" aria-label={words.cameras}>
      {turnOf(cameras, room, turn).map((camera) => (
        <li key={camera.id}>
          <NewestPicture camera={camera} isWanted />
          <p class="tile-name">{camera.name}</p>
        </li>
      ))}
    </ul>
  )
}
