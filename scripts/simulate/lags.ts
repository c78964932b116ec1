const stepMs = 10
const steps = 30_000

/** How long leaves waited until they were acknowledged: counts in steps of 10 ms up to five minutes. */
export class Lags {
  readonly counts: number[] = []

  static from(all: readonly (readonly number[])[]): Lags {
    const lags = new Lags()
    for (const counts of all) {
      for (const [i, count] of counts.entries()) if (count) lags.counts[i] = (lags.counts[i] ?? 0) + count
    }
    return lags
  }

  add(ms: number): void {
    const i = Math.min(steps, Math.max(0, Math.floor(ms / stepMs)))
    while (this.counts.length <= i) this.counts.push(0)
    this.counts[i] = (this.counts[i] ?? 0) + 1
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + (count ?? 0), 0)
  }

  /** The least time in ms within which such a share of them was acknowledged; null without any. */
  within(share: number): number | null {
    const { total } = this
    if (total === 0) return null
    let seen = 0
    for (const [i, count] of this.counts.entries()) {
      seen += count ?? 0
      if (seen >= total * share) return (i + 1) * stepMs
    }
    return steps * stepMs
  }
}
