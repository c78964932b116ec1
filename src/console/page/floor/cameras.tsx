import { useState } from 'preact/hooks'
import type { Camera, Detection } from '../data/shapes.ts'
import { problemWords } from '../i18n/problem-words.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { exactTime, whenWords } from '../i18n/words.ts'
import { Icon } from '../kit/icons.tsx'
import { ownPath } from '../kit/own-path.ts'
import { floorTexts } from './floor-texts.ts'

type Props = {
  cameras: readonly Camera[] | undefined
  detections: readonly Detection[] | undefined
  isAbsent: boolean
  timeZone: string | undefined
}

const words = floorTexts.cameras

export const Cameras = ({ cameras, detections = [], isAbsent, timeZone }: Props) => (
  <section class="card cameras" aria-labelledby="cameras-title">
    <h2 id="cameras-title">
      <Icon name="camera" /> {words.title}
    </h2>
    {cameras && cameras.length > 0 ? <a href="/cameras">{words.live}</a> : null}
    {isAbsent || cameras?.length === 0 ? <p class="blank">{words.none}</p> : null}
    {cameras === undefined && !isAbsent ? <p class="blank">{texts.loading}</p> : null}
    {cameras && cameras.length > 0 ? (
      <>
        <ul class="rows">
          {cameras.map((camera) => (
            <CameraRow key={camera.id} camera={camera} timeZone={timeZone} />
          ))}
        </ul>
        <Clips cameras={cameras} detections={detections} timeZone={timeZone} />
      </>
    ) : null}
  </section>
)

const CameraRow = ({ camera, timeZone }: { camera: Camera; timeZone: string | undefined }) => {
  const state = camera.enabled ? camera.state : 'off'
  const tone = state === 'off' ? 'off' : camera.online ? 'ok' : 'danger'
  return (
    <li>
      <span>
        <strong>{camera.name}</strong> <span class={`chip ${tone}`}>{words.states[state] ?? state}</span>
        {camera.problem ? (
          <span class="problem-line">
            <Said words={problemWords(camera)} />
          </span>
        ) : null}
      </span>
      <span class="muted">
        {camera.lastFrameAt ? words.lastPicture(whenWords(camera.lastFrameAt, timeZone)) : words.noPicture}
      </span>
    </li>
  )
}

type ClipsProps = { cameras: readonly Camera[]; detections: readonly Detection[]; timeZone: string | undefined }

/** Shows the newest clip, or the chosen one; while a clip plays, a newer one waits. */
const Clips = ({ cameras, detections, timeZone }: ClipsProps) => {
  const [kept, setKept] = useState<Detection | undefined>(undefined)
  const clips = detections.filter((one) => pathOf(one) !== undefined && one.clipStatus === 'recorded')
  const clip = kept ?? clips[0]
  if (!clip) return <p class="blank">{words.noMotion}</p>
  const nameOf = (one: Detection) =>
    cameras.find((camera) => camera.id === one.cctvId)?.name ?? words.camera(one.cctvId)
  return (
    <>
      <figure class="clip">
        <video
          key={clip.id}
          controls
          muted
          playsinline
          preload="metadata"
          poster={ownPath(clip.clipUrls.snapshot)}
          src={pathOf(clip)}
          aria-label={words.clipOf(nameOf(clip))}
          onPlay={() => setKept(clip)}
        />
        <figcaption>
          <strong>{nameOf(clip)}</strong>{' '}
          <span class="muted">
            {exactTime(clip.timestamp, timeZone)}
            {clip.duration ? ` · ${Math.round(clip.duration)} s` : ''}
          </span>
        </figcaption>
      </figure>
      {clips.length > 1 ? (
        <ul class="clip-choice" aria-label={words.lastClips}>
          {clips.map((one) => (
            <li key={one.id}>
              <button type="button" aria-pressed={one.id === clip.id ? 'true' : 'false'} onClick={() => setKept(one)}>
                {nameOf(one)} <span class="muted">{whenWords(one.timestamp, timeZone)}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  )
}

const pathOf = (detection: Detection) => ownPath(detection.clipUrls.playback)
