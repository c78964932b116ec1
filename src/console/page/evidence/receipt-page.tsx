import { useEffect, useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { ask, Refused } from '../data/ask.ts'
import { type Kept, readKept, writeKept } from '../data/kept-store.ts'
import type { Receipt } from '../data/shapes.ts'
import { kilograms } from '../i18n/counting.ts'
import { LanguageChoice } from '../i18n/language-choice.tsx'
import { Said } from '../i18n/said.tsx'
import { exactTime } from '../i18n/words.ts'
import { Icon } from '../kit/icons.tsx'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import { Fact } from '../proof/move.tsx'
import { proofWords } from '../proof/proof-words.ts'
import { checkReceipt, type ReceiptVerdict } from '../proof/receipt-check.ts'
import { receiptTexts as words } from './receipt-texts.ts'

export type ReceiptProps = {
  unit: string
  /** Signature of the link that was handed over; without it the session counts. */
  signed: string | undefined
}

/** Findings of this phone. `before`: the checkpoint that it had stored. */
type Checked =
  | {
      readonly kind: 'found'
      readonly verdict: ReceiptVerdict
      readonly before: Kept | undefined
      readonly isKept: boolean
    }
  | { readonly kind: 'not checked'; readonly words: string }

const tries = 6
const againMs = 1500

/** The receipt of one transport unit, for the person who handed it over: without a sign-in, on a phone. */
export const View = ({ unit, signed }: ReceiptProps) => {
  const [receipt, setReceipt] = useState<Receipt | undefined>(undefined)
  const [checked, setChecked] = useState<Checked | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    document.title = words.title
    read(unit, signed).then(
      ({ receipt: shown, checked: found }) => {
        setReceipt(shown)
        setChecked(found)
      },
      (error: Error) => setTrouble(troubleWords(error)),
    )
  }, [])
  return (
    <>
      <header class="bar">
        <p class="brand">
          <Icon name="logo" /> <span>{words.title}</span>
        </p>
        <p class="site">{receipt?.unit.siteId ?? ''}</p>
      </header>
      <TroubleStrip problem={trouble} />
      <main class="find-page receipt">
        {signed === undefined ? (
          // A person without a link has a session, and came from a view of the console.
          <p class="receipt-acts">
            <a class="button" href={`/units/${encodeURIComponent(unit)}`}>
              {words.toUnit}
            </a>
          </p>
        ) : null}
        <h1 class="find-code">{receipt?.unit.reference ?? words.yours}</h1>
        {!receipt && trouble === '' ? <p class="blank">{words.fetching}</p> : null}
        {receipt && checked ? <Finding checked={checked} receipt={receipt} /> : null}
        {receipt ? <Content receipt={receipt} /> : null}
        <LanguageChoice />
      </main>
    </>
  )
}

function troubleWords(error: Error): string {
  if (error instanceof Refused && error.isSignedOut) {
    return words.linkEnded
  }
  if (error instanceof Refused && error.status === 404) return words.notShown
  return error.message
}

/**
 * Fetches and checks the receipt. An older checkpoint than the stored one is requested again: an answer may have been overtaken.
 */
async function read(unit: string, signed: string | undefined): Promise<{ receipt: Receipt; checked: Checked }> {
  const first = await fetchReceipt(unit, signed, tries)
  const checked = await check(first)
  if (checked.kind !== 'found' || checked.verdict.keeper.kind !== 'older') return { receipt: first, checked }
  await pause(againMs)
  const second = await fetchReceipt(unit, signed, tries)
  return { receipt: second, checked: await check(second) }
}

async function fetchReceipt(unit: string, signed: string | undefined, left: number): Promise<Receipt> {
  const query = signed === undefined ? '' : `?signed=${encodeURIComponent(signed)}`
  try {
    return await ask<Receipt>(`/api/whms/transport-units/${encodeURIComponent(unit)}/receipt${query}`)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 503 || left <= 1) throw error
    await pause(Math.max(error.retryAfterSeconds, 1) * 1000)
    return await fetchReceipt(unit, signed, left - 1)
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function check(receipt: Receipt): Promise<Checked> {
  // Undefined where the page did not come over HTTPS.
  const subtle = crypto.subtle as SubtleCrypto | undefined
  if (!subtle) return { kind: 'not checked', words: words.noHttps }
  const before = await readKept().catch(() => null)
  try {
    const verdict = await checkReceipt({
      receipt,
      kept: before?.checkpoint,
      crypto: subtle,
      proof: async (from, to) =>
        (await ask<{ proof: string[] }>(receipt.links.consistency.replace('?', `?from=${from}&to=${to}&`))).proof,
      photo: bytesAt,
    })
    const { keeper, faults } = verdict
    if (keeper.kind !== 'kept' || faults.length > 0)
      return { kind: 'found', verdict, before: before ?? undefined, isKept: false }
    const isKept = await writeKept({ checkpoint: keeper.kept, at: new Date().toISOString() }).then(
      () => true,
      () => false,
    )
    return { kind: 'found', verdict, before: before ?? undefined, isKept }
  } catch (error) {
    return { kind: 'not checked', words: words.notChecked(errorMessage(error)) }
  }
}

/** A photo as the page shows it. A gateway that does not answer is no fault of the receipt: it is shown as not compared. */
async function bytesAt(url: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const answer = await fetch(url)
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined
  } catch {
    return undefined
  }
}

