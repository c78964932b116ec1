import { useEffect, useRef, useState } from 'preact/hooks'
import { Said } from '../i18n/said.tsx'
import { follow, go, losesUnsaved } from '../kit/address.ts'
import { focusFirst } from '../kit/first-focus.ts'
import { Icon } from '../kit/icons.tsx'
import { CameraButton, useCamera } from './camera-button.tsx'
import type { ScanCheck } from './code-check.ts'
import { dropParts, entryOf, writeEntry } from './field.ts'
import { scanFieldTexts as texts } from './scan-field-texts.ts'
import { fieldsAtRest, listenForScans, type ScannedCode } from './scan-keys.ts'
import { notTakenWords, partsOf, printable } from './scan-place.ts'
import { ScanDesk, type Scans } from './scans.ts'

let scans: Scans = { recent: [], isBusy: false }
const listeners = new Set<(scans: Scans) => void>()
let desk: ScanDesk | undefined

/** Takes a code from anywhere on the page. */
const take = (code: string) => desk?.take(code)

/** The reader of codes is a separate file: the first view does without it. */
export const checkFile = () => import('./code-check.ts')

let checking: Promise<ScanCheck> | undefined
const check = () => {
  checking ??= checkFile().then(({ ScanCheck }) => new ScanCheck())
  return checking
}

/** Takes a scan: into the field that has the focus, if that takes codes, else to be looked up. */
async function takeScan({ code, parts, field }: ScannedCode): Promise<void> {
  const atMs = performance.now()
  try {
    const scan = (await check()).check(code, parts, atMs)
    const entry = field && scan.kind === 'code' ? await entryOf(field, scan.code) : ''
    if (field) {
      await fieldsAtRest()
      dropParts(field, partsOf(scan, parts))
    }
    if (scan.kind !== 'code') desk?.say(code, notTakenWords(scan))
    else if (field?.isConnected) writeEntry(field, entry)
    else take(scan.code)
  } catch {
    checking = undefined
    desk?.say(code, texts.notLookedUp(printable(code), texts.notReached))
  }
}

/** Begins to listen for scanners; the gateway's own address counts as this page's. Returns a function that ends it. */
export function startScanning(instance: string): () => void {
  desk = new ScanDesk({
    open: go,
    holds: losesUnsaved,
    tell: (next) => {
      scans = next
      for (const listener of listeners) listener(next)
    },
    origins: [location.origin, instance],
  })
  let turn = Promise.resolve()
  return listenForScans((scan) => {
    turn = turn.then(() => takeScan(scan))
  })
}

/** Handhelds that write by an input method need a focused field; `none` keeps the keyboard away until it is touched. */
const isHandheld = () => matchMedia('(pointer: coarse)').matches

/** Shows the field for codes: typed, scanned, or read by the device's camera. It is part of every view's head. */
export const ScanField = () => {
  const [{ recent, isBusy }, setScans] = useState(scans)
  const [note, setNote] = useState('')
  const camera = useCamera(setNote)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    listeners.add(setScans)
    if (isHandheld() && field.current) {
      field.current.inputMode = 'none'
      focusFirst(field.current)
    }
    return () => {
      listeners.delete(setScans)
    }
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    // A handheld that writes by an input method scans into this field.
    void takeScan({ code: field.current?.value.trim() ?? '', parts: [], field: undefined })
    if (field.current) field.current.value = ''
  }
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
        <CameraButton camera={camera} />
      </form>
      <ScanResult recent={recent} isBusy={isBusy} note={note} />
      {camera.View ? (
        <camera.View
          onCode={(code) => {
            camera.close()
            void takeScan({ code, parts: [], field: undefined })
            field.current?.focus()
          }}
          onEnd={(problem) => {
            camera.close()
            setNote(problem)
            field.current?.focus()
          }}
        />
      ) : null}
    </search>
  )
}

type ResultProps = Scans & {
  /** Message of the camera. Empty: that of the newest scan is shown. */
  note: string
}

/** The newest scan, with its view while that waits for unsent input, and the scans before it. */
const ScanResult = ({ recent, isBusy, note }: ResultProps) => {
  const [last] = recent
  return (
    <div class="scan-result">
      <p role="status">
        <Said words={note || (last ? last.words : '')} />
        {isBusy ? ' …' : ''}
        {last?.isHeld && last.to !== undefined && note === '' ? (
          <>
            {' '}
            <a class="button" href={last.to} onClick={follow}>
              {texts.open(printable(last.code))}
            </a>
          </>
        ) : null}
      </p>
      {recent.length > 1 ? (
        <details>
          <summary>{texts.last(recent.length)}</summary>
          <ol>
            {recent.map(({ n, code, words, to, isRefused }) => (
              <li key={n}>
                {isRefused ? (
                  <Said words={words} />
                ) : (
                  <a href={to ?? `/find/${encodeURIComponent(code)}`} onClick={follow}>
                    <span class="code">{printable(code)}</span> <Said words={words} />
                  </a>
                )}
              </li>
            ))}
          </ol>
        </details>
      ) : null}
    </div>
  )
}
