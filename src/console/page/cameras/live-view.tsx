import { useEffect, useRef, useState } from 'preact/hooks'
import { cameraTexts as texts } from '../i18n/camera-texts.ts'
import { gatewayWords } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { type Marking, noMarking, ObjectMarks, ObjectSwitch, useObjectDetection } from './objects/marks.tsx'
import type { Ended } from './players.ts'

type Format = 'mpegts' | 'mpeg1'
type Props = {
  /** `problem` is said beside the pictures. */
  camera: { readonly id: number; readonly name: string; readonly problem: string | null }
  /** Whether objects may be marked in the pictures. */
  mayMark?: boolean
}

const againMs = 3000

const codecsHere = () => {
  const plays = (codec: string) =>
    typeof MediaSource !== 'undefined' && MediaSource.isTypeSupported(`video/mp4; codecs="${codec}"`)
  return [...(plays('avc1.42e01e') ? ['h264'] : []), ...(plays('hvc1.1.6.L93.B0') ? ['h265'] : [])]
}

/** The end of a long reason is cut off when a connection is closed with it. */
const isSaid = (why: string, problem: string | null) => problem?.startsWith(why.replace(/…$/, '')) ?? false

/** Live pictures of a camera, in the camera's own format where this browser plays it. */
export const LiveView = ({ camera, mayMark = false }: Props) => {
  const codecs = codecsHere()
  const asked = new URLSearchParams(location.search).get('format')
  const [format, setFormat] = useState<Format>(asked === 'mpeg1' || codecs.length === 0 ? 'mpeg1' : 'mpegts')
  const [words, setWords] = useState<string>(texts.connecting)
  const [why, setWhy] = useState('')
  const [attempt, setAttempt] = useState(0)
  const video = useRef<HTMLVideoElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const objects = useObjectDetection(mayMark)
  const [marking, setMarking] = useState<Marking>(noMarking)
  useEffect(() => {
    const ends: (() => void)[] = []
    let isLeft = false
    const onEnd = ({ code, reason }: Ended) => {
      for (const end of ends.splice(0)) end()
      if (isLeft) return
      setWords(reason ? '' : texts.lost)
      setWhy(reason)
      if (format === 'mpegts' && (code === 0 || reason.includes('format=mpeg1'))) setFormat('mpeg1')
      else if (code === 4401) location.reload()
      else if (code !== 4404) ends.push(again())
    }
    const again = () => {
      const timer = setTimeout(() => setAttempt((before) => before + 1), againMs)
      return () => clearTimeout(timer)
    }
    const onBytes = () => {
      setWords('')
      setWhy('')
    }
    const playing = { onEnd, onBytes }
    import('./players.ts').then(
      ({ playOriginal, playConverted }) => {
        if (isLeft) return
        const query = format === 'mpegts' ? `format=mpegts&codecs=${codecs.join()}` : 'format=mpeg1'
        const url = `${location.origin.replace('http', 'ws')}/api/iot/cctv/${camera.id}/live?${query}`
        if (format === 'mpegts' && video.current) ends.push(playOriginal(url, video.current, playing))
        if (format === 'mpeg1' && canvas.current) ends.push(playConverted(url, canvas.current, playing))
      },
      () => onEnd({ code: 1006, reason: '' }),
    )
    return () => {
      isLeft = true
      for (const end of ends.splice(0)) end()
    }
  }, [format, attempt])
  const label = texts.liveOf(camera.name)
  // Another element after the format has changed, or after a new connection.
  const picture = () => frame.current?.querySelector<HTMLVideoElement | HTMLCanvasElement>('video, canvas') ?? null
  return (
    <figure class="live">
      <div class="live-picture" ref={frame}>
        {format === 'mpegts' ? (
          <video ref={video} muted playsinline aria-label={label} />
        ) : (
          <canvas key={attempt} ref={canvas} role="img" aria-label={label} />
        )}
        <ObjectMarks found={marking.found} />
      </div>
      <figcaption>
        <span role="status">
          <Said words={why === '' ? words : isSaid(why, camera.problem) ? texts.noPicture : gatewayWords(why)} />
        </span>
      </figcaption>
      {objects ? <ObjectSwitch settings={objects} picture={picture} marking={marking} onChange={setMarking} /> : null}
    </figure>
  )
}
