/**
 * Finds the names that `written` may have meant: those with the fewest typing errors, if there are few enough for the
 * length. Case, `_` and `-` do not count (`data_dir` has 0 errors against `dataDir`). Equally near names are all
 * returned, in the order of `names`.
 */
export function nearestNames(written: string, names: readonly string[]): string[] {
  if (written.length > longestName) return []
  const ranked = names.map((name) => ({ name, slips: slipsBetween(fold(written), fold(name)) }))
  const fewest = Math.min(...ranked.map(({ slips }) => slips))
  return ranked.filter(({ name, slips }) => slips === fewest && slips <= slipsAllowed(name)).map(({ name }) => name)
}

/** Longer words are no misspelt names, and comparing them would cost their length squared. */
const longestName = 100

const slipsAllowed = (name: string): number => Math.max(1, Math.floor(name.length / 3))

function fold(name: string): string {
  const lower = name.toLowerCase()
  return lower.includes('_') || lower.includes('-') ? lower.replaceAll(/[_-]/g, '') : lower
}

/** Most letters in which a misspelt name may differ from the right one. */
const mostSlips = 2

type Folded = { readonly name: string; readonly folded: string; readonly letters: number }

/**
 * The names that an object or an address may have. It finds misspelt ones. They differ from a name by case, `_` or `-` alone, or by
 * at most two letters and a third of the sent name's length. This is narrower than `nearestNames`, because it decides whether a
 * request is refused. Length and letters are compared first, so a name that is not near costs next to nothing.
 */
export class KnownNames {
  readonly names: readonly string[]
  readonly #known: ReadonlySet<string>
  readonly #folded: readonly Folded[]
  readonly #byLength = new Map<number, readonly Folded[]>()

  constructor(names: readonly string[]) {
    this.names = names
    this.#known = new Set(names)
    this.#folded = names.map((name) => {
      const text = fold(name)
      return { name, folded: text, letters: lettersOf(text) }
    })
  }

  has(name: string): boolean {
    return this.#known.has(name)
  }

  /** Returns the names that `written` misspells most closely, in the order of the names; none for a known name. */
  misspeltBy(written: string): readonly string[] {
    if (written.length > longestName || this.#known.has(written)) return none
    const text = fold(written)
    const candidates = this.#candidates(text.length)
    if (candidates.length === 0) return none
    const letters = lettersOf(text)
    let nearest: string[] | undefined
    let fewest = Math.min(mostSlips, Math.floor(written.length / 3))
    for (const known of candidates) {
      // A letter more or less changes at most one bit, a wrong letter two.
      let slips = Math.ceil(bitsOf(letters ^ known.letters) / 2)
      while (slips <= fewest && !areWithin(text, known.folded, slips)) slips += 1
      if (slips > fewest) continue
      if (slips < fewest || !nearest) nearest = []
      nearest.push(known.name)
      fewest = slips
    }
    return nearest ?? none
  }

  /** Returns the names whose length is near enough. */
  #candidates(length: number): readonly Folded[] {
    const made =
      this.#byLength.get(length) ?? this.#folded.filter((known) => Math.abs(known.folded.length - length) <= mostSlips)
    this.#byLength.set(length, made)
    return made
  }
}

const none: readonly string[] = []

/**
 * Says whether `slipsBetween` of the rests of both texts is at most `slips`. It only follows the slips that are allowed, so for
 * two of them it takes a twentieth of the time.
 */
export function areWithin(a: string, b: string, slips: number, fromA = 0, fromB = 0): boolean {
  let i = fromA
  let j = fromB
  while (i < a.length && a[i] === b[j]) {
    i += 1
    j += 1
  }
  if (i === a.length && j === b.length) return true
  if (slips === 0 || Math.abs(a.length - i - (b.length - j)) > slips) return false
  if (i < a.length && j < b.length && areWithin(a, b, slips - 1, i + 1, j + 1)) return true
  if (i < a.length && areWithin(a, b, slips - 1, i + 1, j)) return true
  if (j < b.length && areWithin(a, b, slips - 1, i, j + 1)) return true
  const swapped = i + 1 < a.length && j + 1 < b.length && a[i] === b[j + 1] && a[i + 1] === b[j]
  return swapped && areWithin(a, b, slips - 1, i + 2, j + 2)
}

/** Returns one bit for each letter that the text has. Several letters share a bit. */
function lettersOf(text: string): number {
  let letters = 0
  for (let i = 0; i < text.length; i += 1) letters |= 1 << (text.charCodeAt(i) & 31)
  return letters
}

function bitsOf(mask: number): number {
  let bits = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) bits += 1
  return bits
}

/** Damerau-Levenshtein (optimal string alignment): a letter too many, too few or wrong, or two swapped, is one slip. */
export function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const slips = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + wrong)
      row.push(swapped ? Math.min(slips, at(beforeLast, j - 2) + 1) : slips)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY
