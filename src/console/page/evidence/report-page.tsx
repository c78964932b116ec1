import { get } from '../data/api.ts'
import { Refused } from '../data/ask.ts'
import { useLive } from '../data/use-live.ts'
import { language } from '../i18n/language.ts'
import { lasting, moment } from '../i18n/moments.ts'
import { Said } from '../i18n/said.tsx'
import { causeWords } from '../i18n/story-words.ts'
import { texts } from '../i18n/texts.ts'
import { Frame, useActs } from '../kit/acts.tsx'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { Fact } from '../proof/move.tsx'
import { reportTexts as words } from './report-texts.ts'

export const reportsApi = '/api/governance/reports'

export type ReportItem = {
  readonly id: number
  readonly from: string
  readonly to: string
  readonly createdBy: string
  readonly createdAt: string
}

type State = 'recorded' | 'signed' | 'witnessed' | 'timestamped'

type Report = ReportItem & {
  readonly checkpoint: { readonly size: number }
  readonly file: { readonly sha256: string }
  readonly counts: {
    readonly events: {
      readonly total: number
      readonly late: number
      readonly corrections: number
      readonly photos: { readonly held: number }
      readonly operators: number
    }
    readonly slots: { readonly unverified: number; readonly disputed: number }
    readonly detections: { readonly total: number }
    readonly incidents: { readonly opened: number; readonly resolved: number }
    readonly units: { readonly created: number }
    readonly discrepancies: { readonly total: number }
  }
  readonly evidence: {
    readonly events: Readonly<Record<State, number>>
    readonly oldestUnsigned: { readonly eventId: number; readonly timestamp: string } | null
    readonly asksWitnesses: boolean
    readonly checkpoint: {
      readonly size: number
      readonly signedAt: string
      readonly matches: boolean
      readonly witnesses: readonly { readonly name: string; readonly at: string }[]
      readonly timestampedAt: string | null
    } | null
  } | null
  readonly clock: {
    readonly atStart: object | null
    readonly changes: readonly { readonly at: string }[]
    readonly until: string
  } | null
  readonly gaps: {
    readonly count: number
    readonly seconds: number
    readonly longest: { readonly cause: string; readonly seconds: number } | null
  } | null
}

type Answer = { readonly report: Report | undefined; readonly timeZone: string | undefined }

/** One report: its period, how far it is secured by now, what it counts, and its page to print. */
export const ReportPage = ({ id, siteId, caller, onLeft }: ViewProps & { id: string }) => {
  const { answer, problem, reload } = useLive(
    () => load(id),
    [],
    () => onLeft(texts.signedOut),
  )
  const acts = useActs(onLeft, reload)
  const report = answer?.report
  return (
    <Frame
      {...{ siteId, caller, onLeft, acts }}
      here="reports"
      back={{ to: '/reports', words: words.back }}
      name={words.one(Number(id))}
      trouble={problem}
      status={answer ? '' : texts.loading}
    >
      {answer && !report ? <p class="card">{words.noSuch}</p> : null}
      {answer && report ? (
        <div class="unit-page">
          <div class="unit-side">
            <Facts report={report} timeZone={answer.timeZone} />
            <Secured report={report} timeZone={answer.timeZone} />
          </div>
          <div class="unit-side">
            <Numbers report={report} />
            {report.gaps === null ? null : <Gaps gaps={report.gaps} isKnown={hasRecord(report)} />}
          </div>
        </div>
      ) : null}
    </Frame>
  )
}

async function load(id: string): Promise<Answer> {
  const [report, warehouses] = await Promise.all([
    get('/api/governance/reports/{id}', { id }).catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined
      throw error
    }),
    get('/api/whms/warehouses', {}),
  ])
  return { report, timeZone: warehouses.data[0]?.timezone }
}

type Props = { report: Report; timeZone: string | undefined }

