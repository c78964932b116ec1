import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { follow, go } from './address.ts'
import { Icon } from './icons.tsx'
import { gatewayWords } from './language.ts'
import { Said } from './said.tsx'
import { scanFieldTexts as texts } from './scan-field-texts.ts'
import { listenForScans } from './scan-keys.ts'
import { printable } from './scan-place.ts'
import { ScanDesk, type Scans } from './scans.ts'

let scans: Scans = { recent: [], isBusy: false }
const listeners = new Set<(scans: Scans) => void>()
let desk: ScanDesk | undefined

/** Takes a scan from anywhere on the page. */
const take = (code: string) => desk?.take(code)

let taker: ((code: string) => boolean) | undefined

/** Lets a view have scans, such as a badge for its field. `next` says whether it took one. Returns a function that ends it. */
export function takeScans(next: (code: string) => boolean): () => void {
  taker = next
  return () => {
    if (taker === next) taker = undefined
  }
}

/** Begins to listen for scanners; the gateway's own address counts as this page's. Returns a function that ends it. */
export function startScanning(instance: string): () => void {
  desk = new ScanDesk({
    open: go,
    tell: (next) => {
      scans = next
      for (const listener of listeners) listener(next)
    },
    origins: [location.origin, instance],
  })
  return listenForScans((code) => {
    if (!taker?.(code)) take(code)
  })
}

/** Handhelds that write by an input method need a focused field; `none` keeps the keyboard away until it is touched. */
const isHandheld = () => matchMedia('(pointer: coarse)').matches

/** Shows the field for codes: typed, scanned, or read by the device's camera. It is part of every view's head. */
export const ScanField = () => {
  const [{ recent, isBusy }, setScans] = useState(scans)
  const [isCamera, setCamera] = useState(false)
  const [note, setNote] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    listeners.add(setScans)
    if (isHandheld() && field.current) {
      field.current.inputMode = 'none'
      field.current.focus({ preventScroll: true })
    }
    return () => {
      listeners.delete(setScans)
    }
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    take(field.current?.value ?? '')
    if (field.current) field.current.value = ''
  }
  const openCamera = () => {
    const missing = whatCameraNeeds()
    setNote(missing ?? '')
    setCamera(missing === undefined)
  }
  const [last] = recent
  return (
    <search class="scan">
      <form class="scan-form" onSubmit={submit}>
        <label class="unseen" for="scan">
          {texts.label}
        </label>
        <input
          id="scan"
          ref={field}
          type="text"
          placeholder={texts.hint}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="search"
          maxlength={500}
          onPointerDown={() => {
            if (field.current) field.current.inputMode = 'text'
          }}
        />
        <button type="submit" class="square" aria-label={texts.find}>
          <Icon name="find" />
        </button>
        <button type="button" class="square" aria-label={texts.byCamera} onClick={openCamera}>
          <Icon name="camera" />
        </button>
      </form>
      <div class="scan-result">
        <p role="status">
          <Said words={note || (last ? last.words : '')} />
          {isBusy ? ' …' : ''}
        </p>
        {recent.length > 1 ? (
          <details>
            <summary>{texts.last(recent.length)}</summary>
            <ol>
              {recent.map(({ n, code, words, to }) => (
                <li key={n}>
                  <a href={to ?? `/find/${encodeURIComponent(code)}`} onClick={follow}>
                    <span class="code">{printable(code)}</span> <Said words={words} />
                  </a>
                </li>
              ))}
            </ol>
          </details>
        ) : null}
      </div>
      {isCamera ? (
        <CameraScan
          onEnd={(code, problem) => {
            setCamera(false)
            setNote(problem)
            if (code !== '') take(code)
            field.current?.focus()
          }}
        />
      ) : null}
    </search>
  )
}

type Detector = { detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]> }
type WithDetector = { readonly BarcodeDetector?: new () => Detector }
const everyMs = 120

/** Says what is missing before this device's camera can read codes; undefined: nothing. */
function whatCameraNeeds(): string | undefined {
  if (!isSecureContext) return texts.needsHttps
  if (!('BarcodeDetector' in window)) return texts.useAnother
  return undefined
}

/** Shows the camera of the device until it reads a code, or somebody closes it. */
const CameraScan = ({ onEnd }: { onEnd: (code: string, problem: string) => void }) => {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const { BarcodeDetector: Maker } = window as WithDetector
    let stream: MediaStream | undefined
    let timer = 0
    let isOver = false
    const end = (code: string, problem = '') => {
      if (!isOver) onEnd(code, problem)
      isOver = true
    }
    const look = async (detector: Detector) => {
      const found = video.current ? await detector.detect(video.current).catch(() => []) : []
      if (isOver) return
      if (found[0]) end(found[0].rawValue)
      else timer = window.setTimeout(look, everyMs, detector)
    }
    const start = async () => {
      if (!Maker) return end('', texts.readsNone)
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      if (isOver || !video.current) return stop()
      video.current.srcObject = stream
      await video.current.play()
      await look(new Maker())
    }
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    start().catch((error: Error) => end('', texts.cameraFailed(gatewayWords(error.message))))
    return () => {
      isOver = true
      clearTimeout(timer)
      stop()
    }
  }, [])
  return (
    <div class="camera-scan">
      <video ref={video} muted playsinline aria-label={texts.picture} />
      <button type="button" onClick={() => onEnd('', '')}>
        <Icon name="close" /> {texts.closeCamera}
      </button>
    </div>
  )
}
