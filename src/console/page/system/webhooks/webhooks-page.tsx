import { useLayoutEffect, useState } from 'preact/hooks'
import { get } from '../../data/api.ts'
import { ask } from '../../data/ask.ts'
import type { Webhook } from '../../data/shapes.ts'
import { useLive } from '../../data/use-live.ts'
import { texts } from '../../i18n/texts.ts'
import { hostOf } from '../../i18n/words.ts'
import type { Act } from '../../kit/acts.tsx'
import { follow, keepsUnsaved } from '../../kit/address.ts'
import { BoxFrame, useBoxActs } from '../../kit/box-frame.tsx'
import type { ViewProps } from '../../kit/views.ts'
import { type EventType, WebhookForm } from './form.tsx'
import { Secret, type WithSecret } from './secret.tsx'
import { StateChip, toneOf } from './state.tsx'
import { webhooksTexts as words } from './texts.ts'
import { OneWebhook } from './webhook-page.tsx'

/** Webhooks at `/webhooks`, and one with its deliveries at `/webhooks/ID`. */
export const View = ({ siteId, caller, pathname, onLeft }: ViewProps) => {
  const [, id] = /^\/webhooks\/([^/]+)\/?$/.exec(pathname) ?? []
  const [fresh, setFresh] = useState<WithSecret | undefined>(undefined)
  const [said, setSaid] = useState({ id: '', words: '' })
  const { answer, ...asking } = useLive(load, [], () => onLeft(texts.signedOut))
  const acts = useBoxActs(onLeft, asking.reload)
  // A secret is shown once. It stays while somebody goes through the views of webhooks.
  useLayoutEffect(
    () =>
      fresh?.secret === undefined
        ? undefined
        : keepsUnsaved(
            () => confirm(words.leave),
            (path) => !/^\/webhooks(\/|$)/.test(path),
          ),
    [fresh?.secret],
  )
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
        <OneWebhook
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
    get('/api/webhooks', {}),
    get('/api/webhooks/event-types', {}),
    get('/api/whms/warehouses', {}),
  ])
  return { webhooks: webhooks.data, types: types.data, timeZone: warehouses.data[0]?.timezone }
}

type ListedProps = {
  webhooks: readonly Webhook[]
  types: readonly EventType[]
  isBusy: boolean
  onAct: Act
  onSecret: (webhook: WithSecret) => void
}

const Listed = ({ webhooks, onSecret, ...shared }: ListedProps) => {
  const register = async (body: object) => {
    onSecret(await ask<WithSecret>('/api/webhooks', { method: 'POST', body }))
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
      <WebhookForm {...shared} heading={words.add} button={words.register} done={words.registered} onSend={register} />
    </>
  )
}
