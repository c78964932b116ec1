import { useEffect, useRef, useState } from 'preact/hooks'
import { post } from '../data/api.ts'
import { ask, gatewayNow } from '../data/ask.ts'
import type { Alert, Gap, ListedCamera, SignedIn } from '../data/shapes.ts'
import { HelpLink } from '../help/help-link.tsx'
import { cameraTexts as texts } from '../i18n/camera-texts.ts'
import { alertsOf, meaningOf, standingOf } from '../i18n/camera-words.ts'
import { Said } from '../i18n/said.tsx'
import { whenWords } from '../i18n/words.ts'
import { follow } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { NewestPicture } from '../pictures/newest-picture.tsx'
import { LiveView } from './live-view.tsx'

/** Does something at the gateway, and then says that it was done. */
export type Act = (work: () => Promise<unknown>, words: string) => void

export type Around = {
  readonly gaps: ReadonlyMap<number, Gap>
  readonly alerts: readonly Alert[]
  readonly zoneOf: (camera: ListedCamera) => string | undefined
}

type WallProps = { cameras: readonly ListedCamera[]; around: Around; caller: SignedIn; onAct: Act }

/** All cameras: the newest picture of each, and live pictures of the chosen ones. */
export const CameraWall = ({ cameras, around, caller, onAct }: WallProps) => {
  const [isAllLive, setAllLive] = useState(false)
  const [live, setLive] = useState<ReadonlySet<number>>(new Set())
  if (cameras.length === 0) {
    return (
      <section class="card">
        <p>
          <strong>{texts.none}</strong>
        </p>
        <p>{caller.role === 'admin' ? texts.noneAdmin : texts.noneOther}</p>
        {caller.role === 'admin' ? (
          <p>
            <HelpLink to="cameras" />
          </p>
        ) : null}
      </section>
    )
  }
  const choose = (id: number) => setLive((before) => (before.has(id) ? without(before, id) : new Set([...before, id])))
  return (
    <>
      <fieldset class="wall-pictures">
        <legend>{texts.pictures}</legend>
        {[false, true].map((value) => (
          <label key={String(value)}>
            <input type="radio" name="pictures" checked={isAllLive === value} onInput={() => setAllLive(value)} />
            {value ? texts.allLive : texts.newPictures}
          </label>
        ))}
      </fieldset>
      <ul class="camera-wall">
        {cameras.map((camera) => (
          <Tile
            key={camera.id}
            camera={camera}
            around={around}
            caller={caller}
            isLive={isAllLive ? camera.online : live.has(camera.id)}
            onLive={isAllLive ? undefined : () => choose(camera.id)}
            onAct={onAct}
          />
        ))}
      </ul>
    </>
  )
}

const without = (set: ReadonlySet<number>, id: number) => new Set([...set].filter((one) => one !== id))

type TileProps = {
  camera: ListedCamera
  around: Around
  caller: SignedIn
  isLive: boolean
  onLive: (() => void) | undefined
  onAct: Act
}

const Tile = ({ camera, around, caller, isLive, onLive, onAct }: TileProps) => {
  const place = useRef<HTMLLIElement>(null)
  const isSeen = useSeen(place)
  const [takenMs, setTaken] = useState<number | undefined>(undefined)
  const timeZone = around.zoneOf(camera)
  const path = `/cameras/${camera.id}`
  const liveWords = isLive ? texts.stopLive : texts.watchLive
  return (
    <li ref={place} class="card camera-tile">
      <h2>
        <a href={path} onClick={follow}>
          {camera.name}
        </a>
      </h2>
      <div class="tile-picture">
        {isLive && isSeen ? (
          <LiveView camera={camera} />
        ) : (
          <NewestPicture camera={camera} isWanted={camera.online && !isLive} onTaken={setTaken} />
        )}
      </div>
      <Standing camera={camera} around={around} />
      {!isLive && camera.online && takenMs !== undefined ? (
        <p class="muted">{texts.taken(whenWords(new Date(takenMs).toISOString(), timeZone))}</p>
      ) : null}
      <CameraAlerts camera={camera} around={around} caller={caller} onAct={onAct} />
      <p class="tile-acts">
        {onLive && mayGive(camera) ? (
          <button type="button" aria-label={`${liveWords}: ${camera.name}`} onClick={onLive}>
            <Icon name="camera" /> {liveWords}
          </button>
        ) : null}
        <a class="button" href={path} aria-label={`${texts.open}: ${camera.name}`} onClick={follow}>
          {texts.open}
        </a>
      </p>
    </li>
  )
}

/** Whether a viewer may get pictures: one without motion detection is connected for a viewer. */
const mayGive = ({ enabled, online, state }: ListedCamera) => enabled && (online || state === 'off')

/** A camera far off the screen, or on a hidden page, is not streamed. */
function useSeen(place: { readonly current: HTMLElement | null }): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    let isNear = false
    const look = () => setSeen(isNear && !document.hidden)
    const observer = new IntersectionObserver((seen) => {
      isNear = seen.at(-1)?.isIntersecting ?? false
      look()
    })
    observer.observe(place.current)
    document.addEventListener('visibilitychange', look)
    return () => {
      observer.disconnect()
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
  return isSeen
}

/** How the camera is, since when and why. */
export const Standing = ({ camera, around }: { camera: ListedCamera; around: Around }) => {
  const { tone, state, why } = standingOf(camera, around.gaps.get(camera.id), gatewayNow(), around.zoneOf(camera))
  return (
    <p class="standing">
      <span class={`chip ${tone}`}>{state}</span> <Said words={why} />
    </p>
  )
}

type AlertsProps = { camera: ListedCamera; around: Around; caller: SignedIn; onAct: Act }

/** The open alerts of a camera, each with its meaning and the next step. */
export const CameraAlerts = ({ camera, around, caller, onAct }: AlertsProps) => {
  const alerts = alertsOf(around.alerts, camera)
  const isOdd = camera.scene?.state === 'covered' || camera.scene?.state === 'turned'
  const body = { cctvId: camera.id, action: 'start' }
  const accept = () => ask('/api/iot/detection/motion-stream', { method: 'POST', body })
  return (
    <>
      {alerts.length === 0 ? null : (
        <ul class="camera-alerts" aria-label={texts.alerts}>
          {alerts.map((alert) => (
            <AlertItem key={alert.id} alert={alert} caller={caller} timeZone={around.zoneOf(camera)} onAct={onAct} />
          ))}
        </ul>
      )}
      {isOdd && camera.motion.area !== null && camera.motion.running ? (
        <p>
          <button type="button" onClick={() => onAct(accept, texts.accepted(camera.name))}>
            {texts.accept}
          </button>
        </p>
      ) : null}
    </>
  )
}

type AlertProps = { alert: Alert; caller: SignedIn; timeZone: string | undefined; onAct: Act }

const AlertItem = ({ alert, caller, timeZone, onAct }: AlertProps) => {
  const { means, todo } = meaningOf(alert)
  const acknowledge = () => post('/api/alerts/{id}/acknowledge', { id: alert.id })
  return (
    <li>
      <p>
        <Icon name="bell" /> <strong lang="en">{alert.message}</strong>{' '}
        <span class="muted">{whenWords(alert.createdAt, timeZone)}</span>
      </p>
      <p>
        <strong>{texts.means}</strong> {means}
      </p>
      <p>
        <strong>{texts.todo}</strong> {todo}
      </p>
      {caller.permissions.includes('alerts:manage') && alert.id > 0 ? (
        <button type="button" onClick={() => onAct(acknowledge, texts.acknowledged)}>
          {texts.acknowledge}
        </button>
      ) : null}
    </li>
  )
}