const Finding = ({ checked, receipt }: { checked: Checked; receipt: Receipt }) => {
  if (checked.kind === 'not checked') {
    return (
      <section class="card" aria-label={words.check}>
        <p class="badge occupied">
          <Icon name="warning" /> {words.notCheckedHere}
        </p>
        <p>
          <Said words={checked.words} /> {words.elsewhere}
        </p>
      </section>
    )
  }
  const { verdict, before, isKept } = checked
  const { keeper, faults } = verdict
  if (keeper.kind !== 'kept') return <Alarm faults={[keeper.words]} before={before} receipt={receipt} />
  if (faults.length > 0) return <Alarm faults={faults} before={before} receipt={receipt} />
  const zone = receipt.unit.timezone
  const count = receipt.proofs.length
  return (
    <section class="card" aria-label={words.check}>
      <p class="badge verified">
        <Icon name="verified" /> {before ? words.unchanged : words.proven}
      </p>
      <p>{words.checked(count)}</p>
      <p class="muted">
        <Said words={words.notCompared(verdict.uncompared.map(proofWords).join(', '))} />
      </p>
      {before ? <p>{words.before(before.checkpoint.size, exactTime(before.at, zone), keeper.kept.size)}</p> : null}
      <p>{isKept ? words.remembers(keeper.kept.size) : words.keepsNothing}</p>
    </section>
  )
}

type AlarmProps = { faults: readonly string[]; before: Kept | undefined; receipt: Receipt }

const Alarm = ({ faults, before, receipt }: AlarmProps) => (
  <section class="card alarm" role="alert">
    <h2>
      <Icon name="warning" /> {words.wrong}
    </h2>
    {faults.map((one) => (
      <p key={one}>
        <Said words={proofWords(one)} />
      </p>
    ))}
    <p>
      {words.doNotClear}
      {before ? ` ${words.keptOf(exactTime(before.at, receipt.unit.timezone))}` : ''}
    </p>
    <button type="button" onClick={() => save({ kept: before ?? null, shown: receipt }, 'gatehouse-evidence.json')}>
      {words.saveEvidence}
    </button>
  </section>
)

function save(value: unknown, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const stays = new Set(['created', 'evidence', 'weighed'])
const titleOf = ({ action, stage }: { action: string; stage: string }) =>
  stays.has(action) ? (words.actions[action] ?? action) : `${words.actions[action] ?? action}: ${stage}`
const Content = ({ receipt }: { receipt: Receipt }) => {
  const { unit, placements, links, complete } = receipt
  const { timezone } = unit
  return (
    <>
      <section class="card" aria-labelledby="unit-title">
        <h2 id="unit-title">
          {unit.direction === 'inbound' ? words.deliveredTo(unit.warehouse) : words.pickedUpFrom(unit.warehouse)}
        </h2>
        <dl class="facts">
          {unit.carrier ? <Fact name={words.carrier} value={unit.carrier} /> : null}
          {unit.vehicle ? <Fact name={words.vehicle} value={unit.vehicle} /> : null}
          {unit.sscc ? <Fact name="SSCC" value={unit.sscc} /> : null}
          {unit.weightKg === null ? null : <Fact name={words.weight} value={kilograms(unit.weightKg)} />}
          <Fact name={words.stage} value={unit.stage} />
          <Fact name={words.status} value={words.statuses[unit.status] ?? unit.status.replaceAll('_', ' ')} />
        </dl>
        <p class="receipt-acts">
          <a class="button" href={links.zip} download>
            <Icon name="placed" /> {words.keep}
          </a>
          <button type="button" onClick={() => window.print()}>
            <Icon name="print" /> {words.print}
          </button>
        </p>
      </section>
      <section aria-labelledby="steps-title">
        <h2 id="steps-title">{words.recorded}</h2>
        <ol class="receipt-rows">
          {unit.steps.map((step) => (
            <Row key={step.eventId} row={step} title={titleOf(step)} timeZone={timezone} />
          ))}
        </ol>
      </section>
      {placements.length === 0 ? null : (
        <section aria-labelledby="placements-title">
          <h2 id="placements-title">{words.pallets}</h2>
          <ol class="receipt-rows">
            {placements.map((one) => (
              <Row
                key={one.id}
                row={one}
                title={
                  one.event_type === 'PLACED'
                    ? words.placedIn(one.asset_barcode, one.slot_code)
                    : words.takenFrom(one.asset_barcode, one.slot_code)
                }
                timeZone={timezone}
              />
            ))}
          </ol>
        </section>
      )}
      {complete ? null : <p>{words.part}</p>}
      <p class="muted">
        {words.key} <span class="code">{receipt.checkpoint.key}</span>. {words.keyChanges}
      </p>
    </>
  )
}

type RowProps = {
  row: Receipt['unit']['steps'][number] | Receipt['placements'][number]
  title: string
  timeZone: string
}

const Row = ({ row, title, timeZone }: RowProps) => (
  <li class="card">
    <h3>{title}</h3>
    <p>{exactTime(row.timestamp, timeZone)}</p>
    {row.weightKg === null ? null : <p>{kilograms(row.weightKg)}</p>}
    {row.photos.map(({ sha256, url }) => (
      <img key={sha256} class="evidence" src={url} alt={title} loading="lazy" />
    ))}
    <p class="muted">{words.states[row.evidence.state]}</p>
  </li>
)
