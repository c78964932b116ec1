import { useEffect, useRef, useState } from 'hono/jsx/dom'
import { follow, go } from './address.ts'
import { type SiteClock, useAnswer, useSiteClock } from './hub-ask.ts'
import { pastedOf } from './hub-list.ts'
import { hubTexts } from './hub-texts.ts'

const words = hubTexts.recall

type Pallet = {
  readonly siteId: string
  readonly asset_barcode: string
  readonly slot: string
  readonly since: string
}

/** Every pallet of an item and lot, on all sites, as a list to send. */
export const HubRecall = ({ gtin, lot, onLeft }: { gtin: string; lot: string; onLeft: () => void }) => {
  const item = useRef<HTMLInputElement>(null)
  const batch = useRef<HTMLInputElement>(null)
  const query = new URLSearchParams({ gtin, ...(lot !== '' && { lot }) })
  const path = gtin === '' ? undefined : `/api/hub/recall?${query}`
  const { answer, problem, code } = useAnswer<{ data: readonly Pallet[] }>(path, onLeft)
  const timeAt = useSiteClock(path !== undefined, onLeft)
  useEffect(() => {
    if (gtin === '') item.current?.focus()
  }, [])
  const list = (event: Event) => {
    event.preventDefault()
    const wanted = new URLSearchParams({ gtin: item.current?.value.trim() ?? '' })
    const ofLot = batch.current?.value.trim() ?? ''
    if (ofLot !== '') wanted.set('lot', ofLot)
    go(`/recall?${wanted}`)
  }
  // The lot is refused only for more pallets than a list can have.
  const refused = code === 'VALIDATION_ERROR' ? (hasCheckDigit(gtin) ? words.tooMany : words.wrongGtin) : problem
  return (
    <main class="hub" id="main">
      <div class="hub-head">
        <h1>{words.title}</h1>
      </div>
      <form class="card hub-form" onSubmit={list}>
        <div class="hub-ask">
          <label>
            <span>{words.gtin}</span>
            <input ref={item} value={gtin} inputmode="numeric" maxlength={14} required />
          </label>
          <label>
            <span>{words.lot}</span>
            <input ref={batch} value={lot} maxlength={64} autocapitalize="none" spellcheck={false} />
          </label>
          <button type="submit" class="strong">
            {words.go}
          </button>
        </div>
        <p class="muted">{words.hint}</p>
        <p class="problem" role="alert">
          {refused}
        </p>
      </form>
      {path !== undefined && !answer && !problem ? <p class="card">{hubTexts.asking}</p> : null}
      {answer ? <List pallets={answer.data} timeAt={timeAt} file={`${path}&format=csv`} /> : null}
    </main>
  )
}

/** The sum of the digits, threefold every second from the right, is a multiple of ten (GS1 General Specifications, 7.9.1). */
function hasCheckDigit(gtin: string): boolean {
  if (!/^(\d{8}|\d{12,14})$/.test(gtin)) return false
  return (
    [...gtin].reduceRight((sum, digit, i) => sum + Number(digit) * ((gtin.length - i) % 2 === 0 ? 3 : 1), 0) % 10 === 0
  )
}

const List = ({ pallets, timeAt, file }: { pallets: readonly Pallet[]; timeAt: SiteClock; file: string }) => {
  const [done, setDone] = useState('')
  const copy = () => {
    const rows = pallets.map((one) => [one.siteId, one.asset_barcode, one.slot, one.since])
    const copying = navigator.clipboard?.writeText(pastedOf(rows)) ?? Promise.reject(new Error('no clipboard'))
    copying.then(
      () => setDone(words.copied),
      () => setDone(words.notCopied),
    )
  }
  if (pallets.length === 0) {
    return (
      <p class="card" role="status">
        {words.none}
      </p>
    )
  }
  return (
    <section class="card" aria-labelledby="hub-list">
      <div class="card-head">
        <h2 id="hub-list">{words.found(pallets.length, new Set(pallets.map(({ siteId }) => siteId)).size)}</h2>
        <div class="hub-acts">
          <button type="button" onClick={copy}>
            {words.copy}
          </button>
          <button type="button" onClick={() => print()}>
            {words.print}
          </button>
          <a class="button" href={file} download="recall.csv">
            {words.file}
          </a>
        </div>
      </div>
      <p role="status">{done}</p>
      <table class="hub-table">
        <thead>
          <tr>
            <th scope="col">{hubTexts.find.site}</th>
            <th scope="col">{words.pallet}</th>
            <th scope="col">{hubTexts.find.slot}</th>
            <th scope="col">{hubTexts.find.since}</th>
          </tr>
        </thead>
        <tbody>
          {pallets.map(({ siteId, asset_barcode, slot, since }) => (
            <tr key={`${siteId} ${asset_barcode}`}>
              <td>{siteId}</td>
              <th scope="row">
                <a class="code" href={`/find?code=${encodeURIComponent(asset_barcode)}`} onClick={follow}>
                  {asset_barcode}
                </a>
              </th>
              <td>{slot}</td>
              <td>{timeAt(siteId, since)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
