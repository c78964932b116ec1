import { counted } from './amounts.ts'
import type { DoctorReport } from './examine.ts'
import type { DoctorFinding, DoctorVerdict } from './findings/finding.ts'
import { manualParts } from './findings/manual-parts.ts'
import type { Paint } from './paint.ts'

const marks: Record<DoctorVerdict, string> = {
  good: 'good',
  note: 'note',
  change: 'CHANGE',
  bad: 'BAD',
  unknown: 'unknown',
}
const width = 9

/**
 * Returns the report for people: one line when nothing has to be done, else what has to be, each with the next step, and where the
 * manual says more.
 * @param all also print good findings and notes
 */
export function reportWords({ ok, findings }: DoctorReport, all: boolean, paint: Paint): string {
  const shown = findings.filter((finding) => all || isForPerson(finding))
  const lines = shown.map((finding) => findingText(finding, paint)).join('')
  return `${lines}${lastLine(ok, findings, all, paint)}${moreLine(findings)}`
}

function findingText({ topic, subject, verdict, what, next }: DoctorFinding, paint: Paint): string {
  const color = { good: paint.good, note: paint.hint, change: paint.hint, bad: paint.bad, unknown: paint.hint }[verdict]
  const head = `${color(marks[verdict].padEnd(width))}${paint.strong(subject === null ? topic : `${topic} ${subject}`)}: ${what}\n`
  return next === null ? head : `${head}${' '.repeat(width)}→ ${next}\n`
}

/** Names the parts of the manual about findings that need a person. */
function moreLine(findings: readonly DoctorFinding[]): string {
  const parts = new Set(findings.filter(isForPerson).map(({ topic }) => manualParts[topic]))
  return parts.size === 0 ? '' : `More: ${[...parts].map((part) => `gatehouse manual ${part}`).join(', ')}\n`
}

const isForPerson = ({ verdict }: DoctorFinding): boolean => verdict === 'change' || verdict === 'bad'

function lastLine(ok: boolean, findings: readonly DoctorFinding[], all: boolean, paint: Paint): string {
  const count = (...verdicts: DoctorVerdict[]) => findings.filter(({ verdict }) => verdicts.includes(verdict)).length
  const asides = [
    ...(count('note') > 0 ? [counted(count('note'), 'note')] : []),
    ...(count('unknown') > 0 ? [`${count('unknown')} unknown`] : []),
  ].join(', ')
  const rest = asides === '' ? '' : ` (${asides}${all ? '' : '; --all shows them'})`
  if (ok) return `${paint.good(`All is well: ${counted(findings.length, 'check')}${rest}.`)}\n`
  return `${paint.bad(`${count('change', 'bad')} of ${counted(findings.length, 'check')} need you${rest}.`)}\n`
}
