import { useState } from 'preact/hooks'
import { ask } from '../../data/ask.ts'
import type { Webhook } from '../../data/shapes.ts'
import { gatewayWords } from '../../i18n/language.ts'
import type { Act } from '../../kit/acts.tsx'
import { goSent } from '../../kit/address.ts'
import { SureButton } from '../../kit/box-frame.tsx'
import { Deliveries } from './deliveries.tsx'
import { type EventType, WebhookForm } from './form.tsx'
import type { WithSecret } from './secret.tsx'
import { PacingWords, StateChip } from './state.tsx'
import { webhooksTexts as words } from './texts.ts'

type Tested = {
  readonly delivered: boolean
  readonly statusCode: number | null
  readonly durationMs: number
  readonly error: string | null
  readonly answer: string | null
}

type Props = {
  webhook: Webhook
  types: readonly EventType[]
  isBusy: boolean
  onAct: Act
  onSecret: (webhook: WithSecret) => void
  timeZone: string | undefined
  onSaid: (words: string) => void
  onLeft: (why: string) => void
}

/** One webhook: test, pause, rotate its secret, remove; its deliveries; its settings. */
export const OneWebhook = ({ webhook, types, timeZone, isBusy, onAct, onSecret, onSaid, onLeft }: Props) => {
  const path = `/api/webhooks/${webhook.id}`
  const isOn = webhook.active && webhook.status !== 'disabled'
  const post = <T,>(what: string) => ask<T>(`${path}/${what}`, { method: 'POST' })
  const [tests, setTests] = useState(0)
  const test = async () => {
    onSaid(testWords(await post<Tested>('test')))
    setTests(tests + 1)
  }
  const rotate = async () => onSecret({ ...webhook, ...(await post<WithSecret>('rotate-secret')) })
  const pause = (hold: boolean) => () => ask(path, { method: 'PATCH', body: { active: false, hold } })
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
        {webhook.pacing ? <PacingWords pacing={webhook.pacing} timeZone={timeZone} /> : null}
        <p class="box-acts">
          <button type="button" onClick={() => onAct(test, '')}>
            {words.test}
          </button>
          {isOn ? (
            <>
              <button type="button" onClick={() => onAct(pause(true), words.didPauseHeld)}>
                {words.pauseHeld}
              </button>
              <button type="button" onClick={() => onAct(pause(false), words.didPause)}>
                {words.pause}
              </button>
            </>
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
      <WebhookForm
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
