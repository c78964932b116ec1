import type { Shape } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import type { Page } from '../data/shapes.ts'
import { gatewayWords } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { exactTime, whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import { channelsTexts as words } from './channels-texts.ts'

export type Channel = Shape<'AlertChannel'>
export type Sent = Shape<'AlertMessage'>
type Tested = Shape<'AlertChannelTest'>

type ChannelsProps = { channels: readonly Channel[]; timeZone: string | undefined; onAct: Act | undefined }

/** The ways by which alerts reach people, each with its state and a test. */
export const Channels = ({ channels, timeZone, onAct }: ChannelsProps) => (
  <section class="card" aria-labelledby="alert-channels">
    <h2 id="alert-channels">{words.channels}</h2>
    {channels.length === 0 ? <p class="blank">{words.noChannel}</p> : null}
    <ul class="box-list">
      {channels.map((channel) => (
        <ChannelRow key={channel.name} {...{ channel, timeZone, onAct }} />
      ))}
    </ul>
  </section>
)

const minuteMs = 60_000

const ChannelRow = ({ channel, timeZone, onAct }: Omit<ChannelsProps, 'channels'> & { channel: Channel }) => {
  const { name, recipients, lastError, lastSentAt, waiting, escalateAfterMs } = channel
  const facts = [
    recipients.length > 0 ? words.to(recipients.join(', ')) : words.noRecipient,
    ...(escalateAfterMs === null ? [] : [words.escalates(String(Math.round(escalateAfterMs / minuteMs)))]),
    lastSentAt === null ? words.neverSent : words.lastSent(whenWords(lastSentAt, timeZone)),
    ...(waiting > 0 ? [words.waiting(waiting)] : []),
  ]
  return (
    <li class={lastError === null ? 'ok' : 'warn'}>
      <p class="box-what">
        <Icon name={lastError === null ? 'verified' : 'warning'} /> {name}{' '}
        <span class="muted">{facts.join(' · ')}</span>
      </p>
      {lastError === null ? null : (
        <p>
          <strong>{words.failing}</strong> <span lang="en">{lastError}</span>
        </p>
      )}
      {onAct ? (
        <p class="box-acts">
          <button
            type="button"
            aria-label={`${words.test}: ${name}`}
            onClick={() => onAct(() => test(name), words.tested(recipients.length))}
          >
            {words.test}
          </button>
        </p>
      ) : null}
    </li>
  )
}

/** Rejects with the errors of the recipients that the test did not reach. */
async function test(name: string): Promise<void> {
  const { results } = await ask<Tested>(`/api/alert-channels/${encodeURIComponent(name)}/test`, { method: 'POST' })
  const failed = results.flatMap(({ recipient, error }) =>
    error === null ? [] : [words.testFailed(recipient, gatewayWords(error))],
  )
  if (failed.length > 0) throw new Error(failed.join('; '))
}

type SentProps = { sent: Page<Sent>; timeZone: string | undefined }

/** The newest messages with their recipients. */
export const SentMessages = ({ sent, timeZone }: SentProps) => (
  <section class="card" aria-labelledby="alert-messages">
    <h2 id="alert-messages">{words.sent}</h2>
    {sent.data.length === 0 ? <p class="blank">{words.noneSent}</p> : null}
    <ul class="rows">
      {sent.data.map(({ id, channel, recipient, about, kinds, status, attempts, lastError, createdAt }) => (
        <li key={id}>
          <span>
            {words.about[about]} <span class="code">{kinds.join(', ')}</span> {words.to(recipient)}{' '}
            <span class="muted">
              {channel} · {exactTime(createdAt, timeZone)}
            </span>
          </span>
          <span class="muted">
            {words.status[status]}, {words.attempts(attempts)}
            {lastError === null ? '' : ' · '}
            <Said words={lastError === null ? '' : gatewayWords(lastError)} />
          </span>
        </li>
      ))}
    </ul>
  </section>
)
