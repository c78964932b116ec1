import { GS } from '../warehouse/index.ts'
import type { CodeSymbol } from './symbol.ts'

/**
 * Returns the field of ^BC: the text in the character sets B and C. It has the printer's codes for the start of a set (`>:` B, `>;`
 * C, `>6` and `>5` between them) and for FNC1 (`>8`). Pairs of digits use set C where that is shorter. Source: ZPL II Programming
 * Guide, ^BC, "Code 128 Invocation Characters". Takes printable ASCII, and GS for FNC1.
 */
export function code128Field({ symbology, text }: CodeSymbol): string {
  const data = symbology === 'gs1-128' ? `${GS}${text}` : text
  let set: CharacterSet = digitsAt(data, data[0] === GS ? 1 : 0) >= 4 ? 'C' : 'B'
  let field = set === 'C' ? '>;' : '>:'
  for (let at = 0; at < data.length; ) {
    if (data[at] === GS) {
      field += '>8'
      at += 1
      continue
    }
    const next = nextSet(set, digitsAt(data, at), at + digitsAt(data, at) === data.length)
    if (next !== set) field += next === 'C' ? '>5' : '>6'
    set = next
    field += set === 'C' ? data.slice(at, at + 2) : inSetB(data[at] ?? '')
    at += set === 'C' ? 2 : 1
  }
  return field
}

type CharacterSet = 'B' | 'C'

const digitsAt = (data: string, at: number): number => data.slice(at).match(/^\d+/)?.[0].length ?? 0

/** Changing the set and back costs two codes, which pays off for six digits, or for four at the end. */
function nextSet(set: CharacterSet, digits: number, isLast: boolean): CharacterSet {
  if (set === 'C') return digits >= 2 ? 'C' : 'B'
  return digits % 2 === 0 && digits >= (isLast ? 4 : 6) ? 'C' : 'B'
}

/** `>` begins a code of the printer's, `^` and `~` its commands. */
function inSetB(character: string): string {
  return { '>': '>0', '^': '><', '~': '>=' }[character] ?? character
}
