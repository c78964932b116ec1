import { useEffect, useRef, useState } from 'preact/hooks'
import { inHalves } from '../codes/pair-code.ts'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { SignedIn, Warehouse } from '../data/shapes.ts'
import { whyOf } from '../data/slot-list.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { follow } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { pairTexts as words } from './pair-texts.ts'
import { WarehouseBoxes } from './warehouse-boxes.tsx'

export type PairProps = {
  readonly siteId: string
  readonly caller: SignedIn
  readonly code: string
  readonly onLeft: (why: string) => void
}

type Pairing = { readonly code: string; readonly address: string; readonly confirmed: boolean }
type Known = { readonly pairing: Pairing | undefined; readonly warehouses: readonly Warehouse[] }

/** Confirms the wall screen whose code was scanned, at `/pair/CODE`. */
export const View = ({ siteId, caller, code, onLeft }: PairProps) => {
  const [known, setKnown] = useState<Known | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const [done, setDone] = useState('')
  const mayConfirm = caller.permissions.includes('events:verify')
  const failed = (error: Error) => {
    if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
    else setProblem(words.failed(whyOf(error)))
  }
  useEffect(() => {
    if (mayConfirm) void load(code).then(setKnown, failed)
  }, [code])
  const confirm = async (name: string, warehouseIds: readonly number[]) => {
    setProblem('')
    const body = { name, ...(warehouseIds.length > 0 && { warehouseIds }) }
    try {
      await ask(`/api/device-pairings/${encodeURIComponent(code)}/confirm`, { method: 'POST', body })
      setDone([words.done(name), words.cameras(name), words.revoke].join(' '))
    } catch (error) {
      if (error instanceof Refused && error.status === 404 && known) setKnown({ ...known, pairing: undefined })
      else failed(error as Error)
    }
  }
  return (
    <>
      <Bar here={undefined} siteId={siteId} caller={caller} onLeft={onLeft} />
      <main class="missing-page">
        <div class="card pair-card">
          <h1 tabindex={-1}>{words.title}</h1>
          {mayConfirm ? null : <p>{words.forbidden}</p>}
          {mayConfirm && !known && problem === '' ? <p class="muted">{words.asking}</p> : null}
          {known && !known.pairing ? <p>{words.gone}</p> : null}
          {known?.pairing?.confirmed ? <p>{words.used}</p> : null}
          {known?.pairing && !known.pairing.confirmed && done === '' ? (
            <Confirmation pairing={known.pairing} warehouses={known.warehouses} onConfirm={confirm} />
          ) : null}
          <p role="status">{done}</p>
          <p role="alert" class="problem">
            <Said words={problem} />
          </p>
          <a class="missing-way" href="/" onClick={follow}>
            {words.home}
          </a>
        </div>
      </main>
    </>
  )
}

/** Rejects as `ask` does; a code that has ended is no error. */
async function load(code: string): Promise<Known> {
  const found = get('/api/device-pairings/{code}', { code }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  })
  const [pairing, warehouses] = await Promise.all([found, get('/api/whms/warehouses', {})])
  return { pairing, warehouses: warehouses.data }
}

type Props = {
  readonly pairing: Pairing
  readonly warehouses: readonly Warehouse[]
  readonly onConfirm: (name: string, warehouseIds: readonly number[]) => Promise<void>
}

const Confirmation = ({ pairing, warehouses, onConfirm }: Props) => {
  const form = useRef<HTMLFormElement>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || !form.current) return
    setBusy(true)
    const typed = new FormData(form.current)
    await onConfirm(String(typed.get('name') ?? '').trim(), typed.getAll('warehouse').map(Number))
    setBusy(false)
  }
  return (
    <form ref={form} class="pair-form" onSubmit={submit}>
      <p>
        <strong>{words.shows(inHalves(pairing.code))}</strong> {words.from(pairing.address)}
      </p>
      <p>{words.compare}</p>
      <label for="pair-name">{words.name}</label>
      <input
        id="pair-name"
        name="name"
        type="text"
        required
        maxlength={64}
        pattern="[A-Za-z0-9._\-]+"
        defaultValue={`wall-${pairing.code.slice(0, 4).toLowerCase()}`}
        aria-describedby="pair-name-help"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
      />
      <p class="muted" id="pair-name-help">
        {words.nameHelp}
      </p>
      <WarehouseBoxes warehouses={warehouses} legend={words.warehouses} help={words.warehousesHelp} />
      <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
        {words.confirm}
      </button>
    </form>
  )
}
