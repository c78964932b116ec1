import { useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import { follow } from '../kit/address.ts'
import { problemOf, useAnswer, useSiteFacts } from './ask.ts'
import { hubTexts } from './texts.ts'

const words = hubTexts.alerts
const everyMs = 15_000
type Alert = {
  readonly siteId: string
  readonly logId: string
  readonly id: string
  readonly type: string
  readonly severity: string
  readonly openedAt: string
  readonly closedAt: string | null
  readonly closedBy: string | null
}

/** Alerts of the head office about the logs. */
export const HubAlerts = ({ onLeft }: { onLeft: () => void }) => {
  const { answer, problem } = useAnswer<{ data: readonly Alert[]; nextCursor: string | null }>(
    '/api/hub/alerts',
    onLeft,
    everyMs,
  )
  const sites = useSiteFacts(true, onLeft)
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title}</h1>
        <p class="muted" role="status">
          {answer ? '' : problem || hubTexts.asking}
        </p>
        {answer && answer.data.length > 0 ? (
          <a class="button" href="/api/hub/alerts?format=csv" download="alerts.csv">
            {hubTexts.file}
          </a>
        ) : null}
      </div>
      {answer && problem ? <p class="card alarm">{hubTexts.stale(problem)}</p> : null}
      {answer && answer.data.length === 0 ? <p class="card">{words.none}</p> : null}
      {answer && answer.nextCursor !== null ? <p class="muted">{words.newest(answer.data.length)}</p> : null}
      <ul class="hub-alerts">
        {(answer?.data ?? []).map((one) => (
          <li key={`${one.logId} ${one.id}`} class={`card ${one.closedAt === null ? 'alarm' : ''}`}>
            <h2>
              <a href={`/sites/${encodeURIComponent(one.siteId)}`} onClick={follow}>
                {sites.nameOf(one.siteId)}
              </a>
            </h2>
            <p>{words.words[one.type] ?? words.other}</p>
            <p class="muted">
              {sites.timeAt(one.siteId, one.openedAt)}
              {one.closedBy === null ? '' : ` · ${words.closedBy(one.closedBy)}`}
              {one.closedAt === null ? ` · ${words.open}` : ''} · <span class="code">{one.type}</span>
            </p>
            <p class="hub-links">
              <a href={`/logs/${one.logId}`} onClick={follow}>
                {one.type === 'log.forked' ? words.toBoth : words.toLog}
              </a>
            </p>
            {one.closedAt === null && sites.may(one.siteId, 'alerts:manage') ? <Close alert={one} /> : null}
          </li>
        ))}
      </ul>
    </main>
  )
}

/** The list shows it as closed with its next answer. */
const Close = ({ alert: { logId, id } }: { alert: Alert }) => {
  const [said, setSaid] = useState('')
  const close = async () => {
    try {
      await ask(`/api/hub/alerts/${logId}/${encodeURIComponent(id)}/close`, { method: 'POST' })
      setSaid(words.closed)
    } catch (error) {
      setSaid(problemOf(error))
    }
  }
  if (said !== '') return <p role="status">{said}</p>
  return (
    <button type="button" onClick={close}>
      {words.close}
    </button>
  )
}
