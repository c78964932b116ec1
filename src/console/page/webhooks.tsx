import type { Webhook } from './answers.ts'
import { Icon } from './icons.tsx'
import { countOf, hostOf } from './words.ts'

/** Shows where notifications go, and whether they arrive. */
export const Webhooks = ({ webhooks }: { webhooks: readonly Webhook[] | undefined }) => (
  <section class="card webhooks" aria-labelledby="webhooks-title">
    <h2 id="webhooks-title">
      <Icon name="webhook" /> Webhooks
    </h2>
    {webhooks === undefined ? <p class="blank">Loading …</p> : null}
    {webhooks?.length === 0 ? <p class="blank">No webhooks are registered.</p> : null}
    <ul class="rows">
      {(webhooks ?? []).map((webhook) => (
        <li key={webhook.id}>
          <span class="address">
            <strong>{hostOf(webhook.url)}</strong>
            <span class="muted">{countOf(webhook.events.length, 'event type')}</span>
          </span>
          <State webhook={webhook} />
        </li>
      ))}
    </ul>
  </section>
)

const State = ({ webhook }: { webhook: Webhook }) => {
  const { active, status, consecutiveFailures } = webhook
  if (!active) return <span class="chip off">switched off, deliveries are held</span>
  if (status === 'active') return <span class="chip ok">delivering</span>
  const failures = countOf(consecutiveFailures, 'failed attempt')
  if (status === 'failing') return <span class="chip warn">failing: {failures} in a row</span>
  return <span class="chip danger">disabled after {failures}; deliveries are held</span>
}
