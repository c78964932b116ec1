import { useState } from 'preact/hooks'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import type { Item } from './items.ts'
import type { QueueState, ScanQueue } from './queue.ts'
import { scanTexts as texts } from './texts.ts'

const waitingIn = ({ items }: QueueState) => items.filter(({ refusal }) => refusal === undefined)

/** Remarks about the queue, and why it rests. */
export const QueueRemarks = ({ queued }: { queued: QueueState }) => (
  <p class="scan-say warn" role="status">
    {[...queued.remarks, queued.aside.size > 0 ? texts.aside(queued.aside.size) : '', ...restWords(queued)]
      .filter((words) => words !== '')
      .map((words) => (
        <span class="scan-line">
          <Said words={words} />
        </span>
      ))}
  </p>
)

function restWords(queued: QueueState): string[] {
  const waiting = waitingIn(queued)
  const asked = queued.signInNeeded.map((who) => texts.signInNeeded(who, waiting.filter(({ by }) => by === who).length))
  return [waiting.length > 0 && queued.rests ? texts.rests(queued.rests) : '', ...asked]
}

/** How many scans wait, were refused and are acknowledged; opens their list. */
export const QueueChips = ({ queued, isOpen, onOpen }: { queued: QueueState; isOpen: boolean; onOpen: () => void }) => {
  const waiting = waitingIn(queued).length
  const refused = queued.items.length - waiting
  return (
    <div class="chips">
      <button
        type="button"
        class={waiting > 0 ? 'warn' : ''}
        aria-expanded={isOpen ? 'true' : 'false'}
        onClick={onOpen}
      >
        {texts.waiting(waiting)}
      </button>
      <button type="button" class={refused > 0 ? 'bad' : ''} aria-expanded={isOpen ? 'true' : 'false'} onClick={onOpen}>
        {texts.refused(refused)}
      </button>
      <p class="muted">{texts.acknowledged(queued.acknowledged)}</p>
    </div>
  )
}

/** The scans that this device stores, each with its problem. */
export const QueueList = ({ queue, queued: { items, aside } }: { queue: ScanQueue; queued: QueueState }) => {
  const [sure, setSure] = useState<number | undefined>(undefined)
  const remove = (item: Item) => {
    if (sure !== item.n) return setSure(item.n)
    void queue.discard(item)
    return undefined
  }
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">{texts.queue.title}</h2>
      {items.length === 0 ? <p class="blank">{texts.queue.none}</p> : null}
      <ol class="scan-list">
        {items.map((item) => (
          <li key={item.n} class="card">
            <strong>{item.title}</strong>
            <p class="muted">
              {item.by}, {new Date(item.at).toLocaleString(locale)}
            </p>
            {item.refusal === undefined && aside.has(item.n) ? (
              <p class="problem">
                <Said words={texts.queue.aside(aside.get(item.n) ?? '')} />
              </p>
            ) : null}
            {item.refusal === undefined ? null : (
              <p class="problem">
                <Said words={item.refusal} />
              </p>
            )}
            {item.refusal === undefined ? null : (
              <div class="acts">
                <button type="button" onClick={() => queue.sendAgain(item)}>
                  {texts.queue.again}
                </button>
                <button type="button" onClick={() => remove(item)}>
                  {sure === item.n ? texts.queue.sure : texts.queue.remove}
                </button>
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
