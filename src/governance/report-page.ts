import { type PageLanguage, printedPagePolicy } from '../http/index.ts'
import { escapedMarkup } from '../platform/index.ts'
import { type ReportTexts, reportPageTexts } from './report-page-texts.ts'
import type { Report } from './schema.ts'

const style = `
@page { size: A4; margin: 14mm 12mm 16mm }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 10mm 8mm; max-width: 200mm; color: #13202b; background: #fff; font: 11pt/1.45 system-ui, "Liberation Sans", Arial, sans-serif }
header { padding-bottom: 4mm; border-bottom: .8mm solid #084f64 }
header p { margin: 1mm 0 0; color: #44525e }
h1 { margin: 0; font-size: 21pt; line-height: 1.15 }
h2 { margin: 8mm 0 2mm; font-size: 13pt; break-after: avoid }
p { margin: 0 0 2mm }
.figures { display: flex; flex-wrap: wrap; gap: 3mm; margin: 5mm 0 0; padding: 0; list-style: none }
.figures li { flex: 1 1 36mm; padding: 2.5mm 3mm; border: .3mm solid #d3dce3; border-radius: 2mm }
.figures strong { display: block; font-size: 17pt; line-height: 1.2; font-variant-numeric: tabular-nums }
.warn { padding: 2.5mm 3mm; border-left: 1.4mm solid #8a4b00; background: #fdf0d5 }
.good { padding: 2.5mm 3mm; border-left: 1.4mm solid #0b5237; background: #e9f6ef }
table { width: 100%; border-collapse: collapse; font-size: 10pt }
thead { display: table-header-group }
tr { break-inside: avoid }
th, td { padding: 1.2mm 2mm 1.2mm 0; border-bottom: .2mm solid #d3dce3; text-align: left; vertical-align: top; overflow-wrap: anywhere }
th { font-weight: 600; color: #44525e }
tbody th { width: 46mm }
.n { width: 26mm; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code, pre { font: 8.5pt/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
pre { margin: 2mm 0 0; padding: 2.5mm; white-space: pre-wrap; background: #f4f7f9 }
footer { margin-top: 9mm; padding-top: 3mm; border-top: .3mm solid #d3dce3; color: #44525e; font-size: 9pt }
@media print { body { padding: 0; max-width: none } .warn, .good, pre { print-color-adjust: exact } }
`

export const reportPolicy = printedPagePolicy(style)

type Place = {
  readonly siteId: string
  /** Those that the report covers, as far as they still exist. */
  readonly warehouses: readonly { readonly id: number; readonly name: string; readonly timezone: string }[]
}

/** A report, and how its page writes it. Both functions return markup. */
type Page = {
  readonly report: Report
  readonly words: ReportTexts
  /** Writes a time with date, seconds and zone. */
  readonly time: (iso: string) => string
  /** Writes a length of time in at most two units, such as `2 h 5 min`. */
  readonly lasting: (seconds: number) => string
}

