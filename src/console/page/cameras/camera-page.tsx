import { useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { Refused } from '../data/ask.ts'
import type { Alert, Gap, ListedCamera, SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { cameraTexts as words } from '../i18n/camera-texts.ts'
import { language } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'
import { follow } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import type { ViewProps } from '../kit/views.ts'
import { CameraAnalytics } from './analytics.tsx'
import { type Act, type Around, CameraAlerts, CameraWall, Standing } from './camera-wall.tsx'
import {
  type ClipExport,
  ClipExports,
  mayHandOut,
  mayReadExports,
  readExports,
  WaitingExports,
} from './clip-exports.tsx'
import { CameraDay } from './day/camera-day.tsx'
import { LiveView } from './live-view.tsx'

/** The cameras at `/cameras`, and one of them at `/cameras/ID`. */
export const View = ({ siteId, caller, pathname, onLeft }: ViewProps) => {
  const [done, setDone] = useState('')
  const [problem, setProblem] = useState('')
  const title = useRef<HTMLHeadingElement>(null)
  const { answer, ...asking } = useLive(
    () => load(caller),
    ['camera', 'alert'],
    () => onLeft(texts.signedOut),
  )
  const act: Act = (work, said) => {
    setProblem('')
    work().then(
      () => {
        setDone(said)
        // The pressed button may disappear.
        title.current?.focus({ preventScroll: true })
        asking.reload()
      },
      (error: Error) => {
        if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
        else setProblem(`${error.message}.`)
      },
    )
  }
  const [, id] = /^\/cameras\/([^/]+)\/?$/.exec(pathname) ?? []
  const camera = answer?.cameras.find((one) => String(one.id) === id)
  const watching = answer?.cameras.filter(({ online }) => online).length ?? 0
  return (
    <>
      <Bar here="cameras" siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={asking.problem} problem={problem} />
      <main class="camera-page">
        <div class="camera-head">
          {id === undefined ? null : (
            <a class="button" href="/cameras" onClick={follow}>
              {words.all}
            </a>
          )}
          <h1 tabindex={-1} ref={title}>
            {camera?.name ?? words.title}
          </h1>
          <p class="muted" role="status">
            {done} {answer ? (id === undefined ? words.count(answer.cameras.length, watching) : '') : texts.loading}
          </p>
        </div>
        {answer && id === undefined ? (
          <>
            <WaitingExports cameras={answer.cameras} exports={answer.exports} caller={caller} />
            <CameraWall cameras={answer.cameras} around={answer.around} caller={caller} onAct={act} />
          </>
        ) : null}
        {answer && id !== undefined && !camera ? <p class="card">{words.noSuch}</p> : null}
        {answer && camera ? (
          <OneCamera
            key={camera.id}
            {...{ camera, caller }}
            around={answer.around}
            exports={answer.exports}
            onAct={act}
            onHandedOut={asking.reload}
          />
        ) : null}
      </main>
    </>
  )
}

type OneProps = {
  camera: ListedCamera
  around: Around
  exports: readonly ClipExport[]
  caller: SignedIn
  onAct: Act
  onHandedOut: () => void
}

const OneCamera = ({ camera, around, exports, caller, onAct, onHandedOut }: OneProps) => (
  <div class="one-camera">
    <section class="card" aria-label={words.liveOf(camera.name)}>
      <LiveView camera={camera} mayMark />
      <Standing camera={camera} around={around} />
      <p class="muted">
        {camera.purpose ?? ''} {words.slots(camera.slots)}
      </p>
      <CameraAlerts camera={camera} around={around} caller={caller} onAct={onAct} />
      <CameraAnalytics analytics={camera.analytics} />
      <p>
        <a
          class="button"
          href={`/api/iot/cctv/${camera.id}/notice?language=${language}`}
          target="_blank"
          rel="noopener"
        >
          {words.notice}
        </a>
      </p>
    </section>
    <CameraDay
      camera={camera}
      timeZone={around.zoneOf(camera)}
      mayReport={caller.permissions.includes('incidents:create')}
      onHandedOut={mayHandOut(caller) ? onHandedOut : undefined}
    />
    {mayReadExports(caller) ? (
      <ClipExports {...{ camera, exports, caller, onAct }} timeZone={around.zoneOf(camera)} />
    ) : null}
  </div>
)

type Loaded = {
  readonly cameras: readonly ListedCamera[]
  readonly around: Around
  readonly exports: readonly ClipExport[]
}

const noAlerts: readonly Alert[] = []

/** Reads the cameras with what is around them: the gaps that last, alerts, the zones of their warehouses, clips that were handed out. */
async function load(caller: SignedIn): Promise<Loaded> {
  const [{ data: cameras }, warehouses, alerts, exports] = await Promise.all([
    get('/api/iot/cctv', {}),
    get('/api/whms/warehouses', {}),
    caller.permissions.includes('alerts:read')
      ? get('/api/alerts', { acknowledged: 'false', limit: 100 })
      : { data: noAlerts },
    mayReadExports(caller) ? readExports() : [],
  ])
  for (const { id, online } of cameras) if (online) knownGaps.delete(id)
  const found = await Promise.all(cameras.filter(({ online }) => !online).map(({ id }) => newestGap(id)))
  const gaps = new Map(found.flatMap((gap) => (gap ? [[gap.cctvId, gap]] : [])))
  const zones = new Map(warehouses.data.map(({ id, timezone }) => [id, timezone]))
  const around = { gaps, alerts: alerts.data, zoneOf: ({ warehouseId }: ListedCamera) => zones.get(warehouseId ?? 0) }
  return { cameras, around, exports }
}

/** A camera that is away tells of each attempt; asking for its gap each time would use up the rate of the caller. */
const gapKeptMs = 60_000
const knownGaps = new Map<number, { readonly askedMs: number; readonly gap: Gap | undefined }>()

async function newestGap(id: number): Promise<Gap | undefined> {
  const known = knownGaps.get(id)
  if (known && performance.now() - known.askedMs < gapKeptMs) return known.gap
  const [gap] = (await get('/api/iot/cctv/{id}/gaps', { id, limit: 1 })).data
  // One that has ended is not the gap that lasts: it is asked for again.
  if (gap?.to === null) knownGaps.set(id, { askedMs: performance.now(), gap })
  return gap
}