const Facts = ({ report, timeZone }: Props) => (
  <section class="card report-facts" aria-labelledby="report-facts">
    <h2 id="report-facts">{words.facts}</h2>
    <dl class="facts">
      <Fact name={words.period} value={words.span(moment(report.from, timeZone), moment(report.to, timeZone))} />
      <Fact name={words.log} value={words.leaves(report.checkpoint.size)} />
      <Fact name={words.sha256} value={report.file.sha256} />
    </dl>
    <p class="muted">{words.by(report.createdBy, moment(report.createdAt, timeZone))}</p>
    <a
      class="button strong"
      href={`${reportsApi}/${report.id}?format=html&language=${language}`}
      target="_blank"
      rel="noopener"
    >
      <Icon name="print" /> {words.open}
    </a>
    <a class="button" href={`${reportsApi}/${report.id}/file`} download={`report-${report.id}.json`}>
      <Icon name="proof" /> {words.file}
    </a>
  </section>
)

const states: readonly State[] = ['timestamped', 'witnessed', 'signed', 'recorded']

const Secured = ({ report: { evidence }, timeZone }: Props) => (
  <section class="card" aria-labelledby="report-secured">
    <h2 id="report-secured">
      <Icon name="proof" /> {words.secured}
    </h2>
    {evidence === null ? (
      <p>{words.older}</p>
    ) : (
      <>
        <dl class="facts wide-names">
          {states.map((state) => (
            <Fact key={state} name={words.states[state]} value={String(evidence.events[state])} />
          ))}
        </dl>
        <SignedBy evidence={evidence} timeZone={timeZone} />
        {evidence.oldestUnsigned === null ? null : (
          <p class="problem">
            {words.oldest(evidence.oldestUnsigned.eventId, moment(evidence.oldestUnsigned.timestamp, timeZone))}
          </p>
        )}
      </>
    )}
  </section>
)

type SignedProps = { evidence: NonNullable<Report['evidence']>; timeZone: string | undefined }

const SignedBy = ({ evidence: { checkpoint, asksWitnesses }, timeZone }: SignedProps) => {
  if (checkpoint === null) return <p class="problem">{words.notSigned}</p>
  const { witnesses, timestampedAt } = checkpoint
  return (
    <ul class="goods-rows">
      <li>{words.signedAt(moment(checkpoint.signedAt, timeZone), checkpoint.size)}</li>
      {checkpoint.matches ? null : <li class="problem">{words.mismatch}</li>}
      {witnesses.map(({ name, at }) => (
        <li key={name}>{words.witness(name, moment(at, timeZone))}</li>
      ))}
      {witnesses.length > 0 ? null : <li>{asksWitnesses ? words.noWitness : words.noWitnesses}</li>}
      <li>{timestampedAt === null ? words.notStamped : words.stampedAt(moment(timestampedAt, timeZone))}</li>
    </ul>
  )
}

const Numbers = ({ report: { counts } }: { report: Report }) => {
  const { events, slots } = counts
  const rows: readonly [keyof typeof words.counts, number][] = [
    ['events', events.total],
    ['late', events.late],
    ['corrections', events.corrections],
    ['photos', events.photos.held],
    ['people', events.operators],
    ['detections', counts.detections.total],
    ['incidents', counts.incidents.opened],
    ['resolved', counts.incidents.resolved],
    ['units', counts.units.created],
    ['discrepancies', counts.discrepancies.total],
    ['unverified', slots.unverified],
    ['disputed', slots.disputed],
  ]
  return (
    <section class="card" aria-labelledby="report-numbers">
      <h2 id="report-numbers">{words.numbers}</h2>
      <dl class="facts wide-names">
        {rows.map(([name, value]) => (
          <Fact key={name} name={words.counts[name]} value={String(value)} />
        ))}
      </dl>
    </section>
  )
}

/** Whether the gateway has a record of the period. Reports of earlier gateways do not tell. */
const hasRecord = ({ clock, from }: Report): boolean =>
  !clock || (clock.until > from && (clock.atStart !== null || clock.changes.length > 0))

const Gaps = ({ gaps, isKnown }: { gaps: NonNullable<Report['gaps']>; isKnown: boolean }) => (
  <section class="card" aria-labelledby="report-gaps">
    <h2 id="report-gaps">{words.gaps}</h2>
    <p>
      {gaps.count > 0
        ? words.gapsOf(gaps.count, lasting(gaps.seconds * 1000))
        : isKnown
          ? words.noGaps
          : words.noRecord}
    </p>
    {gaps.longest === null ? null : (
      <p>
        <Said
          words={words.longest(
            lasting(gaps.longest.seconds * 1000),
            causeWords({ cause: gaps.longest.cause, detail: null }),
          )}
        />
      </p>
    )}
  </section>
)
