import { useEffect, useRef } from 'preact/hooks'
import { gatewayNow } from '../../data/ask.ts'
import { clamp, type dayOf, panned, showing, type Window, zoomed } from '../../data/day-line.ts'
import type { ListedCamera } from '../../data/shapes.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import { Said } from '../../i18n/said.tsx'
import type { Trial } from '../tune-trial.ts'
import { drawDay } from './canvas.ts'
import { useLineControl } from './control.ts'
import type { useScores } from './data.ts'
import { clockWords, endWords, spokenAt } from './day-words.ts'
import type { Entry } from './entries.ts'

const words = cameraTexts.day

type LineProps = {
  camera: ListedCamera
  day: ReturnType<typeof dayOf>
  window: Window
  cursorMs: number
  timeZone: string | undefined
  scores: ReturnType<typeof useScores>
  entries: readonly Entry[]
  trial: Trial | undefined
  onWindow: (window: Window) => void
  onChoose: (ms: number, entry: Entry | undefined) => void
}

/** Marks that a finger or a mouse this far away still means, in pixels. */
const nearPx = 10

/** A day as a line of time, by pointer and by keys. */
export const Line = (props: LineProps) => {
  const { day, window, cursorMs, timeZone, entries, onWindow, onChoose } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  useDrawing(canvas, props)
  const tap = (ms: number) => {
    const perPx = (window.toMs - window.fromMs) / (canvas.current?.clientWidth || 1)
    const entry = nearestClip(entries, ms, perPx * nearPx)
    onChoose(entry ? clamp(ms, entry.fromMs, entry.toMs) : ms, entry)
  }
  useLineControl(canvas, { day, window, onWindow, onTap: tap })
  const zoom = (factor: number) => onWindow(zoomed(window, day, factor, middleOf(window, day, cursorMs)))
  const press = (event: KeyboardEvent) => {
    const act = keysOf(props, zoom, tap)[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  }
  return (
    <>
      <div class="day-acts">
        <button type="button" onClick={() => zoom(0.5)}>
          {words.closer}
        </button>
        <button type="button" onClick={() => zoom(2)}>
          {words.farther}
        </button>
        <button type="button" onClick={() => onWindow(day)}>
          {words.whole}
        </button>
        <span class="muted">{words.shows(clockWords(window.fromMs, timeZone), endWords(window.toMs, timeZone))}</span>
      </div>
      {/* biome-ignore lint/a11y/useFocusableInteractive: the linter knows tabIndex alone. */}
      <div
        class="day-line"
        role="slider"
        tabindex={0}
        aria-label={words.line}
        aria-describedby="day-keys"
        aria-valuemin={0}
        aria-valuemax={Math.round((day.toMs - day.fromMs) / 1000)}
        aria-valuenow={Math.round((cursorMs - day.fromMs) / 1000)}
        aria-valuetext={`${clockWords(cursorMs, timeZone)}. ${spokenAt(entries, cursorMs, timeZone)}`}
        onKeyDown={press}
      >
        <canvas ref={canvas} />
      </div>
      <p id="day-keys" class="muted keys">
        {words.keys}
      </p>
      <p class="day-now">
        <strong>{clockWords(cursorMs, timeZone)}</strong> <Said words={spokenAt(entries, cursorMs, timeZone)} />
      </p>
    </>
  )
}

/** Draws the line again for each change of it, of its size and of the colors. */
function useDrawing(canvas: { current: HTMLCanvasElement | null }, props: LineProps): void {
  const { camera, day, window, cursorMs, timeZone, scores, entries, trial } = props
  const draw = () => {
    if (!canvas.current) return
    const sensitivity = trial?.sensitivity ?? camera.motion.settings.sensitivity
    const shown = { day, window, entries, scores, sensitivity, cursorMs, timeZone, trial }
    drawDay(canvas.current, { ...shown, nowMs: gatewayNow() })
  }
  const newest = useRef(draw)
  newest.current = draw
  useEffect(draw)
  useEffect(() => {
    const again = () => newest.current?.()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', again)
    const sizes = new ResizeObserver(again)
    if (canvas.current) sizes.observe(canvas.current)
    return () => {
      dark.removeEventListener('change', again)
      sizes.disconnect()
    }
  }, [])
}

/** Returns the recorded clip that is nearest to a time and within its reach. Pure. */
function nearestClip(entries: readonly Entry[], ms: number, reachMs: number): Entry | undefined {
  const away = (one: Entry) => Math.max(0, one.fromMs - ms, ms - one.toMs)
  return entries
    .filter((one) => one.kind === 'detection' && one.detection.clipStatus === 'recorded' && away(one) <= reachMs)
    .toSorted((a, b) => away(a) - away(b))[0]
}

/** Returns the time that stays where it is while the line is zoomed: the cursor, or the middle when that is out of view. Pure. */
const middleOf = (window: Window, day: LineProps['day'], cursorMs: number): number =>
  showing(window, day, cursorMs) === window ? cursorMs : (window.fromMs + window.toMs) / 2

/** Returns what each key does. */
function keysOf(
  { day, window, cursorMs, entries, onWindow, onChoose }: LineProps,
  zoom: (factor: number) => void,
  tap: (ms: number) => void,
): Readonly<Record<string, () => void>> {
  const spanMs = window.toMs - window.fromMs
  const toEntry = (isNext: boolean) => {
    const [first] = isNext
      ? entries.filter(({ fromMs }) => fromMs > cursorMs)
      : entries.filter(({ fromMs }) => fromMs < cursorMs).toReversed()
    if (first) onChoose(first.fromMs, undefined)
  }
  return {
    ArrowRight: () => onChoose(cursorMs + spanMs / 50, undefined),
    ArrowLeft: () => onChoose(cursorMs - spanMs / 50, undefined),
    PageDown: () => onWindow(panned(window, day, spanMs)),
    PageUp: () => onWindow(panned(window, day, -spanMs)),
    Home: () => onChoose(day.fromMs, undefined),
    End: () => onChoose(Math.min(day.toMs, gatewayNow()), undefined),
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => onWindow(day),
    n: () => toEntry(true),
    p: () => toEntry(false),
    Enter: () => tap(cursorMs),
  }
}
