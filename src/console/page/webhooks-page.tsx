import { useRef, useState } from 'hono/jsx/dom'
import type { Act } from './acts.tsx'
import { follow, goSent } from './address.ts'
import type { List, Page, Warehouse, Webhook } from './answers.ts'
import { ask, Refused } from './ask.ts'
import { askNewest } from './asking.ts'
import { BoxFrame, Field, SureButton, useBoxActs } from './box-frame.tsx'
import { boxTexts } from './box-texts.ts'
import { useEffect } from './effect.ts'
import { gatewayWords } from './language.ts'
import { Said } from './said.tsx'
import { texts } from './texts.ts'
import { wasSent } from './typed.ts'
import { useLive } from './use-live.ts'
import type { ViewProps } from './views.ts'
import { webhooksTexts as words } from './webhooks-texts.ts'
import { exactTime, hostOf, whenWords } from './words.ts'

type EventType = { readonly type: string; readonly group: string; readonly trigger: string }
type State = keyof typeof words.states
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
type Tested = {
  readonly delivered: boolean
  readonly statusCode: number | null
  readonly durationMs: number
  readonly error: string | null
  readonly answer: string | null
}
type WithSecret = Webhook & { readonly secret?: string }

const deliveryTones = { pending: 'warn', delivered: 'ok', exhausted: 'danger' } as const
const pageSize = 20

/** Webhooks at `/webhooks`, and one with its deliveries at `/webhooks/ID`. */
export const View = ({ siteId, caller, pathname, onLeft }: ViewProps) => {
  const [, id] = /^\/webhooks\/([^/]+)\/?$/.exec(pathname) ?? []
  const [fresh, setFresh] = useState<WithSecret | undefined>(undefined)
  const [said, setSaid] = useState({ id: '', words: '' })
  const { answer, ...asking } = useLive(load, [], () => onLeft(texts.signedOut))
  const acts = useBoxActs(onLeft, asking.reload)
  const webhook = answer?.webhooks.find((one) => one.id === id)
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="webhooks"
      heading={webhook ? hostOf(webhook.url) : words.title}
      said={answer && `${said.id === id ? said.words : ''} ${webhook ? '' : words.count(answer.webhooks.length)}`}
      stale={asking.problem}
    >
      {id === undefined ? null : (
        <p>
          <a class="button" href="/webhooks" onClick={follow}>
            {words.all}
          </a>
        </p>
      )}
      {fresh?.secret && (id === undefined || id === fresh.id) ? (
        <Secret key={fresh.secret} secret={fresh.secret} url={fresh.url} onDone={() => setFresh(undefined)} />
      ) : null}
      {answer && id !== undefined && !webhook ? <p class="card">{words.noSuch}</p> : null}
      {answer && id === undefined ? (
        <Listed
          webhooks={answer.webhooks}
          types={answer.types}
          isBusy={acts.isBusy}
          onAct={acts.act}
          onSecret={setFresh}
        />
      ) : null}
      {answer && webhook ? (
        <One
          key={webhook.id}
          webhook={webhook}
          types={answer.types}
          timeZone={answer.timeZone}
          isBusy={acts.isBusy}
          onAct={acts.act}
          onSecret={setFresh}
          onSaid={(what) => setSaid({ id: webhook.id, words: what })}
          onLeft={onLeft}
        />
      ) : null}
    </BoxFrame>
  )
}

async function load() {
  const [webhooks, types, warehouses] = await Promise.all([
    ask<List<Webhook>>('/api/webhooks'),
    ask<List<EventType>>('/api/webhooks/event-types'),
    ask<List<Warehouse>>('/api/whms/warehouses'),
  ])
  return { webhooks: webhooks.data, types: types.data, timeZone: warehouses.data[0]?.timezone }
}

