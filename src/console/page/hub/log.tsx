import { useState } from 'preact/hooks'
import { locale } from '../i18n/language.ts'
import { follow } from '../kit/address.ts'
import { timeOf, useAnswer, useSite } from './ask.ts'
import { differences, type Side } from './fork.ts'
import type { Site } from './list.ts'
import { HubProblem } from './problem.tsx'
import { hubTexts } from './texts.ts'

const words = hubTexts.log
const everyMs = 15_000
const rowsAPage = 20

type Log = {
  readonly siteId: string
  readonly origin: string
  readonly state: Site['state']
  readonly size: number
  readonly continuedBy: string | null
  readonly keys: readonly string[]
}
type Checkpoint = {
  readonly size: number
  readonly timestamp: string
  readonly note: string
  readonly isConfirmed: boolean
}
type Fork = {
  readonly place: number
  readonly kind: 'leaf' | 'root'
  readonly seenAt: string
  readonly known: Side
  readonly sent: Side & { readonly leaves: readonly string[] }
}

type LogProps = { logId: string; before: number | undefined; onLeft: () => void }

/** Checkpoints that a gateway has signed, and both sides of two histories. */
export const HubLog = ({ logId, before, onLeft }: LogProps) => {
  const path = `/api/hub/logs/${encodeURIComponent(logId)}`
  const page = `${path}/checkpoints?limit=${rowsAPage}${before === undefined ? '' : `&before=${before}`}`
  const { answer, problem, code } = useAnswer<{ log: Log; data: readonly Checkpoint[] }>(
    page,
    onLeft,
    before === undefined ? everyMs : undefined,
  )
  const site = useSite(answer?.log.siteId, onLeft)
  const log = answer?.log
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{log ? words.title(site?.name ?? log.siteId) : words.ofSite}</h1>
        <p class="muted" role="status">
          {log ? words.entries(log.size) : problem ? '' : hubTexts.asking}
        </p>
      </div>
      <HubProblem problem={problem} code={code} unknown={words.unknown} />
      {log ? <State log={log} logId={logId} /> : null}
      {log ? <Forks path={path} timezone={site?.timezone} onLeft={onLeft} /> : null}
      {answer ? (
        <Checkpoints rows={answer.data} isOlder={before !== undefined} logId={logId} timezone={site?.timezone} />
      ) : null}
      {log ? <Keys keys={log.keys} /> : null}
    </main>
  )
}

const State = ({ log, logId }: { log: Log; logId: string }) => (
  <section class={`card ${log.state === 'forked' ? 'alarm' : ''}`} aria-label={words.state}>
    <p>{words.states[log.state]}</p>
    <p class="hub-links">
      <a href={`/sites/${encodeURIComponent(log.siteId)}`} onClick={follow}>
        {words.toSite}
      </a>
      {log.continuedBy === null ? null : (
        <a href={`/logs/${log.continuedBy}`} onClick={follow}>
          {words.toNext}
        </a>
      )}
      <span class="muted code">{logId}</span>
    </p>
  </section>
)

/** The head office decides who may see them: an account may have another role at this site. */
const Forks = ({ path, timezone, onLeft }: { path: string; timezone: string | undefined; onLeft: () => void }) => {
  const { answer, problem, code } = useAnswer<{ data: readonly Fork[]; nextCursor: string | null }>(
    `${path}/forks`,
    onLeft,
  )
  if (code === 'PERMISSION_DENIED' || code === 'NOT_FOUND') return <p class="card">{words.notYours}</p>
  if (problem) return <p class="card alarm">{problem}</p>
  if (!answer || answer.data.length === 0) return null
  return (
    <section class="card" aria-labelledby="hub-forks">
      <div class="card-head">
        <h2 id="hub-forks">{words.forks}</h2>
        <a class="button" href={`${path}/forks`} download="forks.json">
          {words.forksFile}
        </a>
      </div>
      <p class="muted">{words.forksHint}</p>
      {answer.data.map((fork) => (
        <Both key={`${fork.place} ${fork.sent.note}`} fork={fork} timezone={timezone} />
      ))}
      {answer.nextCursor === null ? null : <p class="note">{words.moreForks}</p>}
    </section>
  )
}

const Both = ({ fork, timezone }: { fork: Fork; timezone: string | undefined }) => {
  const { known, sent, place, kind, seenAt } = fork
  return (
    <article class="hub-fork">
      <h3>{words.forkAt[kind](place.toLocaleString(locale), timeOf(seenAt, timezone))}</h3>
      <table class="hub-table">
        <thead>
          <tr>
            <th scope="col">{words.what}</th>
            <th scope="col">{words.known}</th>
            <th scope="col">{words.sent}</th>
          </tr>
        </thead>
        <tbody>
          {differences(known, sent).map(({ name, known, sent }) => (
            <tr key={name}>
              <th scope="row">{words.facts[name] ?? <span class="code">{name}</span>}</th>
              <td class="code">{known ?? words.nothing}</td>
              <td class="code">{sent ?? words.nothing}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>{words.notes}</summary>
        <h4>{words.known}</h4>
        <pre class="hub-note">{known.note ?? words.nothing}</pre>
        <h4>{words.sent}</h4>
        <pre class="hub-note">{sent.note}</pre>
      </details>
    </article>
  )
}

type CheckpointsProps = {
  rows: readonly Checkpoint[]
  isOlder: boolean
  logId: string
  timezone: string | undefined
}

const Checkpoints = ({ rows, isOlder, logId, timezone }: CheckpointsProps) => {
  const [shown, setShown] = useState<number | undefined>(undefined)
  const here = `/logs/${logId}`
  const note = rows.find(({ size }) => size === shown)?.note
  return (
    <section class="card" aria-labelledby="hub-checkpoints">
      <div class="card-head">
        <h2 id="hub-checkpoints">{words.checkpoints}</h2>
        <a class="button" href={`/api/hub/logs/${logId}/checkpoints?limit=500`} download="checkpoints.json">
          {words.file}
        </a>
      </div>
      <p class="muted">{words.checkpointsHint}</p>
      {rows.length === 0 ? <p class="blank">{isOlder ? words.noOlder : words.none}</p> : null}
      {rows.length === 0 ? null : (
        <table class="hub-table">
          <thead>
            <tr>
              <th scope="col" class="number">
                {words.upTo}
              </th>
              <th scope="col">{words.came}</th>
              <th scope="col">{words.confirmed}</th>
              <th scope="col">{words.text}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ size, timestamp, isConfirmed }) => (
              <tr key={size}>
                <th scope="row" class="number">
                  {size.toLocaleString(locale)}
                </th>
                <td>{timeOf(timestamp, timezone)}</td>
                <td>{isConfirmed ? words.yes : words.no}</td>
                <td>
                  <button
                    type="button"
                    aria-expanded={shown === size ? 'true' : 'false'}
                    onClick={() => setShown(shown === size ? undefined : size)}
                  >
                    {words.show(size.toLocaleString(locale))}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {note === undefined ? null : <pre class="hub-note">{note}</pre>}
      <p class="hub-links">
        {isOlder ? (
          <a href={here} onClick={follow}>
            {words.newest}
          </a>
        ) : null}
        {rows.length === rowsAPage ? (
          <a href={`${here}?before=${rows.at(-1)?.size}`} onClick={follow}>
            {words.older}
          </a>
        ) : null}
      </p>
    </section>
  )
}

const Keys = ({ keys }: { keys: readonly string[] }) => (
  <details class="card">
    <summary>{words.keys}</summary>
    <p class="muted">{words.keysHint}</p>
    <pre class="hub-note">{keys.join('\n')}</pre>
  </details>
)
