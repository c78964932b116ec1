import bwip from 'bwip-js/node'
import { type Barcode, elementText, GS } from '../warehouse/index.ts'

export const symbologies = ['code128', 'gs1-128', 'qr', 'datamatrix', 'gs1-datamatrix'] as const
export type Symbology = (typeof symbologies)[number]

/** One code on a label. */
export type CodeSymbol = {
  readonly symbology: Symbology
  /** Text that a reader returns, without its prefix; for a GS1 symbol the element strings, with a GS for each FNC1. */
  readonly text: string
}

/** A symbol as its reader sees it: widths of bar, space, bar … in modules, or a matrix of dark cells row by row. */
export type Modules =
  | { readonly form: 'bars'; readonly widths: readonly number[]; readonly across: number }
  | { readonly form: 'matrix'; readonly cells: readonly boolean[]; readonly across: number }

const printable = /^[\x20-\x7e]+$/
/** GS1 allows no more data characters in one GS1-128 symbol. */
const mostInGs1128 = 48

export const isLinear = (symbology: Symbology): boolean => symbology === 'code128' || symbology === 'gs1-128'

/**
 * Returns the symbologies that can carry a barcode so that its scan is the same asset, the preferred one first. A GS1 code
 * stays one. Text with characters that Code 128 lacks goes into a QR code.
 */
export function symbolsFor(raw: string, code: Pick<Barcode, 'gs1' | 'key'>): CodeSymbol[] {
  if (code.gs1) {
    const text = elementText(code.gs1)
    const linear = text.replaceAll(GS, '').length <= mostInGs1128
    return [
      ...(linear ? [{ symbology: 'gs1-128' as const, text }] : []),
      { symbology: 'gs1-datamatrix' as const, text },
    ]
  }
  const text = code.key || raw
  const ascii = printable.test(text)
  return [
    ...(ascii ? [{ symbology: 'code128' as const, text }] : []),
    { symbology: 'qr' as const, text },
    ...(ascii ? [{ symbology: 'datamatrix' as const, text }] : []),
  ]
}

const kinds = {
  code128: 'code128',
  'gs1-128': 'code128',
  qr: 'qrcode',
  datamatrix: 'datamatrix',
  'gs1-datamatrix': 'datamatrix',
}

/** Throws where the text does not fit into any symbol of its kind. */
export function modulesOf({ symbology, text }: CodeSymbol): Modules {
  const isGs1 = symbology.startsWith('gs1-')
  const marked = isGs1 ? `^FNC1${text.replaceAll('^', '^^').replaceAll(GS, '^FNC1')}` : text
  const [drawn] = bwip.raw({
    bcid: kinds[symbology],
    // One character for each byte: the library would encode other text itself.
    text: Buffer.from(marked, 'utf8').toString('latin1'),
    binarytext: true,
    parsefnc: isGs1,
    ...(symbology === 'qr' && { eclevel: 'M' }),
  })
  if (!drawn) throw new Error(`no ${symbology} was drawn`)
  if ('sbs' in drawn)
    return { form: 'bars', widths: drawn.sbs, across: drawn.sbs.reduce((sum, width) => sum + width, 0) }
  return { form: 'matrix', cells: drawn.pixs.map((cell) => cell === 1), across: drawn.pixx }
}

/** Returns the light modules that a reader needs on each side. */
export const quietModules = (symbology: Symbology): number => (isLinear(symbology) ? 10 : symbology === 'qr' ? 4 : 1)