/** Returns a compliance report as one page of HTML, to read and to print, without a script and without other files. */
export function reportPage(report: Report, { siteId, warehouses }: Place, language: PageLanguage): string {
  const words = reportPageTexts[language]
  const timeZone = warehouses[0]?.timezone ?? 'UTC'
  const time = timesIn(timeZone, words)
  const page = { report, words, time, lasting: lastingIn(words) }
  const names = warehouses.map(({ name }) => name).join(', ')
  const isMixed = warehouses.some((one) => one.timezone !== timeZone)
  const { checkpoint, file, seq } = report
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${words.title(report.id)}: ${escapedMarkup(siteId)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${words.title(report.id)}</h1>
<p>${escapedMarkup(siteId)}${names === '' ? '' : `: ${escapedMarkup(names)}`}</p>
<p>${words.span(time(report.from), time(report.to))}</p>
<p>${words.zone(escapedMarkup(timeZone), isMixed)} ${words.made(escapedMarkup(report.createdBy), time(report.createdAt))}</p>
</header>
<main>
${figures(page)}
${evidenceSection(page)}
${gapsSection(page)}
${clockSection(page)}
${ledgerSection(page)}
${discrepancySection(page)}
${fileSection(page)}
</main>
<footer>${words.footer(checkpoint.size, escapedMarkup(checkpoint.logId), `<code>${file.sha256}</code>`, seq)}</footer>
</body>
</html>
`
}

function timesIn(timeZone: string, { locale }: ReportTexts): Page['time'] {
  const format = new Intl.DateTimeFormat(locale, {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
  return (iso) => escapedMarkup(format.format(new Date(iso)))
}

/** Returns the start of the gateway's record of its period; null: it has none; undefined: the report does not state it. */
function recordedFrom({ clock, from }: Pick<Report, 'clock' | 'from'>): string | null | undefined {
  if (!clock) return undefined
  if (clock.until <= from) return null
  if (clock.atStart) return from
  return clock.changeCount > clock.changes.length ? undefined : (clock.changes[0]?.at ?? null)
}

function figures({ report, words }: Page): string {
  const { counts, evidence, gaps, clock } = report
  const isKnown = recordedFrom(report) !== null
  const items: [number | string, string][] = [
    [counts.events.total, words.figures.events],
    [evidence ? evidence.events.recorded : '–', words.figures.unsigned],
    [counts.discrepancies.total, words.figures.discrepancies],
    [gaps && (isKnown || gaps.count > 0) ? gaps.count : '–', words.figures.gaps],
    [clock && isKnown ? clock.stepCount : '–', words.figures.steps],
    [counts.incidents.opened, words.figures.incidents],
  ]
  return `<ul class="figures">${items.map(([n, what]) => `<li><strong>${n}</strong>${what}</li>`).join('')}</ul>`
}

function evidenceSection({ report: { evidence }, words, time }: Page): string {
  const { title, ...of } = words.evidence
  if (!evidence) return section(title, `<p>${words.earlier}</p>`)
  const { events, oldestUnsigned, checkpoint, asksWitnesses } = evidence
  const states = ['recorded', 'signed', 'witnessed', 'timestamped'] as const
  const rows = states.map((state) => row(of[state][0], events[state], of[state][1]))
  const unsigned = oldestUnsigned
    ? `<p class="warn">${of.oldest(oldestUnsigned.eventId, time(oldestUnsigned.timestamp))}</p>`
    : `<p class="good">${of.allSigned}</p>`
  return section(
    title,
    `${unsigned}
<p>${of.counted}${asksWitnesses ? '' : ` ${of.noWitness}`}</p>
<table><tbody>${rows.join('')}</tbody></table>
${checkpoint ? checkpointPart(checkpoint, words, time) : `<p class="warn">${of.notSigned}</p>`}`,
  )
}

function checkpointPart(
  checkpoint: NonNullable<NonNullable<Report['evidence']>['checkpoint']>,
  { checkpoint: words, none }: ReportTexts,
  time: Page['time'],
): string {
  const { size, rootHash, signedAt, matches, witnesses, timestampedAt, note } = checkpoint
  const seen = witnesses.map(({ name, at }) => words.seen(escapedMarkup(name), time(at))).join('<br>')
  return `<h2>${words.title}</h2>
${matches ? '' : `<p class="warn">${words.mismatch}</p>`}
<table><tbody>
<tr><th scope="row">${words.leaves}</th><td>${size}</td></tr>
<tr><th scope="row">${words.root}</th><td><code>${escapedMarkup(rootHash)}</code></td></tr>
<tr><th scope="row">${words.signed}</th><td>${time(signedAt)}</td></tr>
<tr><th scope="row">${words.witnesses}</th><td>${seen === '' ? none : seen}</td></tr>
<tr><th scope="row">${words.stamp}</th><td>${timestampedAt === null ? none : time(timestampedAt)}</td></tr>
</tbody></table>
<pre>${escapedMarkup(note)}</pre>`
}

/** Says where the record of a gateway begins in the middle of a period. */
function recordBegins({ report, words, time }: Page): string {
  const from = recordedFrom(report)
  return !from || from === report.from ? '' : `<p class="warn">${words.recordBegins(time(from))}</p>`
}

function gapsSection(page: Page): string {
  const { report, words, time, lasting } = page
  const { gaps } = report
  const { title, ...of } = words.gaps
  if (!gaps) return section(title, `<p>${words.earlier}</p>`)
  const begins = recordBegins(page)
  if (gaps.count === 0 && recordedFrom(report) === null)
    return section(title, `<p class="warn">${words.noRecordOfCameras}</p>`)
  if (gaps.count === 0 && begins !== '') return section(title, `${begins}<p>${of.noneAfter}</p>`)
  if (gaps.count === 0) return section(title, `<p class="good">${of.none}</p>`)
  const { longest } = gaps
  const causeOf = (cause: string) => nameIn(of.causes, cause)
  const causes = Object.entries(gaps.byCause).map(([cause, one]) =>
    row(causeOf(cause), one.count, lasting(one.seconds)),
  )
  const until = longest?.to ? time(longest.to) : of.untilMade
  return section(
    title,
    `${begins}
<p>${of.sum(gaps.count, lasting(gaps.seconds))}
${longest ? of.longest(lasting(longest.seconds), time(longest.from), until, escapedMarkup(causeOf(longest.cause))) : ''}</p>
${gaps.lasting.length > 0 ? `<p class="warn">${of.lasting(gaps.lasting.length)}</p>` : ''}
${table(of.columns, causes, 1)}`,
  )
}

function clockSection(page: Page): string {
  const { report, words, time, lasting } = page
  const { clock, to } = report
  const { title, ...of } = words.clock
  if (!clock) return section(title, `<p>${words.earlier}</p>`)
  if (recordedFrom(report) === null) return section(title, `<p class="warn">${words.noRecordOfClock}</p>`)
  const states = Object.entries(clock.seconds).map(([state, seconds]) =>
    row(nameIn(of.states, state), lasting(seconds), ''),
  )
  const steps = clock.steps.map(
    ({ at, byMs, cause }) =>
      `<tr><td>${time(at)}</td><td class="n">${byMs > 0 ? '+' : '−'}${lasting(Math.abs(byMs) / 1000)}</td><td>${escapedMarkup(nameIn(of.causes, cause))}</td></tr>`,
  )
  const uncertain = untrusted(clock, to).map(
    ({ from, until, state }) =>
      `<tr><td>${time(from)}</td><td>${time(until)}</td><td>${escapedMarkup(nameIn(of.states, state))}</td></tr>`,
  )
  const isMore = clock.changeCount > clock.changes.length || clock.stepCount > clock.steps.length
  return section(
    title,
    `${recordBegins(page)}
<table><tbody>${states.join('')}</tbody></table>
${uncertain.length === 0 ? '' : `<h2>${of.uncertain}</h2>${table(of.uncertainColumns, uncertain)}`}
${steps.length === 0 ? `<p class="good">${of.notSet}</p>` : `<h2>${of.steps}</h2>${table(of.stepColumns, steps, 1)}`}
${isMore ? `<p>${of.more}</p>` : ''}`,
  )
}

/** Returns the spans in which no time service called the clock synchronized, as far as changes are listed. */
function untrusted(clock: NonNullable<Report['clock']>, to: string) {
  const all = [...(clock.atStart ? [clock.atStart] : []), ...clock.changes]
  const end = clock.until < to ? clock.until : to
  return all.flatMap(({ at, state }, i) =>
    state === 'synchronized' ? [] : [{ from: at, until: all[i + 1]?.at ?? end, state }],
  )
}

function ledgerSection({ report: { counts, selfVerifications }, words }: Page): string {
  const { events, slots, detections, incidents, units } = counts
  const { title, ...of } = words.recorded
  const rows = [
    ...Object.entries(events.byType).map(([type, n]) => row(nameIn(of.events, type), n, '')),
    row(of.late[0], events.late, of.late[1]),
    row(of.unsynced, events.unsynced, ''),
    row(of.corrections[0], events.corrections, of.corrections[1]),
    row(of.held, events.photos.held, ''),
    row(of.claimed[0], events.photos.claimed, of.claimed[1]),
    row(of.people[0], events.operators, of.people[1]),
    ...selfVerifications.map(({ person, count }) => row(of.ownVerified, count, person)),
    row(of.occupied, slots.occupied, of.judged(slots.verified, slots.disputed)),
    row(of.detections, detections.total, ''),
    ...Object.entries(detections.byClipStatus).map(([status, n]) => row(nameIn(of.clips, status), n, '')),
    row(of.incidents, incidents.opened, of.resolved(incidents.resolved)),
    row(of.units, units.created, ''),
  ]
  return section(title, `<table><tbody>${rows.join('')}</tbody></table>`)
}

function discrepancySection({ report: { discrepancies, counts }, words, time }: Page): string {
  const { total } = counts.discrepancies
  const { title, ...of } = words.discrepancies
  if (total === 0) return section(title, `<p class="good">${of.none}</p>`)
  const rows = discrepancies.map(
    ({ timestamp, code, eventId, slot, assetBarcode }) =>
      `<tr><td>${time(timestamp)}</td><td>${escapedMarkup(nameIn(of.codes, code))}</td><td>${escapedMarkup(slot)}</td><td>${escapedMarkup(assetBarcode)}</td><td class="n">${eventId}</td></tr>`,
  )
  return section(title, `<p>${of.count(total, rows.length)}</p>\n${table(of.columns, rows, 4)}`)
}

function fileSection({ report: { file, id }, words }: Page): string {
  const { title, how } = words.check
  const url = `<code>${escapedMarkup(file.url)}</code>`
  return section(title, `<p>${how(id, url, '<code>gatehouse ledger verify</code>')}</p>`)
}

/** Returns the word for a name of the report; unknown names are returned as they are written there. */
const nameIn = (names: Readonly<Record<string, string>>, name: string): string =>
  (Object.hasOwn(names, name) ? names[name] : undefined) ?? name.replaceAll('_', ' ')

const section = (title: string, content: string): string => `<section><h2>${title}</h2>${content}</section>`

/** `numbers`: the column that has them. */
const table = (columns: readonly string[], rows: readonly string[], numbers?: number): string =>
  `<table><thead><tr>${columns.map((name, i) => `<th scope="col"${i === numbers ? ' class="n"' : ''}>${name}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`

const row = (title: string, value: number | string, words: string): string =>
  `<tr><th scope="row">${escapedMarkup(title)}</th><td class="n">${escapedMarkup(String(value))}</td><td>${escapedMarkup(words)}</td></tr>`

function lastingIn({ locale, units }: ReportTexts): Page['lasting'] {
  const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  return (seconds) => {
    if (seconds < 60) return `${tenths.format(seconds)} ${units.s}`
    const parts = [
      [Math.floor(seconds / 86_400), units.d],
      [Math.floor(seconds / 3600) % 24, units.h],
      [Math.floor(seconds / 60) % 60, units.min],
      [Math.floor(seconds) % 60, units.s],
    ] as const
    const first = parts.findIndex(([n]) => n > 0)
    return parts
      .slice(first, first + 2)
      .filter(([n]) => n > 0)
      .map(([n, unit]) => `${n} ${unit}`)
      .join(' ')
  }
}
