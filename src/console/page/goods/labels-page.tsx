import { get } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import type { Slot, Zone } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { HelpLink } from '../help/help-link.tsx'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Acts, Frame, Twice, useActs } from '../kit/acts.tsx'
import type { ViewProps } from '../kit/views.ts'
import { labelTexts as words } from './label-texts.ts'
import { Order } from './order-form.tsx'

type Printer = {
  readonly name: string
  readonly dpi: number
  readonly size: string
  readonly waiting: number
  readonly lastError: string | null
}

type Job = {
  readonly id: number
  readonly printer: string
  readonly state: keyof typeof words.states
  readonly label: string
  readonly copies: number
  readonly attempts: number
  readonly lastError: string | null
  readonly createdAt: string
}

type Answer = {
  readonly printers: readonly Printer[]
  readonly jobs: readonly Job[]
  readonly zones: readonly Zone[]
  readonly slots: readonly Slot[]
  readonly timeZone: string | undefined
}

let layout: { readonly zones: readonly Zone[]; readonly slots: readonly Slot[]; readonly askedMs: number } | undefined
const layoutKeptMs = 120_000

async function load(): Promise<Answer> {
  const [printers, jobs, warehouses] = await Promise.all([
    get('/api/whms/labels/printers', {}),
    get('/api/whms/labels/jobs', { limit: 30 }),
    get('/api/whms/warehouses', {}),
  ])
  if (!layout || performance.now() - layout.askedMs > layoutKeptMs) {
    const [zones, slots] = await Promise.all([get('/api/whms/zones', {}), get('/api/whms/slots', {})])
    layout = { zones: zones.data, slots: slots.data, askedMs: performance.now() }
  }
  const { zones, slots } = layout
  return { printers: printers.data, jobs: jobs.data, zones, slots, timeZone: warehouses.data[0]?.timezone }
}

/** Labels of slots and pallets at `/labels`: on a printer, or as a sheet for any printer and as a PDF. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const { answer, problem, reload } = useLive(load, [], () => onLeft(texts.signedOut))
  const acts = useActs(onLeft, reload)
  const mayPrint = caller.permissions.includes('events:create')
  const waiting = (answer?.printers ?? []).reduce((sum, one) => sum + one.waiting, 0)
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="labels"
      name={words.title}
      trouble={problem}
      status={answer ? words.status(waiting) : texts.loading}
    >
      {answer ? <Order {...answer} {...{ acts, mayPrint, onLeft }} /> : null}
      {answer ? (
        <div class="unit-page no-print">
          <Jobs answer={answer} acts={acts} mayPrint={mayPrint} />
          <Printers printers={answer.printers} />
        </div>
      ) : null}
    </Frame>
  )
}

const jobChip: Readonly<Record<string, string>> = { printed: 'ok', unconfirmed: 'warn', failed: 'danger' }

const Jobs = ({ answer: { jobs, timeZone }, acts, mayPrint }: { answer: Answer; acts: Acts; mayPrint: boolean }) => (
  <section class="card" aria-labelledby="label-jobs">
    <h2 id="label-jobs">{words.queue}</h2>
    {jobs.length === 0 ? <p class="muted">{words.noJobs}</p> : null}
    <ul class="goods-rows">
      {jobs.map((job) => (
        <li key={job.id} aria-label={job.label}>
          <p>
            <strong>{job.label}</strong>{' '}
            <span class={`chip ${jobChip[job.state] ?? ''}`}>{words.states[job.state]}</span>{' '}
            {job.copies === 1 ? '' : words.copiesOf(job.copies)}
          </p>
          <p class="muted">
            {job.printer}, {moment(job.createdAt, timeZone)}
            {job.attempts > 1 ? `, ${words.tried(job.attempts)}` : ''}
          </p>
          {job.lastError === null ? null : <p lang="en">{job.lastError}</p>}
          {mayPrint ? <JobActs job={job} acts={acts} /> : null}
        </li>
      ))}
    </ul>
  </section>
)

const JobActs = ({ job: { id, state, label }, acts }: { job: Job; acts: Acts }) => {
  const post = (what: string) => () => ask(`/api/whms/labels/jobs/${id}/${what}`, { method: 'POST' })
  if (state === 'printing') return null
  if (state === 'queued')
    return (
      <button type="button" onClick={() => void acts.act(post('cancel'), words.cancelled(label))}>
        <span>
          {words.cancel}
          <span class="unseen"> {words.of(label)}</span>
        </span>
      </button>
    )
  return (
    <Twice
      words={words.again}
      sure={words.againSure}
      of={words.of(label)}
      isBusy={acts.isBusy}
      onSure={() => void acts.act(post('reprint'), words.againDone(label))}
    />
  )
}

const Printers = ({ printers }: { printers: readonly Printer[] }) => (
  <section class="card" aria-labelledby="label-printers">
    <h2 id="label-printers">{words.printers}</h2>
    {printers.length === 0 ? (
      <p class="muted">
        {words.noPrinter} <HelpLink to="printers" />
      </p>
    ) : null}
    <ul class="goods-rows">
      {printers.map((one) => (
        <li key={one.name}>
          <p>
            <strong>{one.name}</strong>{' '}
            <span class="muted">
              {one.size} mm, {one.dpi} dpi
            </span>{' '}
            <span class={`chip ${one.waiting === 0 ? 'ok' : 'warn'}`}>{words.waiting(one.waiting)}</span>
          </p>
          {one.lastError === null ? null : (
            <p class="problem" lang="en">
              {one.lastError}
            </p>
          )}
        </li>
      ))}
    </ul>
  </section>
)
