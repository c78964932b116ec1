import type { DoctorTopic } from './manual-parts.ts'

/** `change`: it works, and something should be done; `bad`: something does not work; `unknown`: it could not be examined. */
export type DoctorVerdict = 'good' | 'note' | 'change' | 'bad' | 'unknown'

/** One thing that the doctor examined. */
export type DoctorFinding = {
  readonly topic: DoctorTopic
  /** Which one, such as `3 (Dock door)`; null: there is only one. */
  readonly subject: string | null
  readonly verdict: DoctorVerdict
  /** The fact, as a sentence. */
  readonly what: string
  /** The next step, as a sentence; null: none. */
  readonly next: string | null
}

type Of = { readonly topic: DoctorTopic; readonly subject?: string }

/** Returns functions that make the findings of one thing. */
export function findingsOn({ topic, subject }: Of) {
  const made = (verdict: DoctorVerdict, what: string, next: string | null): DoctorFinding => ({
    topic,
    subject: subject ?? null,
    verdict,
    what,
    next,
  })
  return {
    good: (what: string) => made('good', what, null),
    note: (what: string, next: string | null = null) => made('note', what, next),
    change: (what: string, next: string) => made('change', what, next),
    bad: (what: string, next: string) => made('bad', what, next),
    unknown: (what: string, next: string | null = null) => made('unknown', what, next),
  }
}

/** Says whether nothing has to be done. */
export function areWell(findings: readonly DoctorFinding[]): boolean {
  return !findings.some(({ verdict }) => verdict === 'change' || verdict === 'bad')
}
