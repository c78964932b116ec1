import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import { type Count, type CountSlot, countsApi, isEnded, type Line, linesOf } from '../data/count-data.ts'
import type { Permission, SignedIn } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { moment } from '../i18n/moments.ts'
import { texts } from '../i18n/texts.ts'
import { type Acts, Field, Frame, Twice, useActs } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import { Scroller } from '../kit/scroller.tsx'
import type { ViewProps } from '../kit/views.ts'
import { countTexts as words } from './count-texts.ts'

type Answer = {
  readonly count: Count | undefined
  readonly slots: readonly CountSlot[]
  /** Undefined for a caller who may not see the expected pallets. */
  readonly lines: readonly Line[] | undefined
  readonly timeZone: string | undefined
}

export const chipOf = { open: '', counting: 'warn', review: 'warn', approved: 'ok', cancelled: 'danger' } as const

/** One count: its progress, its open slots, its differences, and its acts. */
export const CountPage = ({ id, siteId, caller, onLeft }: ViewProps & { id: string }) => {
  const { answer, problem, reload } = useLive(
    () => load(id, caller),
    ['event'],
    () => onLeft(texts.signedOut),
  )
  const acts = useActs(onLeft, reload)
  const count = answer?.count
  const may = (permission: Permission) => caller.permissions.includes(permission)
  const isOpen = count !== undefined && !isEnded(count)
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="counts"
      back={{ to: '/counts', words: words.back }}
      name={words.one(Number(id))}
      trouble={problem}
      status={answer ? '' : texts.loading}
    >
      {answer && !count ? <p class="card">{words.noSuch}</p> : null}
      {answer && count ? (
        <div class="unit-page">
          <div class="unit-side">
            <Facts count={count} timeZone={answer.timeZone} />
            {isOpen && may('events:create') ? <Scan count={count} acts={acts} /> : null}
            {isOpen ? <Close count={count} acts={acts} may={may} /> : null}
          </div>
          <div class="unit-side">
            {isOpen ? <Left slots={answer.slots} count={count} /> : null}
            {answer.lines ? <Review count={count} lines={answer.lines} acts={acts} /> : null}
          </div>
        </div>
      ) : null}
    </Frame>
  )
}

async function load(id: string, { permissions }: SignedIn): Promise<Answer> {
  const count = await get('/api/whms/counts/{id}', { id }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  })
  const isReviewed = count !== undefined && count.state !== 'open' && permissions.includes('events:verify')
  const [slots, review, warehouses] = await Promise.all([
    count && !isEnded(count) ? get('/api/whms/counts/{id}/slots', { id }) : { data: [] },
    isReviewed ? get('/api/whms/counts/{id}/review', { id }) : undefined,
    get('/api/whms/warehouses', {}),
  ])
  return { count, slots: slots.data, lines: review?.lines, timeZone: warehouses.data[0]?.timezone }
}

const change =
  ({ id, version }: Count, what: string, body?: unknown) =>
  () =>
    ask(`${countsApi}/${id}/${what}`, { method: 'POST', ifMatch: version, ...(body !== undefined && { body }) })

const outcomes = ['matched', 'corrected', 'moved', 'conflict', 'not_counted'] as const

const Facts = ({ count, timeZone }: { count: Count; timeZone: string | undefined }) => (
  <section class="card" aria-labelledby="count-facts">
    <h2 id="count-facts">{words.facts}</h2>
    <p class="goods-chips">
      <span class={`chip ${chipOf[count.state]}`}>{words.states[count.state]}</span>
      {count.reference === null ? null : <span class="chip">{count.reference}</span>}
    </p>
    <label class="count-progress">
      {words.progress(count.slots.counted, count.slots.total)}
      <progress max={Math.max(1, count.slots.total)} value={count.slots.counted} />
    </label>
    <p class="muted">{words.by(count.createdBy, moment(count.createdAt, timeZone))}</p>
    {count.closedAt === null ? null : (
      <p class="muted">{words.closedBy(count.closedBy, moment(count.closedAt, timeZone))}</p>
    )}
    {count.reason === null ? null : <p class="as-written">{count.reason}</p>}
    {count.outcomes === null ? null : (
      <ul class="goods-rows" aria-label={words.result1}>
        {outcomes.map((outcome) => (
          <li key={outcome}>
            <strong>{count.outcomes?.[outcome] ?? 0}</strong> {words.outcomes[outcome]}
          </li>
        ))}
      </ul>
    )}
    <button type="button" class="plain" onClick={() => print()}>
      <Icon name="print" /> {words.print}
    </button>
  </section>
)