const Secret = ({ secret, url, onDone }: { secret: string; url: string; onDone: () => void }) => {
  const [said, setSaid] = useState('')
  return (
    <section class="card enrol-card" aria-labelledby="secret-title">
      <h2 id="secret-title">{words.secret}</h2>
      <p class="muted">{url}</p>
      <p>{words.secretHelp}</p>
      <p class="code">{secret}</p>
      <p class="box-acts">
        {/* Only where the page comes over HTTPS; else the text can be marked. */}
        {navigator.clipboard ? (
          <button
            type="button"
            onClick={() =>
              navigator.clipboard.writeText(secret).then(
                () => setSaid(words.copied),
                () => {},
              )
            }
          >
            {words.copy}
          </button>
        ) : null}
        <button type="button" class="strong" onClick={onDone}>
          {words.hide}
        </button>
        <span role="status">{said}</span>
      </p>
    </section>
  )
}

const StateChip = ({ webhook: { active, status, consecutiveFailures } }: { webhook: Webhook }) => {
  if (!active) return <span class="chip">{words.paused}</span>
  if (status === 'active') return <span class="chip ok">{words.delivering}</span>
  if (status === 'failing') return <span class="chip warn">{words.failing(consecutiveFailures)}</span>
  return <span class="chip danger">{words.disabled(consecutiveFailures)}</span>
}

type Shared = { types: readonly EventType[]; isBusy: boolean; onAct: Act; onSecret: (webhook: WithSecret) => void }

const Listed = ({ webhooks, ...shared }: Shared & { webhooks: readonly Webhook[] }) => {
  const register = async (body: object) => {
    shared.onSecret(await ask<WithSecret>('/api/webhooks', { method: 'POST', body }))
  }
  return (
    <>
      <section class="card" aria-label={words.title}>
        {webhooks.length === 0 ? <p class="blank">{words.none}</p> : null}
        <ul class="box-list">
          {webhooks.map((webhook) => (
            <li key={webhook.id} class={toneOf(webhook)}>
              <p class="box-what">
                {hostOf(webhook.url)} <StateChip webhook={webhook} />
              </p>
              <p class="muted">
                {webhook.url} · {words.types(webhook.events.length)}
              </p>
              <p class="box-acts">
                <a
                  class="button"
                  href={`/webhooks/${webhook.id}`}
                  aria-label={`${words.open}: ${hostOf(webhook.url)}`}
                  onClick={follow}
                >
                  {words.open}
                </a>
              </p>
            </li>
          ))}
        </ul>
      </section>
      <Settings {...shared} heading={words.add} button={words.register} done={words.registered} onSend={register} />
    </>
  )
}

const toneOf = ({ active, status }: Webhook) =>
  !active ? '' : ({ active: 'ok', failing: 'warn', disabled: 'danger' } as const)[status]

type SettingsProps = Omit<Shared, 'onSecret'> & {
  heading: string
  button: string
  done: string
  webhook?: Webhook
  onSend: (body: object) => Promise<void>
}

const Settings = ({ heading, button, done, webhook, types, isBusy, onAct, onSend }: SettingsProps) => {
  const [fields, setFields] = useState<ReadonlyMap<string, string>>(new Map())
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const typed = new FormData(form.current)
    const secret = String(typed.get('secret') ?? '')
    const body = {
      url: String(typed.get('url') ?? '').trim(),
      events: typed.getAll('events'),
      ...(secret !== '' && { secret }),
    }
    const send = async () => {
      try {
        await onSend(body)
        setFields(new Map())
      } catch (error) {
        setFields(error instanceof Refused ? problemsOf(error) : new Map())
        throw error
      }
    }
    if (!(await onAct(send, done))) return
    if (webhook) wasSent(form.current)
    else form.current?.reset()
  }
  const groups = [...new Set(types.map(({ group }) => group))]
  return (
    <form class="card" ref={form} aria-labelledby="webhook-form" onSubmit={submit}>
      <h2 id="webhook-form">{heading}</h2>
      <Field name="url" label={words.url} help={words.urlHelp} problem={fields.get('url')}>
        {(field) => <input {...field} type="text" inputmode="url" autocomplete="off" value={webhook?.url ?? ''} />}
      </Field>
      <fieldset class="box-choice">
        <legend>{words.events}</legend>
        <p class="problem" role="alert">
          <Said words={fields.get('events') ?? ''} />
        </p>
        <div class="event-types">
          {groups.map((group) => (
            <div key={group}>
              <p class="muted" lang="en">
                {group}
              </p>
              {types
                .filter((one) => one.group === group)
                .map(({ type, trigger }) => (
                  <label key={type} title={trigger}>
                    <input
                      type="checkbox"
                      name="events"
                      value={type}
                      checked={webhook?.events.includes(type) ?? false}
                    />
                    {type}
                  </label>
                ))}
            </div>
          ))}
        </div>
      </fieldset>
      {webhook ? null : (
        <Field name="secret" label={words.ownSecret} help={words.ownSecretHelp} problem={fields.get('secret')}>
          {(field) => <input {...field} type="password" autocomplete="new-password" />}
        </Field>
      )}
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {button}
        </button>
      </p>
    </form>
  )
}

