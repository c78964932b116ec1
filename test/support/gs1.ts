import { readFileSync } from 'node:fs'
import bwip from 'bwip-js/node'

/** Meaning of a code, written down from the standards: see `test/fixtures/barcodes/README.md`. */
export type Vector = {
  readonly raw: string
  /** Values by application identifier; null for plain text. */
  readonly elements: Readonly<Record<string, string>> | null
  readonly key: string
  readonly warnings: readonly string[]
}
export type VectorGroup = { readonly group: string; readonly source: string; readonly vectors: readonly Vector[] }

export const gs1Vectors: readonly VectorGroup[] = JSON.parse(
  readFileSync(new URL('../fixtures/barcodes/gs1.json', import.meta.url), 'utf8'),
)

/**
 * Whether a writer of symbols that knows the GS1 Barcode Syntax Dictionary accepts these element strings. It reads a
 * bracket as the beginning of an identifier, so values must have none. Required combinations of elements are not checked:
 * a label may be one of several on its pallet.
 */
export const isWritable = (elements: readonly (readonly [string, string])[]): boolean =>
  isTaken('gs1datamatrix', elements.map(([id, value]) => `(${id})${value}`).join(''))

/** The same for a Digital Link URI. */
export const isWritableLink = (uri: string): boolean => isTaken('gs1dldatamatrix', uri)

function isTaken(bcid: string, text: string): boolean {
  try {
    bwip.raw({ bcid, text, lintreqs: false } as never)
    return true
  } catch (error) {
    if (/^(Error: )?bwipp\./.test(String(error))) return false
    throw error
  }
}
