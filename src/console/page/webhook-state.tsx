import type { Webhook } from './answers.ts'
import { webhooksTexts as words } from './webhooks-texts.ts'

/** Whether a webhook is paused, delivers, fails or is disabled, in a word. */
export const StateChip = ({ webhook: { active, status, consecutiveFailures } }: { webhook: Webhook }) => {
  if (!active) return <span class="chip">{words.paused}</span>
  if (status === 'active') return <span class="chip ok">{words.delivering}</span>
  if (status === 'failing') return <span class="chip warn">{words.failing(consecutiveFailures)}</span>
  return <span class="chip danger">{words.disabled(consecutiveFailures)}</span>
}

/** The color of a webhook in the list. */
export const toneOf = ({ active, status }: Webhook) =>
  !active ? '' : ({ active: 'ok', failing: 'warn', disabled: 'danger' } as const)[status]
