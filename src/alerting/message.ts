import type { TemplateValues } from '../config/index.ts'
import type { AlertOut } from '../webhooks/index.ts'

/** More alerts than this are counted in a message, not listed. */
const mostListed = 20
/** So many alerts of a message have a separate link. */
const mostLinks = 10
const titleLength = 160

/** One alert as a recipient may read it. */
export type Line = {
  readonly alert: Pick<AlertOut, 'kind' | 'createdAt' | 'resolvedAt' | 'severity'>
  readonly text: string
  /** Opens the page that acknowledges it; undefined where the recipient may not, or it is over. */
  readonly link: string | undefined
}

export type Content = {
  readonly messageId: string
  readonly about: 'raised' | 'resolved' | 'test'
  readonly siteId: string
  /** Address of all alerts. */
  readonly allAlerts: string
  /** Time without acknowledgement, in words; undefined where the message is no escalation. */
  readonly unacknowledgedFor: string | undefined
  readonly lines: readonly Line[]
}

export type Message = TemplateValues & {
  /** `text` with a link below each alert, for e-mail. */
  readonly linkedText: string
  readonly isUrgent: boolean
  /** The link of the only alert. */
  readonly acknowledge: string | undefined
}

/** Writes a message about alerts. Pure. */
export function messageOf(content: Content): Message {
  const { messageId, about, siteId, lines, allAlerts } = content
  const [first] = lines
  const isUrgent = lines.some(({ alert }) => alert.severity === 'critical')
  const only = lines.length === 1 ? first?.link : undefined
  return {
    id: messageId,
    event: about,
    title: titleOf(content),
    text: textOf(content, false),
    severity: isUrgent ? 'critical' : 'warning',
    kind: first?.alert.kind ?? 'test',
    count: String(lines.length),
    site: siteId,
    time: first?.alert.createdAt ?? '',
    link: only ?? allAlerts,
    linkedText: textOf(content, true),
    isUrgent: isUrgent && about === 'raised',
    acknowledge: only,
  }
}

function titleOf({ siteId, about, lines, unacknowledgedFor }: Content): string {
  if (about === 'test') return `${siteId}: test of alerts`
  const what = about === 'resolved' ? 'over: ' : unacknowledgedFor === undefined ? '' : 'not acknowledged: '
  const [first] = lines
  const text = lines.length === 1 ? (first?.text ?? '') : `${lines.length} alerts`
  return shortened(`${siteId}: ${what}${text}`.replace(/\s+/g, ' '), titleLength)
}

function textOf({ about, lines, unacknowledgedFor, allAlerts }: Content, isLinked: boolean): string {
  if (about === 'test') return 'This is a test. Messages about alerts arrive here.'
  const begin = unacknowledgedFor === undefined ? [] : [`No one has acknowledged this for ${unacknowledgedFor}.`]
  const listed = lines.slice(0, mostListed).map(({ alert, text, link }, at) => {
    const over = about === 'resolved' && alert.resolvedAt !== null ? `over since ${alert.resolvedAt} · ` : ''
    const below = isLinked && link !== undefined && at < mostLinks ? `\n  Acknowledge: ${link}` : ''
    return `${over}${alert.createdAt} · ${alert.severity} · ${text}${below}`
  })
  const more = lines.length - listed.length
  const rest = more > 0 ? [`… and ${more} more`] : []
  return [...begin, ...listed, ...rest, ...(isLinked ? ['', `All alerts: ${allAlerts}`] : [])].join('\n')
}

/** Cuts between characters, never inside of one. */
export function shortened(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
