import { useEffect, useRef } from 'preact/hooks'
import { ask } from '../../data/ask.ts'
import { askNewest } from '../../data/asking.ts'
import { keysOf } from '../../data/parsing.ts'
import type { Page } from '../../data/shapes.ts'
import { useLive } from '../../data/use-live.ts'
import { texts } from '../../i18n/texts.ts'
import { exactTime, whenWords } from '../../i18n/words.ts'
import type { Act } from '../../kit/acts.tsx'
import { Field } from '../../kit/box-frame.tsx'
import { boxTexts } from '../../kit/box-texts.ts'
import { textOf } from '../../kit/field.ts'
import { webhooksTexts as words } from './texts.ts'

type State = keyof typeof words.states
const states = keysOf(words.states)
type Delivery = {
  readonly id: string
  readonly test: boolean
  readonly type: string
  readonly timestamp: string
  readonly state: 'pending' | 'delivered' | 'exhausted'
  readonly held: 'held_offline' | 'held_disabled' | null
  readonly nextAttemptAt: string | null
  readonly lastError: string | null
  readonly attempts: readonly {
    readonly attempt: number
    readonly startedAt: string
    readonly durationMs: number
    readonly statusCode: number | null
    readonly error: string | null
    readonly answer: string | null
  }[]
}

const deliveryTones = { pending: 'warn', delivered: 'ok', exhausted: 'danger' } as const
const pageSize = 20

type Props = {
  /** Id of the webhook. */
  id: string
  /** Another number: something was sent. */
  tests: number
  timeZone: string | undefined
  onAct: Act
  onLeft: (why: string) => void
}

/** Deliveries of a webhook, the newest first, with their attempts; chosen ones are sent again. */
export const Deliveries = ({ id, tests, timeZone, onAct, onLeft }: Props) => {
  const wanted = useRef<{ state: State; limit: number }>({ state: '', limit: pageSize })
  const now = wanted.current ?? { state: '', limit: pageSize }
  const path = `/api/webhooks/${id}/deliveries`
  const { answer, reload } = useLive(
    async () => {
      const filter = now.state === '' ? '' : `?state=${now.state}`
      const [listed, waiting] = await Promise.all([
        askNewest<Delivery>(`${path}${filter}`, now.limit),
        ask<Page<Delivery>>(`${path}?limit=1&state=pending`),
      ])
      return { listed, waiting: waiting.pagination.total }
    },
    [],
    () => onLeft(texts.signedOut),
  )
  useEffect(() => {
    if (tests > 0) reload()
  }, [tests])
  const again = async (deliveryId: string) => {
    await ask(`${path}/${encodeURIComponent(deliveryId)}/redeliver`, { method: 'POST' })
    reload()
  }
  return (
    <section class="card" aria-labelledby="deliveries-title">
      <div class="card-head">
        <h2 id="deliveries-title">{words.deliveries}</h2>
        <p class="muted">{answer ? words.waiting(answer.waiting) : texts.loading}</p>
      </div>
      <Field name="state" label={words.show}>
        {(field) => (
          <select
            {...field}
            onInput={(event: Event) => {
              now.state = states.find((one) => one === textOf(event)) ?? ''
              reload()
            }}
          >
            {states.map((state) => (
              <option key={state} value={state}>
                {words.states[state]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {answer?.listed.data.length === 0 ? <p class="blank">{words.noDeliveries}</p> : null}
      <ul class="box-list">
        {(answer?.listed.data ?? []).map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            timeZone={timeZone}
            onAgain={() => onAct(() => again(delivery.id), words.redelivered)}
          />
        ))}
      </ul>
      {answer?.listed.pagination.hasMore ? (
        <button
          type="button"
          onClick={() => {
            now.limit += pageSize
            reload()
          }}
        >
          {boxTexts.older}
        </button>
      ) : null}
    </section>
  )
}

type RowProps = { delivery: Delivery; timeZone: string | undefined; onAgain: () => void }

const DeliveryRow = ({ delivery, timeZone, onAgain }: RowProps) => {
  const { id, test, type, timestamp, state, held, nextAttemptAt, lastError, attempts } = delivery
  const plan = held ? words.held[held] : nextAttemptAt ? words.next(whenWords(nextAttemptAt, timeZone)) : ''
  return (
    <li class={deliveryTones[state]}>
      <p class="box-what">
        {type} <span class={`chip ${deliveryTones[state]}`}>{words.states[state]}</span>{' '}
        {test ? <span class="chip">{words.isTest}</span> : null}
      </p>
      <p class="muted">
        {exactTime(timestamp, timeZone)} {plan === '' ? '' : `· ${plan}`}{' '}
        {lastError && state !== 'delivered' ? (
          <>
            · <span lang="en">{lastError}</span>
          </>
        ) : null}
      </p>
      {attempts.length === 0 ? null : (
        <details>
          <summary>{words.attempts(attempts.length)}</summary>
          <ol class="attempts">
            {attempts.map(({ attempt, startedAt, durationMs, statusCode, error, answer }) => (
              <li key={`${attempt} ${startedAt}`}>
                <p>
                  {words.attempt(attempt, exactTime(startedAt, timeZone), durationMs)}:{' '}
                  <strong lang="en">{error ?? `HTTP ${statusCode}`}</strong>
                </p>
                {answer ? <p class="code">{answer}</p> : null}
              </li>
            ))}
          </ol>
        </details>
      )}
      {test ? null : (
        <p class="box-acts">
          <button type="button" aria-label={`${words.redeliver}: ${id}`} onClick={onAgain}>
            {words.redeliver}
          </button>
        </p>
      )}
    </li>
  )
}
