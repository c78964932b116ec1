import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { OnceKey } from '../data/once-key.ts'
import type { Asset } from '../data/shapes.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import { kilograms } from '../i18n/counting.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { assetTypeWords } from '../i18n/words.ts'
import type { Act } from './acts.tsx'
import { Field } from './box-frame.tsx'
import { registerTexts as words } from './register-texts.ts'
import { useTyped, wasSent } from './typed.ts'

const types = ['pallet', 'container', 'box', 'drum', 'equipment'] as const
/** Only its newest placements are searched for a weight. */
const mostPlacements = 20

type Fields = ReadonlyMap<string, string>
const noFields: Fields = new Map()

/** Facts of the ledger about a pallet that is not registered. `code`: its barcode in the ledger. */
type Known = { readonly code: string; readonly asset: Asset | undefined; readonly weightKg: number | null }

type Props = {
  code: string
  act: Act
  isBusy: boolean
  /** Called when it was registered. */
  onDone?: () => void
  /** Absent: the form stays open. */
  onCancel?: () => void
}

let forms = 0

/** Registers a pallet that is known from scans alone, or not at all. It offers the values of the label and the scale. */
export const RegisterForm = ({ code, ...more }: Props) => {
  const [known, setKnown] = useState<Known | undefined>(undefined)
  useEffect(() => {
    let isHere = true
    // Without an answer it can be typed.
    void knownOf(code)
      .catch(() => ({ code, asset: undefined, weightKg: null }))
      .then((found) => isHere && setKnown(found))
    return () => {
      isHere = false
    }
  }, [])
  return known ? <Form known={known} {...more} /> : <p class="muted">{texts.loading}</p>
}

async function knownOf(code: string): Promise<Known> {
  const [scan, placements] = await Promise.all([
    get('/api/whms/scan/{code}', { code }),
    get('/api/whms/events', { asset_barcode: code, event_type: 'PLACED', limit: mostPlacements }),
  ])
  const asset = scan.matches.find(({ kind }) => kind === 'asset')?.asset
  const weighed = placements.data.find(({ scale_weight_kg }) => scale_weight_kg !== null)
  return { code: asset?.asset_id ?? code, asset, weightKg: weighed?.scale_weight_kg ?? null }
}

type FormProps = Omit<Props, 'code'> & { known: Known }

