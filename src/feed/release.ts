import { z } from 'zod'

/** As packages are numbered. */
export const releaseVersion = z.string().regex(/^\d{1,5}\.\d{1,5}\.\d{1,5}[0-9A-Za-z.+~-]{0,40}$/)

/** Returns whether a version comes after another, in the order of Debian packages (Debian Policy, 5.6.12). Pure. */
export function isNewerRelease(one: string, other: string): boolean {
  const [a, b] = [withRevision(one), withRevision(other)]
  return (orderOf(a.version, b.version) || orderOf(a.revision, b.revision)) > 0
}

/** The revision of the package follows the last hyphen. */
function withRevision(text: string) {
  const at = text.lastIndexOf('-')
  return at < 0 ? { version: text, revision: '' } : { version: text.slice(0, at), revision: text.slice(at + 1) }
}

function orderOf(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)]
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const [{ words = '', number = 0n } = {}, { words: otherWords = '', number: otherNumber = 0n } = {}] = [a[i], b[i]]
    const order = orderOfWords(words, otherWords) || Number(number > otherNumber) - Number(number < otherNumber)
    if (order !== 0) return order
  }
  return 0
}

/** Characters that are no digits, and the digits behind them, in turns. */
const partsOf = (version: string) =>
  [...version.matchAll(/(\D*)(\d*)/g)].map(([, words = '', digits = '']) => ({ words, number: BigInt(digits) }))

/** A tilde comes before the end, and that before letters; anything else comes last. */
function orderOfWords(one: string, other: string): number {
  const rank = (text: string, i: number) => {
    const at = text.charCodeAt(i)
    if (Number.isNaN(at)) return 0
    if (text[i] === '~') return -1
    return /[A-Za-z]/.test(text.charAt(i)) ? at : at + 256
  }
  for (let i = 0; i < Math.max(one.length, other.length); i += 1) {
    const order = rank(one, i) - rank(other, i)
    if (order !== 0) return order
  }
  return 0
}
