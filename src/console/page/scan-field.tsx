import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { follow, go } from './address.ts'
import { Icon } from './icons.tsx'
import { listenForScans } from './scan-keys.ts'
import { printable } from './scan-place.ts'
import { ScanDesk, type Scans } from './scans.ts'

let scans: Scans = { recent: [], isBusy: false }
const listeners = new Set<(scans: Scans) => void>()
let desk: ScanDesk | undefined

/** Takes a scan from anywhere on the page. */
const take = (code: string) => desk?.take(code)

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
  return listenForScans(take)
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
          Scan or type a pallet, slot or unit
        </label>
        <input
          id="scan"
          ref={field}
          type="text"
          placeholder="Scan or type a code"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="search"
          maxlength={500}
          onPointerDown={() => {
            if (field.current) field.current.inputMode = 'text'
          }}
        />
        <button type="submit" class="square" aria-label="Find the code">
          <Icon name="find" />
        </button>
        <button type="button" class="square" aria-label="Scan by the camera of this device" onClick={openCamera}>
          <Icon name="camera" />
        </button>
      </form>
      <div class="scan-result">
        <p role="status">
          {note || (last ? last.words : '')}
          {isBusy ? ' …' : ''}
        </p>
        {recent.length > 1 ? (
          <details>
            <summary>Last {recent.length} scans</summary>
            <ol>
              {recent.map(({ n, code, words, to }) => (
                <li key={n}>
                  <a href={to ?? `/find/${encodeURIComponent(code)}`} onClick={follow}>
                    <span class="code">{printable(code)}</span> {words}
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
  if (!isSecureContext) return 'To scan by camera, open the console over HTTPS (see gatehouse tls init).'
  if (!('BarcodeDetector' in window))
    return 'This browser reads no barcodes. Use Chrome on Android, ChromeOS or macOS, or a scanner that works like a keyboard.'
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
      if (!Maker) return end('', 'This browser reads no barcodes.')
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      if (isOver || !video.current) return stop()
      video.current.srcObject = stream
      await video.current.play()
      await look(new Maker())
    }
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    start().catch((error: Error) => end('', `The camera cannot be used: ${error.message}`))
    return () => {
      isOver = true
      clearTimeout(timer)
      stop()
    }
  }, [])
  return (
    <div class="camera-scan">
      <video ref={video} muted playsinline aria-label="Picture of this device’s camera" />
      <button type="button" onClick={() => onEnd('', '')}>
        <Icon name="close" /> Close the camera
      </button>
    </div>
  )
}
