import { useRef } from 'preact/hooks'
import { get, post } from '../data/api.ts'
import { type Rows, rowsOf } from '../data/rows.ts'
import { useLive } from '../data/use-live.ts'
import { HelpLink } from '../help/help-link.tsx'
import { alertWords } from '../i18n/alert-words.ts'
import { locale } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime, whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { follow } from '../kit/address.ts'
import { BoxFrame, useBoxActs } from '../kit/box-frame.tsx'
import { boxTexts } from '../kit/box-texts.ts'
import { sizeWords } from '../kit/download.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { uploadsTexts as words } from './uploads-texts.ts'

type Status = keyof typeof words.states
type Upload = {
  readonly id: number
  readonly kind: keyof typeof words.kinds
  readonly ref: string
  readonly path: string
  readonly status: Status
  readonly parkedFor: keyof typeof alertOf | null
  readonly attempts: number
  readonly nextAttemptAt: string | null
  readonly lastError: string | null
  readonly verified: 'hash' | 'size' | null
  readonly sizeBytes: number
  readonly urgent: boolean
  readonly queuedAt: string
  readonly uploadedAt: string | null
}

/** The alert with the reason and the next step for a parked file. */
const alertOf = {
  quota: 'upload.no_room',
  hash: 'upload.mismatch',
  file: 'upload.file',
  refused: 'upload.refused',
  lost: 'upload.lost',
} as const
const tones = { pending: 'warn', uploading: 'ok', uploaded: 'ok', parked: 'danger' } as const
const parts = ['parked', 'pending', 'uploaded'] as const
type Part = (typeof parts)[number]
const pageSize = 25

/** Files for the storage server at `/uploads`: parked ones with the reason, waiting ones, and copied ones. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const wanted = useRef<Record<Part, number> | null>(null)
  wanted.current ??= { parked: pageSize, pending: pageSize, uploaded: pageSize }
  const limits = wanted.current
  const { answer, ...asking } = useLive(
    () => load(limits),
    ['alert'],
    () => onLeft(texts.signedOut),
  )
  const acts = useBoxActs(onLeft, asking.reload)
  const more = (part: Part) => () => {
    limits[part] += pageSize
    asking.reload()
  }
  const onAct = caller.permissions.includes('storage:manage') ? acts.act : undefined
  const isEmpty = answer && parts.every((part) => answer[part].rows.length === 0) && answer.sending.rows.length === 0
  const shared = { timeZone: answer?.timeZone, onAct }
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="uploads"
      heading={words.title}
      said={answer && saidOf(answer)}
      stale={asking.problem}
    >
      {isEmpty ? <Nothing maySeeSystem={caller.permissions.includes('metrics:read')} /> : null}
      {answer && !isEmpty ? (
        <>
          {answer.parked.rows.length === 0 ? null : (
            <Section {...shared} name="parked" of={answer.parked} onMore={more('parked')} isBusy={acts.isBusy} />
          )}
          <Section {...shared} name="waiting" of={waitingOf(answer)} onMore={more('pending')} isBusy={acts.isBusy} />
          <Section {...shared} name="copied" of={answer.uploaded} onMore={more('uploaded')} isBusy={acts.isBusy} />
        </>
      ) : null}
    </BoxFrame>
  )
}

type Answer = Readonly<Record<Part | 'sending', Rows<Upload>>> & { readonly timeZone: string | undefined }

async function load(limits: Readonly<Record<Part, number>>): Promise<Answer> {
  const part = (status: Status, limit: number) => rowsOf<Upload>(`/api/uploads?status=${status}`, limit)
  const [parked, pending, sending, uploaded, warehouses] = await Promise.all([
    part('parked', limits.parked),
    part('pending', limits.pending),
    part('uploading', pageSize),
    part('uploaded', limits.uploaded),
    get('/api/whms/warehouses', {}),
  ])
  return { parked, pending, sending, uploaded, timeZone: warehouses.data[0]?.timezone }
}

/** A file that is being sent is not there yet, so it waits. */
const waitingOf = ({ pending, sending }: Answer): Rows<Upload> => ({
  ...pending,
  rows: [...sending.rows, ...pending.rows],
})

function saidOf({ parked, pending, sending }: Answer): string {
  const waiting = pending.total === null ? words.many : words.waitingOf(pending.total + (sending.total ?? 0))
  return words.said(waiting, parked.total === null ? words.manyParked : words.parkedOf(parked.total))
}

