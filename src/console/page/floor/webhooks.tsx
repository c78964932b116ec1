import type { Webhook } from '../data/shapes.ts'
import { texts } from '../i18n/texts.ts'
import { hostOf } from '../i18n/words.ts'
import { Icon } from '../kit/icons.tsx'
import { floorTexts } from './floor-texts.ts'

const words = floorTexts.webhooks

/** Shows where notifications go, and whether they arrive. */
export const Webhooks = ({ webhooks }: { webhooks: readonly Webhook[] | undefined }) => (
  <section class="card webhooks" aria-labelledby="webhooks-title">
    <h2 id="webhooks-title">
      <Icon name="webhook" /> {words.title}
    </h2>
    {webhooks === undefined ? <p class="blank">{texts.loading}</p> : null}
    {webhooks?.length === 0 ? <p class="blank">{words.none}</p> : null}
    <ul class="rows">
      {(webhooks ?? []).map((webhook) => (
        <li key={webhook.id}>
          <span class="address">
            <strong>{hostOf(webhook.url)}</strong>
            <span class="muted">{words.eventTypes(webhook.events.length)}</span>
          </span>
          <State webhook={webhook} />
        </li>
      ))}
    </ul>
  </section>
)

const State = ({ webhook }: { webhook: Webhook }) => {
  const { active, hold, status, pacing, consecutiveFailures } = webhook
  if (!active) return <span class="chip off">{hold ? words.holding : words.off}</span>
  if (status === 'failing') return <span class="chip warn">{words.failing}</span>
  if (pacing) return <span class="chip warn">{words.slowed(consecutiveFailures)}</span>
  if (status === 'active') return <span class="chip ok">{words.delivering}</span>
  return <span class="chip danger">{words.disabled(consecutiveFailures)}</span>
}
