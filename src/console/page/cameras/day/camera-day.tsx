import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { gatewayNow } from '../../data/ask.ts'
import { clamp, dateAfter, dateIn, dayOf, panned, showing, type Window, zoomed } from '../../data/day-line.ts'
import type { ListedCamera } from '../../data/shapes.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import { hundredthsOf } from '../../i18n/counting.ts'
import { gatewayWords } from '../../i18n/language.ts'
import { Said } from '../../i18n/said.tsx'
import { storyTexts } from '../../i18n/story-texts.ts'
import { causeWords, spanWords } from '../../i18n/story-words.ts'
import { formatted } from '../../i18n/words.ts'
import { follow } from '../../kit/address.ts'
import { textOf } from '../../kit/field.ts'
import { Icon } from '../../kit/icons.tsx'
import { ownPath } from '../../kit/own-path.ts'
import { Scroller } from '../../kit/scroller.tsx'
import { whyRemoved } from '../../pictures/photo-gone.ts'
import { HandOut } from '../clip-exports.tsx'
import { Tune } from '../tune.tsx'
import { tuneTexts } from '../tune-texts.ts'
import type { Trial } from '../tune-trial.ts'
import { drawDay } from './canvas.ts'
import { useLineControl } from './control.ts'
import { useEntries, useScores } from './data.ts'
import type { Entry } from './entries.ts'

const words = cameraTexts.day
/** Time shown around a time in the address. */
const aroundMs = 1_800_000

/** `mayReport`: whether the caller may report an incident. `onHandedOut`: called when a clip was; undefined: the caller may not. */
type Props = {
  camera: ListedCamera
  timeZone: string | undefined
  mayReport: boolean
  onHandedOut: (() => void) | undefined
}

/** A day of a camera: clips, gaps and how much its pictures changed, as a line of time and as a table. */
export const CameraDay = ({ camera, timeZone, mayReport, onHandedOut }: Props) => {
  const asked = useMemo(askedTime, [])
  const [date, setDate] = useState(() => dateIn(asked ?? gatewayNow(), timeZone))
  const day = useMemo(() => dayOf(date, timeZone), [date, timeZone])
  const [window, setWindow] = useState<Window>(() =>
    asked === undefined ? day : panned({ fromMs: asked - aroundMs, toMs: asked + aroundMs }, day, 0),
  )
  const [cursorMs, setCursor] = useState(() => asked ?? Math.min(gatewayNow(), day.toMs))
  const [chosen, setChosen] = useState<{ id: number; atMs: number } | undefined>(undefined)
  const { entries, problem } = useEntries(camera.id, day)
  const scores = useScores(camera.id, day)
  const [trial, setTrial] = useState<Trial | undefined>(undefined)

  // The film of a time that a link names is at hand as soon as it is known.
  useEffect(() => {
    if (asked !== undefined && entries && !chosen) choose(asked, clipAt(entries, asked))
  }, [entries])
  const choose = (ms: number, entry: Entry | undefined) => {
    const at = clamp(ms, day.fromMs, day.toMs)
    setCursor(at)
    setWindow((before) => showing(before, day, at))
    keepTime(at)
    if (entry?.kind === 'detection') setChosen({ id: entry.detection.id, atMs: at })
  }
  const showDate = (next: string) => {
    if (!/^\d{4}-\d\d-\d\d$/.test(next)) return
    const shown = dayOf(next, timeZone)
    setDate(next)
    setWindow(shown)
    setCursor(shown.fromMs)
    setChosen(undefined)
    keepTime(shown.fromMs)
  }
  const shown = (entries ?? []).filter(({ fromMs, toMs }) => toMs >= window.fromMs && fromMs <= window.toMs)
  const playing = entries?.find((one) => one.kind === 'detection' && one.detection.id === chosen?.id)
  return (
    <section class="card camera-day" aria-labelledby="day-title">
      <div class="card-head">
        <h2 id="day-title">{dateWords(day.fromMs, timeZone)}</h2>
        <div class="day-acts">
          <button type="button" onClick={() => showDate(dateAfter(date, -1))}>
            {words.before}
          </button>
          <input
            type="date"
            aria-label={words.choose}
            value={date}
            max={dateIn(gatewayNow(), timeZone)}
            onInput={(event: Event) => showDate(textOf(event))}
          />
          <button
            type="button"
            aria-disabled={day.toMs > gatewayNow() ? 'true' : 'false'}
            onClick={() => day.toMs <= gatewayNow() && showDate(dateAfter(date, 1))}
          >
            {words.after}
          </button>
        </div>
      </div>
      <p class="problem" role="alert">
        <Said words={problem === '' ? '' : words.failed(problem)} />
      </p>
      <Line
        {...{ camera, day, window, cursorMs, timeZone, scores, trial }}
        entries={entries ?? []}
        onWindow={setWindow}
        onChoose={choose}
      />
      <p class="muted legend">{words.legend}</p>
      {camera.motion.area === null ? null : (
        <Tune
          {...{ camera, day, timeZone, entries, trial }}
          onTrial={setTrial}
          onDate={showDate}
          onMoment={(ms) => choose(ms, clipAt(entries ?? [], ms))}
        />
      )}
      {playing?.kind === 'detection' ? (
        <Player
          key={playing.key}
          entry={playing}
          atMs={chosen?.atMs ?? playing.fromMs}
          {...{ timeZone, mayReport, onHandedOut }}
        />
      ) : null}
      <DayTable
        entries={entries === undefined ? undefined : shown}
        window={window}
        timeZone={timeZone}
        trial={trial}
        onPlay={(entry) => choose(entry.fromMs, entry)}
      />
    </section>
  )
}

