/** A part of a page of the manual: what is between two headings. */
export type SearchedPart = {
  readonly topic: string
  /** Heading of the page. */
  readonly page: string
  /** Heading of the part; empty: what comes before the first one. */
  readonly part: string
  readonly anchor: string
  readonly text: string
}

export type FoundPart = SearchedPart & { readonly excerpt: string }

const maxFound = 20
const excerptLength = 160

/** Returns the parts that have every word of a query, the best first. A word matches anywhere, in either case. Pure. */
export function findParts(parts: readonly SearchedPart[], query: string): FoundPart[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return parts
    .map((part) => ({ part, score: scoreOf(part, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, maxFound)
    .map(({ part }) => ({ ...part, excerpt: excerptOf(part.text, words) }))
}

/** Counts a heading more than the text below it; 0: a word is missing. */
function scoreOf({ page, part, text }: SearchedPart, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const inPart = part.toLowerCase().includes(word) ? 8 : 0
    const inPage = page.toLowerCase().includes(word) ? 4 : 0
    const inText = Math.min(text.toLowerCase().split(word).length - 1, 3)
    if (inPart + inPage + inText === 0) return 0
    score += inPart + inPage + inText
  }
  return score
}

/** Returns the text around the first word that it has. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  const first = Math.max(Math.min(...places, text.length) - 40, 0)
  const from = first === 0 || places.length === 0 ? 0 : text.indexOf(' ', first) + 1
  const cut = text.slice(from, from + excerptLength)
  return `${from > 0 ? '… ' : ''}${cut}${from + excerptLength < text.length ? ' …' : ''}`
}
