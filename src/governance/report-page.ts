import { printedPagePolicy } from '../http/index.ts'
import { escapedMarkup } from '../platform/index.ts'
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

/** Returns a compliance report as one page of HTML, to read and to print, without a script and without other files. */
export function reportPage(report: Report, { siteId, warehouses }: Place): string {
  const timeZone = warehouses[0]?.timezone ?? 'UTC'
  const time = timesIn(timeZone)
  const names = warehouses.map(({ name }) => name).join(', ')
  const isMixed = warehouses.some((one) => one.timezone !== timeZone)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Compliance report ${report.id}: ${escapedMarkup(siteId)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Compliance report ${report.id}</h1>
<p>${escapedMarkup(siteId)}${names === '' ? '' : `: ${escapedMarkup(names)}`}</p>
<p>From ${time(report.from)} to before ${time(report.to)}</p>
<p>Times are in the zone ${escapedMarkup(timeZone)}${isMixed ? ', that of the first warehouse' : ''}. Made by ${escapedMarkup(report.createdBy)} on ${time(report.createdAt)}.</p>
</header>
<main>
${figures(report)}
${evidenceSection(report, time)}
${gapsSection(report, time)}
${clockSection(report, time)}
${ledgerSection(report)}
${discrepancySection(report, time)}
${fileSection(report)}
</main>
<footer>The figures are made from the first ${report.checkpoint.size} leaves of log ${escapedMarkup(report.checkpoint.logId)}. The file of this report has the SHA-256 <code>${report.file.sha256}</code>, which is leaf ${report.seq} of the log. This page is a view of it.</footer>
</body>
</html>
`
}

type Times = (iso: string) => string

/** Returns a function that writes a time with date, seconds and zone. */
function timesIn(timeZone: string): Times {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  })
  return (iso) => escapedMarkup(format.format(new Date(iso)))
}

/** Returns from when on the gateway has a record of its period; null: of none of it; undefined: the report does not tell. */
function recordedFrom({ clock, from }: Pick<Report, 'clock' | 'from'>): string | null | undefined {
  if (!clock) return undefined
  if (clock.until <= from) return null
  if (clock.atStart) return from
  return clock.changeCount > clock.changes.length ? undefined : (clock.changes[0]?.at ?? null)
}

function figures(report: Report): string {
  const { counts, evidence, gaps, clock } = report
  const isKnown = recordedFrom(report) !== null
  const items: [number | string, string][] = [
    [counts.events.total, 'events recorded'],
    [evidence ? evidence.events.recorded : '–', 'of them not signed'],
    [counts.discrepancies.total, 'discrepancies'],
    [gaps && (isKnown || gaps.count > 0) ? gaps.count : '–', 'camera gaps'],
    [clock && isKnown ? clock.stepCount : '–', 'steps of the clock'],
    [counts.incidents.opened, 'incidents reported'],
  ]
  return `<ul class="figures">${items.map(([n, words]) => `<li><strong>${n}</strong>${words}</li>`).join('')}</ul>`
}

function evidenceSection({ evidence }: Report, time: Times): string {
  if (!evidence) return section('Evidence', '<p>This report is of an earlier gateway, which did not say it.</p>')
  const { events, oldestUnsigned, checkpoint, asksWitnesses } = evidence
  const rows = [
    row('Recorded only', events.recorded, 'on the disk of the gateway; no signature covers it yet'),
    row('Signed', events.signed, 'a signed checkpoint of the log covers it'),
    row('Witnessed', events.witnessed, 'another machine has cosigned the log with it'),
    row('Timestamped', events.timestamped, 'a time stamp authority has stamped the log with it'),
  ]
  const unsigned = oldestUnsigned
    ? `<p class="warn">The oldest event that is not signed is event ${oldestUnsigned.eventId} of ${time(oldestUnsigned.timestamp)}.</p>`
    : '<p class="good">Every event of this period is covered by a signed checkpoint.</p>'
  return section(
    'Evidence',
    `${unsigned}
<p>Each event of the period is counted once, at the highest state that it had reached when this report was made.${asksWitnesses ? '' : ' No witness was configured.'}</p>
<table><tbody>${rows.join('')}</tbody></table>
${checkpoint ? checkpointPart(checkpoint, time) : '<p class="warn">No checkpoint could be signed for this report: the ledger did not match what had been signed before.</p>'}`,
  )
}

function checkpointPart(checkpoint: NonNullable<NonNullable<Report['evidence']>['checkpoint']>, time: Times): string {
  const { size, rootHash, signedAt, matches, witnesses, timestampedAt, note } = checkpoint
  const seen = witnesses.map(({ name, at }) => `${escapedMarkup(name)} at ${time(at)}`).join('<br>')
  return `<h2>Checkpoint made for this report</h2>
${matches ? '' : '<p class="warn">The leaves of the log do not give the root that was signed. The ledger was changed.</p>'}
<table><tbody>
<tr><th scope="row">Leaves</th><td>${size}</td></tr>
<tr><th scope="row">Root</th><td><code>${escapedMarkup(rootHash)}</code></td></tr>
<tr><th scope="row">Signed</th><td>${time(signedAt)}</td></tr>
<tr><th scope="row">Witnesses since then</th><td>${seen === '' ? 'none' : seen}</td></tr>
<tr><th scope="row">Time stamp since then</th><td>${timestampedAt === null ? 'none' : time(timestampedAt)}</td></tr>
</tbody></table>
<pre>${escapedMarkup(note)}</pre>`
}

const noRecord = (of: string): string =>
  `<p class="warn">Nothing is known of ${of} in this period: the gateway has no record of that time.</p>`

/** Says where the record of a gateway begins in the middle of a period. */
function recordBegins(report: Report, time: Times): string {
  const from = recordedFrom(report)
  return !from || from === report.from
    ? ''
    : `<p class="warn">Nothing is known of the time before ${time(from)}: there the record of the gateway begins.</p>`
}

function gapsSection(report: Report, time: Times): string {
  const { gaps } = report
  if (!gaps) return section('Camera gaps', '<p>This report is of an earlier gateway, which did not say it.</p>')
  const begins = recordBegins(report, time)
  if (gaps.count === 0 && recordedFrom(report) === null) return section('Camera gaps', noRecord('the cameras'))
  if (gaps.count === 0 && begins !== '')
    return section('Camera gaps', `${begins}<p>No gap was recorded after that.</p>`)
  if (gaps.count === 0) return section('Camera gaps', '<p class="good">No camera had a gap in this period.</p>')
  const { longest, lasting } = gaps
  const causes = Object.entries(gaps.byCause).map(([cause, one]) =>
    row(cause.replaceAll('_', ' '), one.count, duration(one.seconds)),
  )
  return section(
    'Camera gaps',
    `${begins}
<p>${gaps.count} ${gaps.count === 1 ? 'time' : 'times'} a camera did not watch, ${duration(gaps.seconds)} together, over all cameras.
${longest ? `The longest lasted ${duration(longest.seconds)} of this period: from ${time(longest.from)} to ${longest.to === null ? 'when this report was made' : time(longest.to)}, ${escapedMarkup(longest.cause.replaceAll('_', ' '))}.` : ''}</p>
${lasting.length > 0 ? `<p class="warn">${lasting.length} had not ended when this report was made.</p>` : ''}
<table><thead><tr><th scope="col">Cause</th><th scope="col" class="n">Gaps</th><th scope="col">Time</th></tr></thead><tbody>${causes.join('')}</tbody></table>`,
  )
}

function clockSection(report: Report, time: Times): string {
  const { clock, to } = report
  if (!clock) return section('Clock', '<p>This report is of an earlier gateway, which did not say it.</p>')
  if (recordedFrom(report) === null) return section('Clock', noRecord('the clock'))
  const spans = untrusted(clock, to)
  const states = Object.entries(clock.seconds).map(([state, seconds]) =>
    row(clockWords[state] ?? state, duration(seconds), ''),
  )
  const steps = clock.steps.map(
    ({ at, byMs, cause }) =>
      `<tr><td>${time(at)}</td><td class="n">${byMs > 0 ? '+' : '−'}${duration(Math.abs(byMs) / 1000)}</td><td>${escapedMarkup(cause.replaceAll('_', ' '))}</td></tr>`,
  )
  const uncertain = spans.map(
    ({ from, until, state }) =>
      `<tr><td>${time(from)}</td><td>${time(until)}</td><td>${escapedMarkup(clockWords[state] ?? state)}</td></tr>`,
  )
  const more = clock.changeCount > clock.changes.length || clock.stepCount > clock.steps.length
  return section(
    'Clock',
    `${recordBegins(report, time)}
<table><tbody>${states.join('')}</tbody></table>
${uncertain.length === 0 ? '' : `<h2>When the clock was not known to be right</h2><table><thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">State</th></tr></thead><tbody>${uncertain.join('')}</tbody></table>`}
${steps.length === 0 ? '<p class="good">The clock was not set by more than 2 s.</p>' : `<h2>When the clock was set by more than 2 s</h2><table><thead><tr><th scope="col">New time</th><th scope="col" class="n">By</th><th scope="col">Cause</th></tr></thead><tbody>${steps.join('')}</tbody></table>`}
${more ? '<p>Only the newest thousand are listed.</p>' : ''}`,
  )
}

const clockWords: Readonly<Record<string, string>> = {
  synchronized: 'Synchronized, says a time service',
  unsynchronized: 'Not synchronized, says a time service',
  unknown: 'No time service answered',
  stopped: 'The gateway did not run',
}

/** Returns the spans in which no time service called the clock synchronized, as far as changes are listed. */
function untrusted(clock: NonNullable<Report['clock']>, to: string) {
  const all = [...(clock.atStart ? [clock.atStart] : []), ...clock.changes]
  const end = clock.until < to ? clock.until : to
  return all.flatMap(({ at, state }, i) =>
    state === 'synchronized' ? [] : [{ from: at, until: all[i + 1]?.at ?? end, state }],
  )
}

function ledgerSection({ counts, selfVerifications }: Report): string {
  const { events, slots, detections, incidents, units } = counts
  const named = (title: string, of: Readonly<Record<string, number>>) =>
    Object.entries(of).map(([name, n]) => row(`${title}: ${name.replaceAll('_', ' ')}`, n, ''))
  const rows = [
    ...named('Events', events.byType),
    row('Recorded late', events.late, 'over 5 minutes after they happened, or behind others'),
    row('Time not synchronized', events.unsynced, ''),
    row('Corrections', events.corrections, 'events that correct others'),
    row('Photos that the gateway holds', events.photos.held, ''),
    row('Photos that a client names', events.photos.claimed, 'the gateway has no copy'),
    row('People', events.operators, 'who recorded'),
    ...selfVerifications.map(({ person, count }) => row('Verified the own placement', count, person)),
    row('Slots occupied at the end', slots.occupied, `${slots.verified} verified, ${slots.disputed} disputed`),
    row('Detections of motion', detections.total, ''),
    ...named('Clips', detections.byClipStatus),
    row('Incidents reported', incidents.opened, `${incidents.resolved} resolved in the period`),
    row('Transport units registered', units.created, ''),
  ]
  return section('What was recorded', `<table><tbody>${rows.join('')}</tbody></table>`)
}

function discrepancySection({ discrepancies, counts }: Report, time: Times): string {
  const { total } = counts.discrepancies
  if (total === 0) return section('Discrepancies', '<p class="good">None.</p>')
  const rows = discrepancies.map(
    ({ timestamp, code, eventId, slot, assetBarcode }) =>
      `<tr><td>${time(timestamp)}</td><td>${escapedMarkup(code)}</td><td>${escapedMarkup(slot)}</td><td>${escapedMarkup(assetBarcode)}</td><td class="n">${eventId}</td></tr>`,
  )
  return section(
    'Discrepancies',
    `<p>${total} in this period${total > rows.length ? `; the first ${rows.length} are listed here, more are in the file` : ''}.</p>
<table><thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col">Slot</th><th scope="col">Pallet</th><th scope="col" class="n">Event</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}

function fileSection({ file, id }: Report): string {
  return section(
    'How to check this report',
    `<p>Fetch the file of report ${id} (<code>${escapedMarkup(file.url)}</code>) and compare its SHA-256 with the one below. <code>gatehouse ledger verify</code> compares it with the leaf of the log. Compare the checkpoint above with one that somebody else has kept: a witness, a receiver of webhooks, an earlier report.</p>`,
  )
}

const section = (title: string, content: string): string => `<section><h2>${title}</h2>${content}</section>`

const row = (title: string, value: number | string, words: string): string =>
  `<tr><th scope="row">${escapedMarkup(title)}</th><td class="n">${escapedMarkup(String(value))}</td><td>${escapedMarkup(words)}</td></tr>`

/** Returns a length of time in at most two units, such as `2 h 5 min`. */
function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const
  const first = parts.findIndex(([n]) => n > 0)
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ')
}
