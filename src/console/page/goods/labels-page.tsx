import { useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import { newActId } from '../data/once-key.ts'
import type { Slot, Zone } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { HelpLink } from '../help/help-link.tsx'
import { moment } from '../i18n/moments.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { type Acts, Choice, Field, Frame, Twice, useActs } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import { wasSent } from '../kit/typed.ts'
import type { ViewProps } from '../kit/views.ts'
import { codesOf, type LabelForm, onSheet, pictureOf, printOf, type Wrong, wrongIn } from './label-order.ts'
import { labelTexts as words } from './label-texts.ts'

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
      {answer ? <Order answer={answer} acts={acts} mayPrint={mayPrint} onLeft={onLeft} /> : null}
      {answer ? (
        <div class="unit-page no-print">
          <Jobs answer={answer} acts={acts} mayPrint={mayPrint} />
          <Printers printers={answer.printers} />
        </div>
      ) : null}
    </Frame>
  )
}

const blank: LabelForm = { kind: 'slots', zone: 'typed', codes: '', symbology: 'auto', size: '', copies: '1' }
/** By the names of the API; the standards have one name in every language. */
const symbologies = {
  auto: words.symbologies.auto,
  code128: 'Code 128',
  'gs1-128': 'GS1-128',
  qr: words.symbologies.qr,
  datamatrix: 'DataMatrix',
  'gs1-datamatrix': 'GS1 DataMatrix',
}

/** An order whose first labels were sent; each label has the key of the first attempt. */
type Broken = { readonly what: string; readonly id: string; next: number; readonly failed: string[] }

type OrderProps = { answer: Answer; acts: Acts; mayPrint: boolean; onLeft: (why: string) => void }

const Order = ({ answer: { printers, zones, slots }, acts, mayPrint, onLeft }: OrderProps) => {
  const [form, setForm] = useState(blank)
  const [chosen, setPrinter] = useState('')
  const [problem, setProblem] = useState('')
  const [progress, setProgress] = useState('')
  const [refused, setRefused] = useState<readonly string[]>([])
  const [sheet, setSheet] = useState<{ readonly form: LabelForm; readonly codes: readonly string[] } | undefined>(
    undefined,
  )
  const broken = useRef<Broken | null>(null)
  const typed = useRef<HTMLFormElement>(null)
  const keep = (name: keyof LabelForm) => (value: string) =>
    setForm((before) => ({ ...before, [name]: value }) as LabelForm)
  const printer = printers.find(({ name }) => name === chosen)?.name ?? printers[0]?.name
  const codes = codesOf(form, slots)
  const isRight = () => {
    const wrong = wrongIn(form, codes)
    setProblem(wrong === undefined ? '' : wrongWords(wrong, codes.length))
    return wrong === undefined
  }
  const print = async () => {
    if (!isRight() || printer === undefined || acts.isBusy) return
    const what = JSON.stringify([form, codes, printer])
    // The same order goes on where it broke off: no label comes out twice.
    const order = broken.current?.what === what ? broken.current : { what, id: newActId(), next: 0, failed: [] }
    setRefused([])
    const isDone = await acts.act(async () => {
      for (const [index, code] of codes.entries()) {
        if (index < order.next) continue
        setProgress(words.sending(index, codes.length))
        const why = await send(printOf(form, code, printer), `${order.id}-${index}`)
        if (why !== undefined) order.failed.push(words.refused(code, why))
        order.next = index + 1
      }
    }, '')
    broken.current = isDone ? null : order
    if (isDone) wasSent(typed.current)
    setRefused(order.failed)
    const sent = order.next - order.failed.length
    setProgress(isDone ? (sent > 0 ? words.sent(sent) : '') : words.brokeOff(order.next, codes.length))
  }
  return (
    <>
      <section class="card goods-form no-print" aria-labelledby="label-order">
        <h2 id="label-order">{words.choose}</h2>
        <form
          ref={typed}
          onSubmit={(event: Event) => {
            event.preventDefault()
            if (!isRight()) return
            setSheet({ form, codes })
            wasSent(typed.current)
          }}
        >
          <Choice id="label-kind" words={words.kind} value={form.kind} of={words.kinds} onChoice={keep('kind')} />
          {form.kind === 'slots' ? (
            <Choice
              id="label-zone"
              words={words.zone}
              value={form.zone}
              of={{
                typed: words.typed,
                ...Object.fromEntries(zones.map(({ id, name }) => [`zone ${id}`, words.zoneNamed(name)])),
              }}
              onChoice={keep('zone')}
            />
          ) : null}
          {form.kind === 'pallets' || form.zone === 'typed' ? (
            <Field
              id="label-codes"
              words={form.kind === 'slots' ? words.slots : words.pallets}
              value={form.codes}
              rows={4}
              scan="codes"
              onText={keep('codes')}
            />
          ) : null}
          <Choice
            id="label-symbology"
            words={words.symbology}
            value={form.symbology}
            of={symbologies}
            onChoice={keep('symbology')}
          />
          <Field
            id="label-size"
            words={words.size}
            hint={words.sizeHint}
            value={form.size}
            most={7}
            onText={keep('size')}
          />
          {mayPrint && printer !== undefined ? (
            <>
              <Choice
                id="label-printer"
                words={words.printer}
                value={printer}
                of={Object.fromEntries(printers.map(({ name, size }) => [name, `${name} (${size} mm)`]))}
                onChoice={setPrinter}
              />
              <Field id="label-copies" words={words.copies} value={form.copies} most={3} onText={keep('copies')} />
            </>
          ) : null}
          <p class="problem wide" role="alert">
            {problem}
          </p>
          <div class="wide task-acts">
            {mayPrint && printer !== undefined ? (
              <button
                type="button"
                class="strong"
                aria-disabled={acts.isBusy ? 'true' : 'false'}
                onClick={() => void print()}
              >
                <Icon name="print" /> {words.print}
              </button>
            ) : null}
            <button type="submit">{words.sheet}</button>
          </div>
        </form>
        {printers.length === 0 ? <p class="muted">{words.noPrinter}</p> : null}
        <p role="status">{progress}</p>
        {refused.length === 0 ? null : (
          <ul class="goods-rows problem">
            {refused.map((one) => (
              <li key={one}>
                <Said words={one} />
              </li>
            ))}
          </ul>
        )}
      </section>
      {sheet ? <Sheet key={JSON.stringify(sheet)} form={sheet.form} codes={sheet.codes} /> : null}
    </>
  )

  async function send(body: Readonly<Record<string, unknown>>, onceKey: string): Promise<string | undefined> {
    for (;;) {
      try {
        await ask('/api/whms/labels/print', { method: 'POST', body, onceKey })
        return undefined
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        if (error.isSignedOut) onLeft(texts.signedOut)
        // The gateway says when it takes the next one.
        if (error.status === 429 && error.retryAfterSeconds > 0) {
          await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000))
          continue
        }
        if (error.status === 400 || error.status === 404) return error.details || error.message
        throw error
      }
    }
  }
}