const Form = ({ known: { code, asset, weightKg }, act, isBusy, onDone, onCancel }: FormProps) => {
  useTyped()
  const [number] = useState(() => ++forms)
  const [fields, setFields] = useState(noFields)
  const form = useRef<HTMLFormElement>(null)
  const once = useOnceKey()
  const offered = weightKg === null ? '' : weightText(weightKg)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current || isBusy) return
    const typed = typedIn(form.current, number)
    const weight_kg = typed.weight === offered ? weightKg : weightOf(typed.weight)
    const work = () => registered({ ...typed.facts, asset_id: code, ...(weight_kg !== null && { weight_kg }) }, once)
    const isDone = await act(async () => {
      try {
        await work()
        setFields(noFields)
      } catch (error) {
        setFields(error instanceof Refused ? inWords(error.fields) : noFields)
        throw saying(error)
      }
    }, words.saved(code))
    if (!isDone) return
    wasSent(form.current)
    onDone?.()
  }
  useEffect(() => {
    if (fields.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [fields])
  const label = labelWords(asset)
  return (
    <form class="register-form" ref={form} aria-label={words.title(code)} onSubmit={submit}>
      <Field name={`type-${number}`} label={words.type} problem={fields.get('type')}>
        {(field) => (
          <select {...field}>
            {types.map((type) => (
              <option key={type} value={type}>
                {assetTypeWords(type)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        name={`weight-${number}`}
        label={words.weight}
        help={weightKg === null ? undefined : words.weighed(kilograms(weightKg))}
        problem={fields.get('weight_kg')}
      >
        {(field) => <input {...field} type="text" inputmode="decimal" autocomplete="off" defaultValue={offered} />}
      </Field>
      <GoodsFields asset={asset} number={number} fields={fields} />
      {label === '' ? null : (
        <p class="wide">
          <Said words={words.fromLabel(label)} />
        </p>
      )}
      <p class="box-acts wide">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.save}
        </button>
        {onCancel ? (
          <button type="button" class="plain" onClick={onCancel}>
            {words.cancel}
          </button>
        ) : null}
      </p>
    </form>
  )
}

type GoodsProps = { asset: Asset | undefined; number: number; fields: Fields }

/** Known facts of its goods are not asked for again. */
const GoodsFields = ({ asset, number, fields }: GoodsProps) => (
  <>
    {asset?.gtin ? null : (
      <Field name={`gtin-${number}`} label={words.gtin} problem={fields.get('gtin')}>
        {(field) => (
          <input {...field} type="text" inputmode="numeric" autocomplete="off" maxlength={14} data-scan="code" />
        )}
      </Field>
    )}
    {asset?.lot ? null : (
      <Field name={`lot-${number}`} label={words.lot} problem={fields.get('lot')}>
        {(field) => (
          <input {...field} type="text" autocomplete="off" spellcheck={false} maxlength={90} data-scan="code" />
        )}
      </Field>
    )}
    {asset?.bestBefore ? null : (
      <Field name={`bestBefore-${number}`} label={words.bestBefore} problem={fields.get('bestBefore')}>
        {(field) => <input {...field} type="date" autocomplete="off" />}
      </Field>
    )}
  </>
)

/** Returns the facts of its goods that its label says; '' when there are none. */
function labelWords(asset: Asset | undefined): string {
  if (!asset) return ''
  const facts = {
    [words.gtin]: asset.gtin,
    [words.lot]: asset.lot,
    [words.bestBefore]: asset.bestBefore,
  }
  return Object.entries(facts)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
    .join(', ')
}

type Typed = { readonly weight: string; readonly facts: Readonly<Record<string, string>> }

function typedIn(form: HTMLFormElement, number: number): Typed {
  const typed = new FormData(form)
  const text = (name: string) => String(typed.get(`${name}-${number}`) ?? '').trim()
  const facts = ['type', 'gtin', 'lot', 'bestBefore'].map((name) => [name, text(name)] as const)
  return { weight: text('weight'), facts: Object.fromEntries(facts.filter(([, value]) => value !== '')) }
}

const weightText = (kg: number) => (locale.startsWith('de') ? String(kg).replace('.', ',') : String(kg))

/** Returns a weight as typed; null when nothing is. A thousand that is written as 1.000 or 1,000 is NaN: it would be read as 1. */
const weightOf = (text: string) =>
  text === '' ? null : /^\d{1,6}([.,]\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : Number.NaN

/** Registers it; a second try of the same changes nothing. */
async function registered(body: Readonly<Record<string, unknown>>, once: OnceKey): Promise<void> {
  if (Number.isNaN(body['weight_kg'])) throw new Refused(400, '', words.lookAgain, 0, '', new Map([['weight_kg', '']]))
  await ask('/api/whms/assets', { method: 'POST', body, onceKey: once.of(body) })
  once.done(body)
}

/** Known problems of a field are shown in the page's language. */
const inWords = (fields: Fields): Fields =>
  new Map([...fields].map(([path, message]) => [path, words.wrong[path] ?? message]))

/** Returns the error in the language of the page, where it is one that this form brings about. */
function saying(error: unknown): unknown {
  if (!(error instanceof Refused)) return error
  const { status, code, fields, retryAfterSeconds } = error
  if (code === 'ALREADY_EXISTS') return new Refused(status, code, words.already, retryAfterSeconds)
  return fields.size === 0 ? error : new Refused(status, code, words.lookAgain, retryAfterSeconds)
}
