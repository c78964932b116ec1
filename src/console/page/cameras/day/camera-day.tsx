import { useEffect, useMemo, useState } from 'preact/hooks'
import { gatewayNow } from '../../data/ask.ts'
import { clamp, dateAfter, dateIn, dayOf, panned, showing, type Window } from '../../data/day-line.ts'
import type { ListedCamera } from '../../data/shapes.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import { Said } from '../../i18n/said.tsx'
import { textOf } from '../../kit/field.ts'
import { Tune } from '../tune.tsx'
import type { Trial } from '../tune-trial.ts'
import { useEntries, useScores } from './data.ts'
import { DayTable } from './day-table.tsx'
import { dateWords } from './day-words.ts'
import type { Entry } from './entries.ts'
import { KindChoice, ofKind } from './kinds.tsx'
import { Line } from './line.tsx'
import { type ClipActs, Player } from './player.tsx'

const words = cameraTexts.day
/** Time shown around a time in the address. */
const aroundMs = 1_800_000

type Props = ClipActs & { camera: ListedCamera }

/** A day of a camera: clips, gaps and how much its pictures changed, as a line of time and as a table. */
export const CameraDay = ({ camera, timeZone, mayReport, onHandedOut }: Props) => {
  const { asked, date, day, window, setWindow, cursorMs, chosen, choose, showDate } = useDayView(timeZone)
  const { entries: all, problem } = useEntries(camera.id, day)
  const [kind, setKind] = useState('')
  const entries = useMemo(() => all && ofKind(all, kind), [all, kind])
  const scores = useScores(camera.id, day)
  const [trial, setTrial] = useState<Trial | undefined>(undefined)

  // The film of a time that a link names is at hand as soon as it is known.
  useEffect(() => {
    if (asked !== undefined && entries && !chosen) choose(asked, clipAt(entries, asked))
  }, [entries])
  const shown = (entries ?? []).filter(({ fromMs, toMs }) => toMs >= window.fromMs && fromMs <= window.toMs)
  const playing = entries?.find((one) => one.kind === 'detection' && one.detection.id === chosen?.id)
  return (
    <section class="card camera-day" aria-labelledby="day-title">
      <div class="card-head">
        <h2 id="day-title">{dateWords(day.fromMs, timeZone)}</h2>
        <DateChoice date={date} today={dateIn(gatewayNow(), timeZone)} endMs={day.toMs} onDate={showDate} />
        <KindChoice entries={all ?? []} kind={kind} onKind={setKind} />
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
          {...{ camera, day, timeZone, trial }}
          entries={all}
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

/** The day, the part of it that is shown, the time of the cursor, and the chosen clip. `asked`: the time that a link names. */
function useDayView(timeZone: string | undefined) {
  const asked = useMemo(askedTime, [])
  const [date, setDate] = useState(() => dateIn(asked ?? gatewayNow(), timeZone))
  const day = useMemo(() => dayOf(date, timeZone), [date, timeZone])
  const [window, setWindow] = useState<Window>(() =>
    asked === undefined ? day : panned({ fromMs: asked - aroundMs, toMs: asked + aroundMs }, day, 0),
  )
  const [cursorMs, setCursor] = useState(() => asked ?? Math.min(gatewayNow(), day.toMs))
  const [chosen, setChosen] = useState<{ id: number; atMs: number } | undefined>(undefined)
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
  return { asked, date, day, window, setWindow, cursorMs, chosen, choose, showDate }
}

type DateProps = { date: string; today: string; endMs: number; onDate: (date: string) => void }

/** The days before and after, and any other. `endMs`: the end of the day that is shown. */
const DateChoice = ({ date, today, endMs, onDate }: DateProps) => (
  <div class="day-acts">
    <button type="button" onClick={() => onDate(dateAfter(date, -1))}>
      {words.before}
    </button>
    <input
      type="date"
      aria-label={words.choose}
      value={date}
      max={today}
      onInput={(event: Event) => onDate(textOf(event))}
    />
    <button
      type="button"
      aria-disabled={endMs > gatewayNow() ? 'true' : 'false'}
      onClick={() => endMs <= gatewayNow() && onDate(dateAfter(date, 1))}
    >
      {words.after}
    </button>
  </div>
)

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
