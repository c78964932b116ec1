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

const fold = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Damerau-Levenshtein (optimal string alignment): a letter too many, too few or wrong, or two swapped, is one slip. */
export function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const ways = [at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + wrong]
      if (swapped) ways.push(at(beforeLast, j - 2) + 1)
      row.push(Math.min(...ways))
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY
