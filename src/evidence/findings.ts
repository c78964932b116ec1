/** A mismatch and its place: `leaf 7`, `event 12`, `photo ab…`. */
export type Mismatch = { readonly where: string; readonly what: string }

const listed = 100

/** Collects mismatches, each once; above a hundred it only notes that there are more. */
export class Findings {
  readonly mismatches: Mismatch[] = []
  truncated = false

  add(where: string, what: string): void {
    if (this.mismatches.some((m) => m.where === where && m.what === what)) return
    if (this.mismatches.length < listed) this.mismatches.push({ where, what })
    else this.truncated = true
  }
}

/** Puts lists of mismatches behind one another, each mismatch once, as long as a list may be. */
export function joinFindings(...lists: { mismatches: readonly Mismatch[]; truncated?: boolean }[]): Findings {
  const all = new Findings()
  for (const { mismatches, truncated = false } of lists) {
    for (const { where, what } of mismatches) all.add(where, what)
    if (truncated) all.truncated = true
  }
  return all
}