const Nothing = ({ maySeeSystem }: { maySeeSystem: boolean }) => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{words.none}</strong>
    </p>
    <p>
      {words.noneNext} <HelpLink to="uploads" />
    </p>
    {maySeeSystem ? (
      <p>
        <a class="button" href="/system" onClick={follow}>
          {words.toSystem}
        </a>
      </p>
    ) : null}
  </section>
)

type Shared = { timeZone: string | undefined; onAct: Act | undefined }
type SectionProps = Shared & {
  name: 'parked' | 'waiting' | 'copied'
  of: Rows<Upload>
  isBusy: boolean
  onMore: () => void
}

const Section = ({ name, of: { rows, hasMore }, isBusy, onMore, ...shared }: SectionProps) => {
  const { onAct } = shared
  const retryAll = async () => {
    for (const { id } of rows) await retry(id)
  }
  const isParked = name === 'parked'
  return (
    <section class="card" aria-labelledby={`uploads-${name}`}>
      <div class="card-head">
        <h2 id={`uploads-${name}`}>{words[name]}</h2>
        {isParked && onAct && rows.length > 1 ? (
          <button
            type="button"
            aria-disabled={isBusy ? 'true' : 'false'}
            onClick={() => onAct(retryAll, words.retriedAll)}
          >
            {words.retryAll(rows.length)}
          </button>
        ) : null}
      </div>
      {isParked ? <p class="muted">{words.parkedNext}</p> : null}
      {name === 'waiting' && rows.length === 0 ? <p class="blank">{words.waitingNone}</p> : null}
      {name === 'copied' && rows.length === 0 ? <p class="blank">{words.copiedNone}</p> : null}
      <ul class="box-list">
        {rows.map((upload) => (
          <Row key={upload.id} upload={upload} {...shared} />
        ))}
      </ul>
      {hasMore ? (
        <button type="button" onClick={onMore}>
          {boxTexts.older}
        </button>
      ) : null}
    </section>
  )
}

const retry = (id: number) => post('/api/uploads/{id}/retry', { id })

/** Returns the name of a file; a hash by its beginning. */
function nameOf({ kind, ref }: Upload): string {
  return words.kinds[kind](/^[0-9a-f]{64}$/.test(ref) ? `${ref.slice(0, 12)}…` : ref)
}

const Row = ({ upload, timeZone, onAct }: Shared & { upload: Upload }) => {
  const { id, status, urgent, lastError, path, sizeBytes, queuedAt } = upload
  const name = nameOf(upload)
  return (
    <li class={tones[status]}>
      <p class="box-what">
        {name} <span class={`chip ${tones[status]}`}>{words.states[status]}</span>{' '}
        {urgent ? <span class="chip warn">{words.urgent}</span> : null}
      </p>
      <p class="muted">
        {words.queued(sizeWords(sizeBytes, locale), whenWords(queuedAt, timeZone))}. {progressOf(upload, timeZone)}
      </p>
      {lastError === null || status === 'uploaded' ? null : (
        <p>
          <strong>{words.lastError}</strong> <span lang="en">{lastError}</span>
        </p>
      )}
      <Why upload={upload} />
      <p class="muted">
        {words.place} <span class="code">{path}</span>
      </p>
      {onAct && (status === 'parked' || status === 'pending') ? (
        <p class="box-acts">
          <button
            type="button"
            aria-label={`${words.retry}: ${name}`}
            onClick={() => onAct(() => retry(id), words.retried(name))}
          >
            {words.retry}
          </button>
        </p>
      ) : null}
    </li>
  )
}

function progressOf({ status, attempts, nextAttemptAt, verified, uploadedAt }: Upload, timeZone: string | undefined) {
  if (verified && uploadedAt) return words.verified[verified](exactTime(uploadedAt, timeZone))
  const tried = words.attempts(attempts)
  if (status !== 'pending') return tried
  return `${tried} ${nextAttemptAt === null ? words.inTurn : words.next(exactTime(nextAttemptAt, timeZone))}`
}

const Why = ({ upload: { parkedFor } }: { upload: Upload }) => {
  if (parkedFor === null) return null
  const { means, todo } = alertWords(alertOf[parkedFor])
  return (
    <>
      <p>
        <strong>{words.means}</strong> {means}
      </p>
      <p>
        <strong>{words.todo}</strong> {todo}
      </p>
    </>
  )
}
