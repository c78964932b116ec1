import { useRef, useState } from 'preact/hooks'
import type { Slot, Zone } from '../data/shapes.ts'
import { Said } from '../i18n/said.tsx'
import { type Acts, Choice, Field } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import { wasSent } from '../kit/typed.ts'
import { codesOf, type LabelForm, type Wrong, wrongIn } from './label-order.ts'
import { Sheet } from './label-sheet.tsx'
import { labelTexts as words } from './label-texts.ts'
import { usePrinting } from './printing.ts'

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

type Printer = { readonly name: string; readonly size: string }

type OrderProps = {
  printers: readonly Printer[]
  zones: readonly Zone[]
  slots: readonly Slot[]
  acts: Acts
  mayPrint: boolean
  onLeft: (why: string) => void
}

/** Chooses labels, and brings them to a printer or onto a sheet. */
export const Order = ({ printers, zones, slots, acts, mayPrint, onLeft }: OrderProps) => {
  const [form, setForm] = useState(blank)
  const [chosen, setPrinter] = useState('')
  const [problem, setProblem] = useState('')
  const [sheet, setSheet] = useState<{ readonly form: LabelForm; readonly codes: readonly string[] } | undefined>(
    undefined,
  )
  const typed = useRef<HTMLFormElement>(null)
  const { progress, refused, print } = usePrinting(acts, onLeft)
  const printer = printers.find(({ name }) => name === chosen) ?? printers[0]
  const codes = codesOf(form, slots)
  const isRight = () => {
    const wrong = wrongIn(form, codes)
    setProblem(wrong === undefined ? '' : wrongWords(wrong, codes.length))
    return wrong === undefined
  }
  const send = async ({ name }: Printer) => {
    if (!isRight() || acts.isBusy) return
    if (await print(form, codes, name)) wasSent(typed.current)
  }
  const show = (event: Event) => {
    event.preventDefault()
    if (!isRight()) return
    setSheet({ form, codes })
    wasSent(typed.current)
  }
  return (
    <>
      <section class="card goods-form no-print" aria-labelledby="label-order">
        <h2 id="label-order">{words.choose}</h2>
        <form ref={typed} onSubmit={show}>
          <LabelFields form={form} zones={zones} onForm={setForm} />
          {mayPrint && printer ? (
            <PrinterFields {...{ printers, printer, form }} onPrinter={setPrinter} onForm={setForm} />
          ) : null}
          <p class="problem wide" role="alert">
            {problem}
          </p>
          <div class="wide task-acts">
            {mayPrint && printer ? (
              <button
                type="button"
                class="strong"
                aria-disabled={acts.isBusy ? 'true' : 'false'}
                onClick={() => void send(printer)}
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
}

type Change = (change: (before: LabelForm) => LabelForm) => void

/** Returns the function that puts text into a field. */
const keeper = (onForm: Change) => (name: Exclude<keyof LabelForm, 'kind'>) => (value: string) =>
  onForm((before) => ({ ...before, [name]: value }))

type FieldsProps = { form: LabelForm; zones: readonly Zone[]; onForm: Change }

/** Fields that say which labels, and how they look. */
const LabelFields = ({ form, zones, onForm }: FieldsProps) => {
  const keep = keeper(onForm)
  return (
    <>
      <Choice
        id="label-kind"
        words={words.kind}
        value={form.kind}
        of={words.kinds}
        onChoice={(kind) => onForm((before) => ({ ...before, kind: kind === 'pallets' ? 'pallets' : 'slots' }))}
      />
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
    </>
  )
}

type PrinterProps = {
  printers: readonly Printer[]
  printer: Printer
  form: LabelForm
  onPrinter: (name: string) => void
  onForm: Change
}

const PrinterFields = ({ printers, printer, form, onPrinter, onForm }: PrinterProps) => (
  <>
    <Choice
      id="label-printer"
      words={words.printer}
      value={printer.name}
      of={Object.fromEntries(printers.map(({ name, size }) => [name, `${name} (${size} mm)`]))}
      onChoice={onPrinter}
    />
    <Field id="label-copies" words={words.copies} value={form.copies} most={3} onText={keeper(onForm)('copies')} />
  </>
)

const wrongWords = (wrong: Wrong, n: number): string =>
  ({ none: words.none, tooMany: words.tooMany(n), size: words.sizeWrong, copies: words.copiesWrong })[wrong]
