import { useState } from 'preact/hooks'
import { post } from '../data/api.ts'
import type { Alert } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { whenWords } from '../i18n/words.ts'
import { follow } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { floorTexts } from './floor-texts.ts'

/** Above the hall, which is what the view is for: the newest ones, and the way to all of them. */
const atOnce = 2

type Props = { alerts: readonly Alert[]; timeZone: string | undefined; onSeen: () => void }

/** Shows the newest alerts for the admin until they are acknowledged. */
export const Alerts = ({ alerts, timeZone, onSeen }: Props) => {
  const [problem, setProblem] = useState('')
  const acknowledge = (id: number) => {
    post('/api/alerts/{id}/acknowledge', { id }).then(onSeen, (error: Error) => setProblem(`${error.message}.`))
  }
  return (
    <section class="card alerts" aria-labelledby="alerts-title">
      <h2 id="alerts-title">
        <Icon name="bell" /> {floorTexts.alerts.title}
      </h2>
      <ul class="rows">
        {alerts.slice(0, atOnce).map((alert) => (
          <li key={alert.id}>
            <span class="alert-words">
              <span lang="en">{alert.message}</span> <span class="muted">{whenWords(alert.createdAt, timeZone)}</span>
            </span>
            {/* One that the disk has not taken yet has no id. */}
            {alert.id > 0 ? (
              <button type="button" onClick={() => acknowledge(alert.id)}>
                {floorTexts.alerts.acknowledge}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {alerts.length > atOnce ? (
        <p>
          <a class="button" href="/alerts" onClick={follow}>
            {floorTexts.alerts.all}
          </a>
        </p>
      ) : null}
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
    </section>
  )
}