const wrongWords = (wrong: Wrong, n: number): string =>
  ({ none: words.none, tooMany: words.tooMany(n), size: words.sizeWrong, copies: words.copiesWrong })[wrong]

/** The labels in their true size, to print or to save as PDF by the browser. */
const Sheet = ({ form, codes }: { form: LabelForm; codes: readonly string[] }) => {
  const [at, setAt] = useState(0)
  const [paper, setPaper] = useState('sheet')
  const [attempt, setAttempt] = useState(0)
  const [pictures, setPictures] = useState<ReadonlyMap<string, boolean>>(new Map())
  const shown = codes.slice(at, at + onSheet)
  const missing = shown.filter((code) => pictures.get(code) === false).length
  const isWhole = shown.every((code) => pictures.get(code))
  const note = (code: string, isThere: boolean) => setPictures((before) => new Map(before).set(code, isThere))
  const show = (from: number) => {
    setPictures(new Map())
    setAttempt(attempt + 1)
    setAt(from)
  }
  return (
    <section class="card" aria-labelledby="label-sheet">
      <h2 id="label-sheet" class="no-print">
        {words.sheetTitle(at + 1, at + shown.length, codes.length)}
      </h2>
      <div class="task-acts no-print">
        <Choice id="label-paper" words={words.layout} value={paper} of={words.layouts} onChoice={setPaper} />
        <button
          type="button"
          class="strong"
          aria-disabled={isWhole ? 'false' : 'true'}
          onClick={() => isWhole && print()}
        >
          <Icon name="print" /> {words.printSheet}
        </button>
        {at > 0 ? (
          <button type="button" onClick={() => show(at - onSheet)}>
            {words.before}
          </button>
        ) : null}
        {at + onSheet < codes.length ? (
          <button type="button" onClick={() => show(at + onSheet)}>
            {words.after}
          </button>
        ) : null}
      </div>
      <div class="no-print" role="alert">
        {missing === 0 ? null : (
          <p class="problem">
            {words.missing(missing)}{' '}
            <button type="button" onClick={() => show(at)}>
              {words.loadAgain}
            </button>
          </p>
        )}
      </div>
      <ul class={`label-sheet ${paper}`}>
        {shown.map((code) => (
          <li key={`${attempt} ${code}`} class="one-label">
            <img
              onLoad={() => note(code, true)}
              onError={() => note(code, false)}
              src={pictureOf(form, code)}
              alt={words.labelOf(code)}
            />
          </li>
        ))}
      </ul>
    </section>
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
