import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { gatewayNow } from '../data/ask.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { go, goInstead } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { floorTexts as words } from './floor-texts.ts'

const minuteMs = 60_000
/** Step and interval of Play. */
const playStepMs = 10 * minuteMs
const playEveryMs = 700
const steps = [-60, -10, 10, 60] as const

type Props = {
  at: string | undefined
  slot: number | undefined
  timeZone: string | undefined
  /** The time of the floor that the plan has: that of the step before while the next one is read. */
  shown: string | undefined
}

const addressAt = (ms: number | undefined, slot: number | undefined): string => {
  const query = [
    ...(slot === undefined ? [] : [`slot=${slot}`]),
    ...(ms === undefined ? [] : [`at=${encodeURIComponent(new Date(ms).toISOString())}`]),
  ]
  return query.length === 0 ? '/' : `/?${query.join('&')}`
}

/** Chooses the time that the plan shows; it is in the address, so that it can be shared. */
export const TimeSlider = ({ at, slot, timeZone, shown }: Props) => {
  const [firstMs, setFirstMs] = useState<number | undefined>(undefined)
  const range = useRef<HTMLInputElement>(null)
  useEffect(() => {
    get('/api/whms/events', { after_seq: 0, limit: 1 }).then(
      ({ data }) => data[0] && setFirstMs(Date.parse(data[0].timestamp)),
      () => {},
    )
  }, [])
  const nowMs = gatewayNow()
  const atMs = at === undefined ? undefined : Date.parse(at)
  const least = Math.floor((firstMs ?? nowMs) / minuteMs) * minuteMs
  const most = Math.ceil(nowMs / minuteMs) * minuteMs
  const { isPlaying, setPlaying } = usePlay(atMs, (ms) => show(ms, false))
  const show = (ms: number, isStep: boolean) => {
    if (ms >= gatewayNow()) {
      setPlaying(false)
      return go(addressAt(undefined, slot))
    }
    const to = addressAt(Math.max(ms, least), slot)
    if (isStep && at === undefined) go(to)
    else goInstead(to)
  }
  // Writing the value would move the thumb under a finger that drags it.
  useEffect(() => {
    if (range.current && document.activeElement !== range.current) range.current.value = String(atMs ?? most)
  }, [atMs, firstMs])
  return (
    <section class={at === undefined ? 'card time-slider' : 'card time-slider past'} aria-labelledby="time-title">
      <h2 id="time-title">{words.time}</h2>
      <p class="time-shown" role="status">
        {at === undefined ? words.now : words.past(exactTime(shown ?? at, timeZone))}{' '}
        {at !== undefined && shown !== at ? texts.loading : ''}
      </p>
      <input
        ref={range}
        type="range"
        aria-label={words.slider}
        aria-valuetext={at === undefined ? words.now : exactTime(at, timeZone)}
        min={least}
        max={most}
        step={minuteMs}
        onInput={(event: Event) => {
          setPlaying(false)
          show(Number(textOf(event)), true)
        }}
      />
      <div class="time-acts">
        {steps.map((minutes) => {
          const isAhead = minutes > 0 && at === undefined
          return (
            <button
              key={minutes}
              type="button"
              aria-disabled={isAhead ? 'true' : 'false'}
              onClick={() => (isAhead ? undefined : show((atMs ?? nowMs) + minutes * minuteMs, true))}
            >
              {words.step(minutes)}
            </button>
          )
        })}
        {at === undefined ? null : (
          <>
            <button type="button" aria-pressed={isPlaying ? 'true' : 'false'} onClick={() => setPlaying(!isPlaying)}>
              {isPlaying ? words.pause : words.play}
            </button>
            <button type="button" class="strong" onClick={() => go(addressAt(undefined, slot))}>
              {words.toNow}
            </button>
          </>
        )}
      </div>
    </section>
  )
}

/** Shows one step after the other while it plays, until the floor of now. */
function usePlay(atMs: number | undefined, show: (ms: number) => void) {
  const [isPlaying, setPlaying] = useState(false)
  const latest = useRef({ atMs, show })
  latest.current = { atMs, show }
  useEffect(() => {
    if (!isPlaying) return
    const timer = setInterval(() => {
      const { current } = latest
      if (current?.atMs === undefined) setPlaying(false)
      else current.show(current.atMs + playStepMs)
    }, playEveryMs)
    return () => clearInterval(timer)
  }, [isPlaying])
  return { isPlaying, setPlaying }
}
