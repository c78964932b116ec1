import { useEffect, useRef, useState } from 'preact/hooks'
import { gatewayWords } from '../i18n/language.ts'
import { Icon } from '../kit/icons.tsx'
import { cameraScanTexts as texts } from './camera-scan-texts.ts'
import { type CodeReader, openReader } from './reader.ts'

/** A code that was not read for so long has left the picture. */
const goneAfterMs = 2000
const everyMs = 120

type Props = {
  /** Called with each code that is read; not again for the same one while it stays in the picture. */
  onCode: (code: string) => void
  /** Called when somebody closes it (''), or with what went wrong. */
  onEnd: (problem: string) => void
}

type Torch = MediaTrackCapabilities & { readonly torch?: boolean }

/** Shows the camera of the device and reads codes, until somebody closes it. */
export const CameraScan = ({ onCode, onEnd }: Props) => {
  const video = useRef<HTMLVideoElement>(null)
  const track = useRef<MediaStreamTrack | undefined>(undefined)
  const [torch, setTorch] = useState<boolean | undefined>(undefined)
  const [isReading, setReading] = useState(false)
  useEffect(() => {
    let stream: MediaStream | undefined
    let reader: CodeReader | undefined
    let timer = 0
    let isOver = false
    let last = ''
    let lastSeenMs = 0
    const stop = () => {
      isOver = true
      clearTimeout(timer)
      reader?.end()
      for (const one of stream?.getTracks() ?? []) one.stop()
    }
    const look = async () => {
      const found = video.current && reader ? await reader.read(video.current) : []
      if (isOver) return
      const [code = ''] = found
      const nowMs = performance.now()
      // One blurred picture between two sharp ones is no new look at the code.
      if (code !== '' && (code !== last || nowMs - lastSeenMs > goneAfterMs)) onCode(code)
      if (code !== '') [last, lastSeenMs] = [code, nowMs]
      timer = window.setTimeout(() => look().catch(fail), everyMs)
    }
    const fail = (error: Error) => {
      if (!isOver) onEnd(whyNot(error))
      stop()
    }
    const start = async () => {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      if (isOver || !video.current) return stop()
      const [first] = stream.getVideoTracks()
      track.current = first
      if ((first?.getCapabilities?.() as Torch | undefined)?.torch) setTorch(false)
      // The camera was unplugged, or another program took it.
      first?.addEventListener('ended', () => fail(new DOMException('', 'NotReadableError')))
      video.current.srcObject = stream
      await video.current.play()
      reader = await openReader()
      if (isOver) return reader.end()
      setReading(true)
      return look()
    }
    start().catch(fail)
    return stop
  }, [])
  const light = (isOn: boolean) => {
    // The types of the DOM do not know `torch`.
    const wanted = { advanced: [{ torch: isOn }] } as unknown as MediaTrackConstraints
    track.current?.applyConstraints(wanted).then(
      () => setTorch(isOn),
      () => setTorch(undefined),
    )
  }
  return (
    <div class="camera-scan">
      <video ref={video} muted playsinline aria-label={texts.picture} />
      <p class="muted" role="status">
        {isReading ? texts.hold : texts.opening}
      </p>
      <p class="camera-scan-acts">
        {torch === undefined ? null : (
          <button type="button" aria-pressed={torch ? 'true' : 'false'} onClick={() => light(!torch)}>
            {texts.torch}
          </button>
        )}
        <button type="button" onClick={() => onEnd('')}>
          <Icon name="close" /> {texts.close}
        </button>
      </p>
    </div>
  )
}

function whyNot({ name, message }: Error): string {
  if (name === 'NotAllowedError' || name === 'SecurityError') return texts.refused
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return texts.none
  if (name === 'NotReadableError' || name === 'AbortError') return texts.taken
  return texts.failed(gatewayWords(message || name))
}