/** The refusals of addresses name no field; they are about the address. */
const problemsOf = ({ code, message, fields }: Refused): ReadonlyMap<string, string> =>
  code.startsWith('WEBHOOK_URL') ? new Map([['url', message]]) : fields

type OneProps = Shared & {
  webhook: Webhook
  timeZone: string | undefined
  onSaid: (words: string) => void
  onLeft: (why: string) => void
}

const One = ({ webhook, types, timeZone, isBusy, onAct, onSecret, onSaid, onLeft }: OneProps) => {
  const path = `/api/webhooks/${webhook.id}`
  const isOn = webhook.active && webhook.status !== 'disabled'
  const post = <T,>(what: string) => ask<T>(`${path}/${what}`, { method: 'POST' })
  const [tests, setTests] = useState(0)
  const test = async () => {
    onSaid(testWords(await post<Tested>('test')))
    setTests(tests + 1)
  }
  const rotate = async () => onSecret({ ...webhook, ...(await post<WithSecret>('rotate-secret')) })
  const pause = () => ask(path, { method: 'PATCH', body: { active: false } })
  const remove = async () => {
    await ask(path, { method: 'DELETE' })
    goSent('/webhooks')
  }
  const save = async (body: object) => {
    await ask(path, { method: 'PATCH', body })
  }
  return (
    <>
      <section class="card" aria-label={webhook.url}>
        <p>
          <StateChip webhook={webhook} /> <span class="muted">{webhook.url}</span>
        </p>
        <p class="box-acts">
          <button type="button" onClick={() => onAct(test, '')}>
            {words.test}
          </button>
          {isOn ? (
            <button type="button" onClick={() => onAct(pause, words.didPause)}>
              {words.pause}
            </button>
          ) : (
            <button type="button" onClick={() => onAct(() => post('enable'), words.didResume)}>
              {words.resume}
            </button>
          )}
          <SureButton
            words={words.rotate}
            sure={words.rotateSure}
            isBusy={isBusy}
            onSure={() => onAct(rotate, words.rotated)}
          />
          <SureButton
            words={words.remove}
            sure={words.removeSure}
            isBusy={isBusy}
            onSure={() => onAct(remove, words.removed)}
          />
        </p>
      </section>
      <Deliveries id={webhook.id} tests={tests} timeZone={timeZone} onAct={onAct} onLeft={onLeft} />
      <Settings
        {...{ webhook, types, isBusy, onAct }}
        heading={words.edit}
        button={words.save}
        done={words.saved}
        onSend={save}
      />
    </>
  )
}

function testWords({ delivered, statusCode, durationMs, error, answer }: Tested): string {
  const outcome = delivered
    ? words.testGood(statusCode ?? 0, durationMs)
    : words.testBad(gatewayWords(error ?? `HTTP ${statusCode}`))
  return answer ? `${outcome} ${words.answered(answer.slice(0, 200))}` : outcome
}

type DeliveriesProps = {
  id: string /** Another number: something was sent. */
  tests: number
  timeZone: string | undefined
  onAct: Act
  onLeft: (why: string) => void
}

const Deliveries = ({ id, tests, timeZone, onAct, onLeft }: DeliveriesProps) => {
  const wanted = useRef({ state: '' as State, limit: pageSize })
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
            onChange={(event: Event) => {
              now.state = (event.target as HTMLSelectElement).value as State
              reload()
            }}
          >
            {(Object.keys(words.states) as State[]).map((state) => (
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
