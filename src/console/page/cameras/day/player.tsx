import { useEffect, useRef, useState } from 'preact/hooks'
import { membersOf } from '../../data/parsing.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import { gatewayWords } from '../../i18n/language.ts'
import { Said } from '../../i18n/said.tsx'
import { follow } from '../../kit/address.ts'
import { Icon } from '../../kit/icons.tsx'
import { ownPath } from '../../kit/own-path.ts'
import { HandOut } from '../clip-exports.tsx'
import { clockWords } from './day-words.ts'
import type { Entry } from './entries.ts'

const words = cameraTexts.day

/** `mayReport`: whether the caller may report an incident. `onHandedOut`: called when a clip was; undefined: the caller may not. */
export type ClipActs = {
  timeZone: string | undefined
  mayReport: boolean
  onHandedOut: (() => void) | undefined
}

type PlayerProps = { entry: Entry & { kind: 'detection' }; atMs: number } & ClipActs

/** The film of a detection, from the chosen time on. */
export const Player = ({ entry: { detection, fromMs }, atMs, timeZone, mayReport, onHandedOut }: PlayerProps) => {
  const [problem, setProblem] = useState('')
  const video = useRef<HTMLVideoElement>(null)
  const path = ownPath(detection.clipUrls.playback)
  useEffect(() => {
    if (video.current) video.current.currentTime = Math.max(0, (atMs - fromMs) / 1000)
  }, [atMs])
  const failed = () => {
    // The element says nothing about an answer; the gateway says why.
    void fetch(path ?? '', { headers: { Range: 'bytes=0-0' }, credentials: 'same-origin' })
      .then(async (answer) => {
        const { message } = membersOf(membersOf(await answer.json())['error'])
        return !answer.ok && typeof message === 'string' ? gatewayWords(message) : words.unplayable
      })
      .catch(() => words.unplayable)
      .then(setProblem)
  }
  return (
    <figure class="clip day-clip">
      <video
        ref={video}
        controls
        autoplay
        muted
        playsinline
        aria-label={words.clipOf(clockWords(Date.parse(detection.timestamp), timeZone))}
        poster={ownPath(detection.clipUrls.snapshot)}
        src={path}
        onError={failed}
      />
      <figcaption>
        <strong>{words.clipOf(clockWords(Date.parse(detection.timestamp), timeZone))}</strong>{' '}
        <span class="muted" lang="en">
          {detection.reason ?? ''}
        </span>
        <span class="problem" role="alert">
          <Said words={problem} />
        </span>
      </figcaption>
      {mayReport ? (
        <a class="button" href={`/incidents?about=detection_event:${detection.id}`} onClick={follow}>
          <Icon name="warning" /> {words.report}
        </a>
      ) : null}
      {onHandedOut ? <HandOut detectionId={detection.id} onMade={onHandedOut} /> : null}
    </figure>
  )
}