/** Returns the time that the address names. */
function askedTime(): number | undefined {
  const ms = Date.parse(new URLSearchParams(location.search).get('at') ?? '')
  return Number.isFinite(ms) ? ms : undefined
}

/** Puts the time into the address, so that it can be shared and reloaded. */
function keepTime(ms: number): void {
  const asked = new URLSearchParams(location.search)
  asked.set('at', new Date(ms).toISOString())
  history.replaceState(history.state, '', `${location.pathname}?${asked}`)
}

const clipAt = (entries: readonly Entry[], ms: number) =>
  entries.find(
    (one) => one.kind === 'detection' && one.detection.clipStatus === 'recorded' && one.fromMs <= ms && one.toMs >= ms,
  )

const dateWords = (ms: number, timeZone: string | undefined) =>
  formatted(ms, timeZone, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

const clockWords = (ms: number, timeZone: string | undefined) =>
  formatted(ms, timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** The midnight at which a day ends is 24:00, not the 00:00 that it began at. */
const endWords = (ms: number, timeZone: string | undefined) =>
  clockWords(ms, timeZone).replace(/^00:00:00$/, '24:00:00')

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

const Line = (props: LineProps) => {
  const { camera, day, window, cursorMs, timeZone, scores, entries, trial, onWindow, onChoose } = props
  const canvas = useRef<HTMLCanvasElement>(null)
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
  const nearest = (ms: number): Entry | undefined => {
    const reach = ((window.toMs - window.fromMs) / (canvas.current?.clientWidth || 1)) * nearPx
    const away = (one: Entry) => Math.max(0, one.fromMs - ms, ms - one.toMs)
    return entries
      .filter((one) => one.kind === 'detection' && one.detection.clipStatus === 'recorded' && away(one) <= reach)
      .toSorted((a, b) => away(a) - away(b))[0]
  }
  const tap = (ms: number) => {
    const entry = nearest(ms)
    onChoose(entry ? clamp(ms, entry.fromMs, entry.toMs) : ms, entry)
  }
  useLineControl(canvas, { day, window, onWindow, onTap: tap })
  const zoom = (factor: number) =>
    onWindow(
      zoomed(
        window,
        day,
        factor,
        showing(window, day, cursorMs) === window ? cursorMs : (window.fromMs + window.toMs) / 2,
      ),
    )
  const toEntry = (isNext: boolean) => {
    const [first] = isNext
      ? entries.filter(({ fromMs }) => fromMs > cursorMs)
      : entries.filter(({ fromMs }) => fromMs < cursorMs).toReversed()
    if (first) onChoose(first.fromMs, undefined)
  }
  const step = (window.toMs - window.fromMs) / 50
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => onChoose(cursorMs + step, undefined),
    ArrowLeft: () => onChoose(cursorMs - step, undefined),
    PageDown: () => onWindow(panned(window, day, window.toMs - window.fromMs)),
    PageUp: () => onWindow(panned(window, day, window.fromMs - window.toMs)),
    Home: () => onChoose(day.fromMs, undefined),
    End: () => onChoose(Math.min(day.toMs, gatewayNow()), undefined),
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => onWindow(day),
    n: () => toEntry(true),
    p: () => toEntry(false),
    Enter: () => tap(cursorMs),
  }
  const press = (event: KeyboardEvent) => {
    const act = keys[event.key]
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

const spokenAt = (entries: readonly Entry[], ms: number, timeZone: string | undefined) => {
  const here = entries.filter(({ fromMs, toMs }) => fromMs <= ms && toMs >= ms)
  return here.length === 0
    ? words.quiet
    : here.map((one) => `${whatWords(one, timeZone).replace(/\.$/, '')}.`).join(' ')
}

function whatWords(entry: Entry, timeZone: string | undefined): string {
  if (entry.kind === 'gap') return words.gap(causeWords(entry.gap))
  const { trigger, clipStatus, removal } = entry.detection
  const what = trigger === 'event' ? words.film : words.motion
  if (removal) return `${what}. ${storyTexts.filmGone} ${whyRemoved(removal, 'film', timeZone)}`
  return clipStatus === 'recorded' ? what : `${what}, ${words.without[clipStatus] ?? clipStatus}`
}

type PlayerProps = { entry: Entry & { kind: 'detection' }; atMs: number } & Omit<Props, 'camera'>

const Player = ({ entry: { detection, fromMs }, atMs, timeZone, mayReport, onHandedOut }: PlayerProps) => {
  const [problem, setProblem] = useState('')
  const video = useRef<HTMLVideoElement>(null)
  const path = ownPath(detection.clipUrls.playback)
  useEffect(() => {
    if (video.current) video.current.currentTime = Math.max(0, (atMs - fromMs) / 1000)
  }, [atMs])
  const failed = () => {
    // The element says nothing about an answer; the gateway says why.
    void fetch(path ?? '', { headers: { Range: 'bytes=0-0' }, credentials: 'same-origin' })
      .then(async (answer) =>
        answer.ok ? words.unplayable : gatewayWords(((await answer.json()) as Why).error.message),
      )
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

type Why = { readonly error: { readonly message: string } }

type TableProps = {
  entries: readonly Entry[] | undefined
  window: Window
  timeZone: string | undefined
  trial: Trial | undefined
  onPlay: (entry: Entry) => void
}

const DayTable = ({ entries, window, timeZone, trial, onPlay }: TableProps) => {
  if (!entries) return <p class="blank">{words.loading}</p>
  const clips = entries.filter(({ kind }) => kind === 'detection').length
  const [from, to] = [clockWords(window.fromMs, timeZone), endWords(window.toMs, timeZone)]
  const caption = words.table(clips, entries.length - clips, from, to)
  return entries.length === 0 ? (
    <p class="blank">{words.nothing}</p>
  ) : (
    <Scroller name={words.tableName}>
      <table class="day-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.key} {...{ entry, timeZone, trial, onPlay }} />
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

type RowProps = Pick<TableProps, 'timeZone' | 'trial' | 'onPlay'> & { entry: Entry }

const Row = ({ entry, timeZone, trial, onPlay }: RowProps) => {
  const from = clockWords(entry.fromMs, timeZone)
  const seconds = (entry.toMs - entry.fromMs) / 1000
  const verdict = entry.kind === 'detection' ? trial?.verdicts.get(entry.detection.id) : undefined
  const isPlayable = entry.kind === 'detection' && entry.detection.clipStatus === 'recorded'
  return (
    <tr>
      <th scope="row">{from}</th>
      <td>
        <Said words={whatWords(entry, timeZone)} />
        {verdict ? <span class={`verdict ${verdict}`}> ({tuneTexts.verdicts[verdict]})</span> : null}
      </td>
      <td>{seconds < 60 ? `${Math.round(seconds)} s` : spanWords(seconds * 1000)}</td>
      <td>
        {entry.kind === 'detection' ? (
          // A film of an event was not made because of a motion: it has no score.
          entry.detection.trigger === 'event' ? null : (
            hundredthsOf(entry.detection.score)
          )
        ) : (
          <span lang="en">{entry.gap.detail ?? ''}</span>
        )}
      </td>
      <td>
        {isPlayable ? (
          <button type="button" aria-label={words.playAt(from)} onClick={() => onPlay(entry)}>
            {words.play}
          </button>
        ) : null}
      </td>
    </tr>
  )
}
