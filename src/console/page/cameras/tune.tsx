import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ask, gatewayNow } from '../data/ask.ts'
import { type Day, dateAfter, dateIn } from '../data/day-line.ts'
import type { ListedCamera } from '../data/shapes.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { keepsUnsaved } from '../kit/address.ts'
import { inputOf } from '../kit/field.ts'
import type { Entry } from './day/entries.ts'
import { MaskEditor } from './mask-editor.tsx'
import { tuneTexts as words } from './tune-texts.ts'
import { type Area, configEntry, isSame, type Trial, type Tried } from './tune-trial.ts'
import { useTrial } from './use-trial.ts'

type Props = {
  camera: ListedCamera
  day: Day
  timeZone: string | undefined
  entries: readonly Entry[] | undefined
  trial: Trial | undefined
  onTrial: (trial: Trial | undefined) => void
  onDate: (date: string) => void
  onMoment: (ms: number) => void
}

/** Events that are listed by their time. */
const mostListed = 12

const settingsOf = ({ motion }: ListedCamera): Tried => ({
  sensitivity: motion.settings.sensitivity,
  areas: [
    ...(motion.area?.masks ?? []).map((points): Area => ({ kind: 'mask', points })),
    ...(motion.area?.zones ?? []).map((points): Area => ({ kind: 'zone', points })),
  ],
})

/** Tries another sensitivity, masks and zones on a day, and shows the changes of its events. */
export const Tune = (props: Props) => {
  const { camera, day, timeZone, onTrial, onDate } = props
  const [isOpen, setOpen] = useState(false)
  const isDrawn = useRef(false)
  const yesterday = dateAfter(dateIn(gatewayNow(), timeZone), -1)
  const toggle = () => {
    if (isOpen && isDrawn.current && !confirm(words.leave)) return
    if (isOpen) onTrial(undefined)
    setOpen(!isOpen)
  }
  return (
    <section class="tune" aria-labelledby="tune-title">
      <div class="card-head">
        <h2 id="tune-title">{words.title}</h2>
        <div class="day-acts">
          {isOpen && day.date !== yesterday ? (
            <button type="button" onClick={() => onDate(yesterday)}>
              {words.yesterday}
            </button>
          ) : null}
          <button type="button" aria-expanded={isOpen ? 'true' : 'false'} onClick={toggle}>
            {isOpen ? words.close : words.open}
          </button>
        </div>
      </div>
      {isOpen ? <Panel key={camera.id} {...props} yesterday={yesterday} isDrawn={isDrawn} /> : null}
    </section>
  )
}

type PanelProps = Props & { yesterday: string; isDrawn: { current: boolean | null } }

const Panel = (props: PanelProps) => {
  const { camera, day, timeZone, entries, trial, onTrial, onMoment, yesterday, isDrawn } = props
  const now = settingsOf(camera)
  const [tried, setTried] = useState<Tried>(now)
  // Areas copied for the config are safe; a sensitivity is found again at once.
  const [copied, setCopied] = useState(now.areas)
  const isUnsaved = ![now.areas, copied].some((areas) => JSON.stringify(areas) === JSON.stringify(tried.areas))
  useLayoutEffect(() => {
    isDrawn.current = isUnsaved
    if (!isUnsaved) return
    const end = keepsUnsaved(() => confirm(words.leave))
    return () => {
      isDrawn.current = false
      end()
    }
  }, [isUnsaved])
  const { problem, isAsking, retry } = useTrial(camera.id, day, tried, entries, onTrial)
  return (
    <div class="tune-panel">
      <p class="muted">{words.intro}</p>
      <Sensitivity
        value={tried.sensitivity}
        isUsual={isSame(tried, now)}
        onValue={(sensitivity) => setTried((before) => ({ ...before, sensitivity }))}
        onReset={() => setTried(now)}
      />
      <p class="muted">{words.sensitivityNow(now.sensitivity)}</p>
      <p class="tune-result" role="status">
        {trial ? (
          <Result trial={trial} dayName={day.date === yesterday ? words.yesterdayIs : dayWords(day.date)} day={day} />
        ) : isAsking ? (
          words.asking
        ) : (
          ''
        )}
      </p>
      {problem === '' ? null : (
        <p class="problem" role="alert">
          <Said words={words.failed(problem)} />{' '}
          <button type="button" onClick={retry}>
            {words.again}
          </button>
        </p>
      )}
      {trial ? <Moments {...{ trial, timeZone, onMoment }} entries={entries ?? []} /> : null}
      <MaskEditor
        camera={camera}
        areas={tried.areas}
        onAreas={(areas) => setTried((before) => ({ ...before, areas }))}
      />
      <Keep camera={camera} tried={tried} now={now} onCopied={() => setCopied(tried.areas)} />
    </div>
  )
}

type SensitivityProps = {
  value: number
  /** Whether everything is as the camera has it. */
  isUsual: boolean
  onValue: (value: number) => void
  onReset: () => void
}

