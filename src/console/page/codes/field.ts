import { get } from '../data/api.ts'

/**
 * Use of a scan by the field with the focus, in its attribute `data-scan`. A field without the attribute takes no codes: its text
 * stays, and the page looks the code up.
 *
 * - `code`: it holds one code
 * - `codes`: it holds a list of codes
 * - `references`: a list of references such as `asset:CODE`
 */
export type ScanUse = 'code' | 'codes' | 'references'

export type CodeField = HTMLInputElement | HTMLTextAreaElement

/** Returns the field if it takes codes. */
export const codeFieldOf = (field: Element | undefined): CodeField | undefined =>
  (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.dataset['scan'] !== undefined
    ? field
    : undefined

/** Returns a scanned code as a field lists it. */
export const entryOf = async (field: CodeField, code: string): Promise<string> =>
  field.dataset['scan'] === 'references' ? await referenceOf(code) : code

/** Writes an entry into a field that takes codes, as if somebody had typed it. */
export function writeEntry(field: CodeField, entry: string): void {
  const isOne = field.dataset['scan'] === 'code'
  field.value = isOne ? entry : withEntry(field.value, entry, field instanceof HTMLTextAreaElement ? '\n' : ', ')
  field.dispatchEvent(new Event('input', { bubbles: true }))
  if (isOne) nextOf(field)?.focus()
}

/** Takes codes out of the fields of a form that turned out to be parts of one. */
export function dropParts({ form }: CodeField, parts: readonly string[]): void {
  for (const one of form?.elements ?? []) {
    const field = codeFieldOf(one)
    const entries = field?.value.split(/[\n,;]/).map((entry) => entry.trim()) ?? []
    if (!field || !entries.some((entry) => parts.includes(entry))) continue
    field.value = entries.filter((entry) => !parts.includes(entry)).join('\n')
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

/** A code that is scanned twice is listed once. */
function withEntry(text: string, entry: string, between: string): string {
  const entries = text.split(/[\n,;]/).map((one) => one.trim())
  if (entries.includes(entry)) return text
  return text.trim() === '' ? entry : `${text.trimEnd()}${between}${entry}`
}

/** Returns the next field of the form, where that takes codes as well and is empty. */
function nextOf(field: CodeField): CodeField | undefined {
  const fields = [...(field.form?.elements ?? [])]
  const next = codeFieldOf(fields[fields.indexOf(field) + 1])
  return next?.value === '' ? next : undefined
}

/** An unknown code, or a lookup without an answer, gives the code itself as the reference. */
async function referenceOf(code: string): Promise<string> {
  const answer = await get('/api/whms/scan/{code}', { code }).catch(() => undefined)
  const [first] = answer?.matches ?? []
  if (first?.kind === 'slot') return `slot:${first.slot?.slot_id ?? code}`
  if (first?.kind === 'asset') return `asset:${first.asset?.asset_id ?? code}`
  return first?.kind === 'transport_unit' ? `transport_unit:${first.id}` : code
}
