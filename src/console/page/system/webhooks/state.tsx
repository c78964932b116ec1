import { gatewayNow } from '../../data/ask.ts'
import type { Webhook } from '../../data/shapes.ts'
import { useEvery } from '../../data/use-every.ts'
import { sinceWords, timeOfDay } from '../../i18n/words.ts'
import { webhooksTexts as words } from './texts.ts'

/** Whether a webhook is paused, delivers, fails or is disabled, in a word. */
export const StateChip = ({ webhook }: { webhook: Webhook }) => {
  const { active, hold, status, pacing, consecutiveFailures } = webhook
  if (!active) return <span class="chip">{hold ? words.pausedHeld : words.paused}</span>
  if (status === 'failing') return <span class="chip warn">{words.failing}</span>
  if (pacing) return <span class="chip warn">{words.slowed(consecutiveFailures)}</span>
  if (status === 'active') return <span class="chip ok">{words.delivering}</span>
  return <span class="chip danger">{words.disabled(consecutiveFailures)}</span>
}

type PacingProps = { pacing: NonNullable<Webhook['pacing']>; timeZone: string | undefined }

/** Since when a webhook gets one attempt at a time, and when the next one comes. */
export const PacingWords = ({ pacing: { slowedSince, nextAttemptAt }, timeZone }: PacingProps) => {
  const nowMs = useEvery(1000, gatewayNow)
  return (
    <p class="muted">
      {words.slowedSince(sinceWords(slowedSince, timeZone))}{' '}
      {nextAttemptAt === null ? words.nextNone : nextWords(Date.parse(nextAttemptAt), nowMs, timeZone)}
    </p>
  )
}

/** From ten minutes on a time of day is easier to read. */
function nextWords(nextMs: number, nowMs: number, timeZone: string | undefined): string {
  const seconds = Math.max(Math.ceil((nextMs - nowMs) / 1000), 0)
  return seconds < 600 ? words.nextIn(seconds) : words.nextAt(timeOfDay(nextMs, timeZone))
}

/** The color of a webhook in the list. */
export const toneOf = ({ active, status, pacing }: Webhook) => {
  if (!active) return ''
  return pacing && status === 'active'
    ? 'warn'
    : ({ active: 'ok', failing: 'warn', disabled: 'danger' } as const)[status]
}