/** The sensitivity, by a slider and as a number. A number outside of its bounds is still being typed. */
const Sensitivity = ({ value, isUsual, onValue, onReset }: SensitivityProps) => (
  <div class="tune-slider">
    <label for="tune-sensitivity">{words.sensitivity}</label>
    <input
      id="tune-sensitivity"
      type="range"
      min={0}
      max={1}
      step={0.01}
      value={value}
      onInput={(event: Event) => onValue(inputOf(event).valueAsNumber)}
    />
    <input
      type="number"
      aria-label={words.sensitivity}
      min={0}
      max={1}
      step={0.01}
      value={value}
      onInput={(event: Event) => {
        const typed = inputOf(event).valueAsNumber
        if (typed >= 0 && typed <= 1) onValue(typed)
      }}
    />
    <button type="button" aria-disabled={isUsual ? 'true' : 'false'} onClick={onReset}>
      {words.reset}
    </button>
  </div>
)

const dayWords = (date: string): string =>
  words.onDay(
    new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(`${date}T00:00:00Z`)),
  )

const Result = ({ trial, dayName, day }: { trial: Trial; dayName: string; day: Day }) => {
  const { recorded, would, added, unknownMs, verdicts } = trial
  const endMs = Math.min(day.toMs, gatewayNow())
  const count = (verdict: string) => [...verdicts.values()].filter((one) => one === verdict).length
  if (unknownMs >= endMs - day.fromMs - 1000 && recorded === 0) return <>{words.nothing}</>
  const more = [
    words.gone(count('gone')),
    words.merged(count('merged')),
    words.added(added.length),
    words.undecided(count('undecided')),
    unknownMs >= 60_000 ? words.unknown(spanText(unknownMs)) : '',
  ]
  return (
    <>
      <strong>{words.result(dayName, would, recorded)}</strong> {more.filter((text) => text !== '').join(' ')}
    </>
  )
}

/** The units are the same in both languages. */
function spanText(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : ''].filter((text) => text !== '').join(' ')
}

type MomentsProps = {
  trial: Trial
  entries: readonly Entry[]
  timeZone: string | undefined
  onMoment: (ms: number) => void
}

const Moments = ({ trial, entries, timeZone, onMoment }: MomentsProps) => {
  const gone = entries.flatMap((entry) =>
    entry.kind === 'detection' && trial.verdicts.get(entry.detection.id) === 'gone' ? [entry.fromMs] : [],
  )
  const list = (title: string, times: readonly number[]) =>
    times.length === 0 ? null : (
      <div class="day-acts">
        <span>{title}:</span>
        {times.slice(0, mostListed).map((ms) => (
          <button key={ms} type="button" aria-label={words.toMoment(clock(ms, timeZone))} onClick={() => onMoment(ms)}>
            {clock(ms, timeZone)}
          </button>
        ))}
        {times.length > mostListed ? <span>{words.more(times.length - mostListed)}</span> : null}
      </div>
    )
  return (
    <>
      {list(words.goneList, gone)}
      {list(
        words.addedList,
        trial.added.map(({ atMs }) => atMs),
      )}
      {gone.length + trial.added.length > 0 ? <p class="muted">{words.legend}</p> : null}
    </>
  )
}

function clock(ms: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...(timeZone && { timeZone }) }).format(ms)
}

type KeepProps = { camera: ListedCamera; tried: Tried; now: Tried; onCopied: () => void }

const Keep = ({ camera, tried, now, onCopied }: KeepProps) => {
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  if (isSame(tried, now)) return <p class="muted">{note === '' ? words.keepNothing : note}</p>
  const entry = configEntry(tried, now)
  const copy = () =>
    navigator.clipboard?.writeText(entry).then(
      () => {
        setNote(words.copied)
        onCopied()
      },
      () => setNote(words.notCopied),
    ) ?? setNote(words.notCopied)
  const use = () => {
    setProblem('')
    const { sensitivity } = tried
    // All of them, because a start forgets those that it does not name.
    const body = { cctvId: camera.id, action: 'start', ...camera.motion.settings, sensitivity }
    ask('/api/iot/detection/motion-stream', { method: 'POST', body }).then(
      () => setNote(words.used(sensitivity)),
      (error: Error) => setProblem(words.failed(error.message)),
    )
  }
  return (
    <section class="tune-keep" aria-labelledby="keep-title">
      <h3 id="keep-title">{words.keepTitle}</h3>
      <p>{words.config(`id ${camera.id}`)}</p>
      <pre class="code" tabindex={0}>
        {entry}
      </pre>
      <div class="day-acts">
        <button type="button" onClick={copy}>
          {words.copy}
        </button>
        {camera.motion.running && tried.sensitivity !== now.sensitivity ? (
          <button type="button" onClick={use}>
            {words.useNow(tried.sensitivity)}
          </button>
        ) : null}
        <span role="status">{note}</span>
      </div>
      {camera.motion.running && tried.sensitivity !== now.sensitivity ? <p class="muted">{words.useHelp}</p> : null}
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
    </section>
  )
}