const blank = { slot: '', found: '', isEmpty: false }

const Scan = ({ count, acts }: { count: Count; acts: Acts }) => {
  const [form, setForm] = useState(blank)
  const [isWrong, setWrong] = useState(false)
  const scan = async () => {
    const barcodes = linesOf(form.found)
    const isRight = form.isEmpty ? barcodes.length === 0 : barcodes.length > 0
    setWrong(!isRight)
    if (!isRight) return
    const body = { slot_code: form.slot.trim(), ...(form.isEmpty ? { empty: true } : { barcodes }) }
    const post = () => ask(`${countsApi}/${count.id}/scans`, { method: 'POST', body })
    if (await acts.act(post, words.scanned(form.slot.trim()))) {
      setForm(blank)
      document.getElementById('scan-slot')?.focus()
    }
  }
  return (
    <section class="card unit-acts" aria-labelledby="count-scan">
      <h2 id="count-scan">{words.scan}</h2>
      <form
        onSubmit={(event: Event) => {
          event.preventDefault()
          void scan()
        }}
      >
        <Field
          id="scan-slot"
          words={words.scanSlot}
          value={form.slot}
          required
          most={64}
          scan="code"
          onText={(slot) => setForm((before) => ({ ...before, slot }))}
        />
        <Field
          id="scan-found"
          words={words.scanFound}
          value={form.found}
          rows={2}
          scan="codes"
          onText={(found) => setForm((before) => ({ ...before, found }))}
        />
        <label class="goods-tick">
          <input
            type="checkbox"
            checked={form.isEmpty}
            onInput={() => setForm((before) => ({ ...before, isEmpty: !before.isEmpty }))}
          />{' '}
          {words.scanEmpty}
        </label>
        <p class="problem" role="alert">
          {isWrong ? words.scanWrong : ''}
        </p>
        <button type="submit" class="strong" aria-disabled={acts.isBusy ? 'true' : 'false'}>
          {words.scanButton}
        </button>
      </form>
    </section>
  )
}

type CloseProps = { count: Count; acts: Acts; may: (permission: Permission) => boolean }

/** The steps that bring a count to its end. */
const Close = ({ count, acts, may }: CloseProps) => {
  const [reason, setReason] = useState('')
  const { state } = count
  const hasStep = state === 'review' || (state === 'counting' && may('events:create'))
  if (!hasStep && !may('events:verify')) return null
  return (
    <section class="card unit-acts" aria-label={words.states[state]}>
      {state === 'counting' && may('events:create') ? (
        <Twice
          words={words.submit}
          sure={words.submitSure}
          about={count.version}
          strong
          isBusy={acts.isBusy}
          onSure={() => void acts.act(change(count, 'submit'), words.submitted)}
        />
      ) : null}
      {state === 'review' && !may('events:verify') ? <p>{words.waiting}</p> : null}
      {state === 'review' && may('events:verify') ? (
        <Twice
          words={words.approve}
          sure={words.approveSure}
          about={count.version}
          strong
          isBusy={acts.isBusy}
          onSure={() => void acts.act(change(count, 'approve'), words.approved)}
        />
      ) : null}
      {may('events:verify') ? (
        <details>
          <summary>{words.cancel}</summary>
          <form onSubmit={(event: Event) => event.preventDefault()}>
            <Field id="count-why" words={words.cancelWhy} value={reason} rows={2} most={4000} onText={setReason} />
            <Twice
              words={words.cancel}
              sure={words.cancelSure}
              about={count.version}
              isBusy={acts.isBusy}
              onSure={() => {
                const body = reason.trim() === '' ? {} : { reason: reason.trim() }
                void acts.act(change(count, 'cancel', body), words.cancelled)
              }}
            />
          </form>
        </details>
      ) : null}
    </section>
  )
}

