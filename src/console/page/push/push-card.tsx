import { useEffect, useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import { whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { SureButton } from '../kit/box-frame.tsx'
import { pushTexts as words } from './push-texts.ts'
import { canGetMessages, isSubscribed, type PushState, subscribe, unsubscribe } from './subscribe.ts'

type Props = { state: PushState; isBusy: boolean; onAct: Act }

/** Turns messages about alerts on and off in this browser, and lists the person's other browsers. */
export const PushCard = ({ state, isBusy, onAct }: Props) => {
  const [isOn, setOn] = useState(false)
  const { publicKey, subscriptions } = state
  useEffect(() => {
    void isSubscribed().then(setOn)
  }, [])
  const start = async (key: string) => {
    await ask('/api/push-subscriptions', { method: 'POST', body: await subscribe(key) })
    setOn(true)
  }
  const stop = async () => {
    await unsubscribe()
    setOn(false)
  }
  return (
    <section class="card" aria-labelledby="push-card">
      <h2 id="push-card">{words.heading}</h2>
      <p>{words.help}</p>
      {publicKey === null ? <p class="muted">{words.none}</p> : null}
      {publicKey !== null && !canGetMessages() ? <p class="muted">{words.cannot}</p> : null}
      {publicKey !== null && canGetMessages() ? (
        <p class="box-acts">
          {isOn ? (
            <button type="button" onClick={() => onAct(stop, words.stopped)}>
              {words.stop}
            </button>
          ) : (
            <button type="button" class="strong" onClick={() => onAct(() => start(publicKey), words.started)}>
              {words.start}
            </button>
          )}
        </p>
      ) : null}
      {subscriptions.length > 0 ? <p class="muted">{words.own(subscriptions.length)}</p> : null}
      <ul class="rows">
        {subscriptions.map(({ id, createdAt }) => {
          const since = words.since(whenWords(createdAt, undefined))
          return (
            <li key={id}>
              <span class="muted">{since}</span>
              <SureButton
                words={words.remove}
                of={since}
                sure={words.remove}
                isBusy={isBusy}
                onSure={() => onAct(() => ask(`/api/push-subscriptions/${id}`, { method: 'DELETE' }), words.removed)}
              />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
