import { useRef, useState } from 'preact/hooks'
import type { Shape } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import { exactTime } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { Field } from '../kit/box-frame.tsx'
import { channelsTexts as words } from './channels-texts.ts'

export type Silence = Shape<'AlertSilenceItem'>
type Props = {
  silences: readonly Silence[]
  timeZone: string | undefined
  isBusy: boolean
  onAct: Act | undefined
}

/** Planned work, in which messages about alerts wait. */
export const Silences = ({ silences, timeZone, isBusy, onAct }: Props) => (
  <section class="card" aria-labelledby="alert-silences">
    <h2 id="alert-silences">{words.silences}</h2>
    <p class="muted">{words.silencesHelp}</p>
    <ul class="box-list">
      {silences.map(({ id, reason, kinds, warehouses, from, until, isActive }) => (
        <li key={id} class={isActive ? 'warn' : 'ok'}>
          <p class="box-what">
            {reason}{' '}
            <span class="muted">
              {[kinds.join(', ') || words.everything, ...warehouses].join(' · ')} ·{' '}
              {words.span(exactTime(from, timeZone), exactTime(until, timeZone))}
            </span>
          </p>
          {onAct ? (
            <p class="box-acts">
              <button
                type="button"
                aria-label={`${words.endNow}: ${reason}`}
                onClick={() => onAct(() => ask(`/api/alert-silences/${id}/end`, { method: 'POST' }), words.ended)}
              >
                {words.endNow}
              </button>
            </p>
          ) : null}
        </li>
      ))}
    </ul>
    {onAct ? <NewSilence isBusy={isBusy} onAct={onAct} /> : null}
  </section>
)

const NewSilence = ({ isBusy, onAct }: { isBusy: boolean; onAct: Act }) => {
  const form = useRef<HTMLFormElement>(null)
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const submit = async (event: Event) => {
    event.preventDefault()
    const fields = new FormData(form.current ?? undefined)
    const typed = (name: string) => String(fields.get(name) ?? '').trim()
    const list = (name: string) =>
      typed(name)
        .split(/[\s,]+/)
        .filter(Boolean)
    const until = new Date(typed('silence-until'))
    const body = {
      until: Number.isNaN(until.getTime()) ? '' : until.toISOString(),
      kinds: list('silence-kinds'),
      warehouses: list('silence-warehouse').map(Number),
      reason: typed('silence-reason'),
    }
    const send = async () => {
      try {
        await ask('/api/alert-silences', { method: 'POST', body })
        form.current?.reset()
      } catch (error) {
        if (error instanceof Refused) setProblems(error.fields)
        throw error
      }
    }
    setProblems(new Map())
    await onAct(send, words.silenced)
  }
  const problemOf = (name: string) =>
    [...problems].find(([field]) => field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`))?.[1]
  return (
    <form ref={form} aria-label={words.silence} onSubmit={submit}>
      <Field name="silence-until" label={words.until} problem={problemOf('until')}>
        {(field) => <input {...field} type="datetime-local" required />}
      </Field>
      <Field name="silence-kinds" label={words.kinds} problem={problemOf('kinds')}>
        {(field) => <input {...field} type="text" autocomplete="off" />}
      </Field>
      <Field name="silence-warehouse" label={words.warehouse} problem={problemOf('warehouses')}>
        {(field) => <input {...field} type="text" inputmode="numeric" autocomplete="off" />}
      </Field>
      <Field name="silence-reason" label={words.reason} problem={problemOf('reason')}>
        {(field) => <input {...field} type="text" autocomplete="off" maxlength={500} required />}
      </Field>
      <p class="box-acts">
        <button type="submit" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.silence}
        </button>
      </p>
    </form>
  )
}