const Left = ({ slots, count }: { slots: readonly CountSlot[]; count: Count }) => {
  const left = slots.filter(({ state }) => state !== 'counted')
  return (
    <section class="card" aria-labelledby="count-left">
      <h2 id="count-left">
        {words.left} <span class="muted">{left.length}</span>
      </h2>
      {left.length === 0 && count.state !== 'review' ? <p>{words.allCounted}</p> : null}
      {left.length === 0 ? null : (
        <Scroller name={words.left}>
          <ul class="count-left">
            {left.map((one) => (
              <li key={one.slot_id}>
                <strong>{one.slot_code}</strong>
                {one.state === 'to_recount' ? ` (${words.again})` : ''}
              </li>
            ))}
          </ul>
        </Scroller>
      )}
    </section>
  )
}

const outcomeChip = { matched: 'ok', corrected: 'ok', moved: 'warn', conflict: 'danger', not_counted: '' } as const
const lineChip = { matched: 'ok', different: 'danger', moved: 'warn', conflict: 'danger', not_counted: '' } as const

const Review = ({ count, lines, acts }: { count: Count; lines: readonly Line[]; acts: Acts }) => {
  const [isOnly, setOnly] = useState(true)
  const [again, setAgain] = useState<ReadonlySet<number>>(new Set())
  // After the approval the ledger moves on, and its corrections are moves too.
  const different = lines.filter(({ status, outcome }) => !['matched', 'not_counted'].includes(outcome ?? status))
  const shown = isOnly ? different : lines
  const isOpen = !isEnded(count)
  const recount = async () => {
    if (await acts.act(change(count, 'recount', { slot_ids: [...again] }), words.recounted)) setAgain(new Set())
  }
  const toggle = (id: number) =>
    setAgain((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])))
  return (
    <section class="card" aria-labelledby="count-review">
      <h2 id="count-review">{words.review}</h2>
      <p>{words.differences(different.length)}</p>
      <label class="goods-tick">
        <input type="checkbox" checked={isOnly} onInput={() => setOnly(!isOnly)} /> {words.onlyDifferent}
      </label>
      {shown.length === 0 ? null : (
        <Scroller name={words.review}>
          <table class="count-table">
            <thead>
              <tr>
                <th scope="col">{words.slot}</th>
                <th scope="col">{words.result}</th>
                <th scope="col">{words.expected}</th>
                <th scope="col">{words.found}</th>
                <th scope="col">{words.counter}</th>
              </tr>
            </thead>
            <tbody data-sends>
              {shown.map((line) => (
                <tr key={line.slot_id}>
                  <th scope="row">
                    {isOpen && line.found !== null ? (
                      <label class="goods-tick">
                        <input
                          type="checkbox"
                          aria-label={words.again1(line.slot_code)}
                          checked={again.has(line.slot_id)}
                          onInput={() => toggle(line.slot_id)}
                        />{' '}
                        {line.slot_code}
                      </label>
                    ) : (
                      line.slot_code
                    )}
                  </th>
                  <td>
                    {line.outcome === null ? (
                      <span class={`chip ${lineChip[line.status]}`}>{words.lines[line.status]}</span>
                    ) : (
                      <span class={`chip ${outcomeChip[line.outcome]}`}>{words.outcomes[line.outcome]}</span>
                    )}
                  </td>
                  <td>{line.expected.join(', ') || words.nothing}</td>
                  <td>{line.found === null ? '–' : foundWords(line)}</td>
                  <td>{line.counter ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
      {isOpen && again.size > 0 ? (
        <button type="button" class="strong" onClick={() => void recount()}>
          {words.recount(again.size)}
        </button>
      ) : null}
    </section>
  )
}

/** The found pallets, each with the slot where the ledger has it. */
const foundWords = ({ found, extra, slot_code }: Line): string =>
  (found ?? [])
    .map((pallet) => {
      const slot = extra.find(({ asset_barcode }) => asset_barcode === pallet)?.ledgerSlot
      return slot && slot !== slot_code ? words.elsewhere(pallet, slot) : pallet
    })
    .join(', ') || words.nothing
