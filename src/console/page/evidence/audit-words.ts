import { dayOf } from '../data/day-line.ts'
import { gatewayWords } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'
import { assetTypeWords, deviceKindWords, exactTime, zoneTypeWords } from '../i18n/words.ts'
import { auditTexts as words } from './audit-texts.ts'
import { trailTexts } from './trail-texts.ts'

export type AuditEntry = {
  readonly id: number
  readonly timestamp: string
  readonly operator: string | null
  readonly actor: string | null
  readonly instance: string | null
  readonly action: string
  readonly entity: keyof typeof trailTexts.entities
  readonly entityId: string | null
  readonly changes: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  readonly address: string | null
  readonly authMode: string | null
}

/** Filter of the trail, as in the address of the view; '': not by this. Days are of the hall. */
export type AuditFilter = Readonly<Record<(typeof filterNames)[number], string>>
const filterNames = ['operator', 'entity', 'entity_id', 'action', 'from', 'to'] as const

/** Reads a filter from the query of an address. Pure. */
export function filterOf(asked: URLSearchParams): AuditFilter {
  const of = (name: keyof AuditFilter) => asked.get(name) ?? ''
  return {
    operator: of('operator'),
    entity: of('entity'),
    entity_id: of('entity_id'),
    action: of('action'),
    from: of('from'),
    to: of('to'),
  }
}

/** Returns the address of the trail narrowed to this. Pure. */
export function addressOf(filter: Partial<AuditFilter>): string {
  const query = setOf(filter).toString()
  return `/audit${query && `?${query}`}`
}

/** Returns the query for the gateway: days become the times at which they begin and end in the hall. Pure. */
export function queryOf({ from, to, ...filter }: AuditFilter, timeZone: string | undefined): string {
  const query = setOf(filter)
  if (from !== '')
    query.set(
      'from',
      timeOf(from, (day) => dayOf(day, timeZone).fromMs),
    )
  if (to !== '')
    query.set(
      'to',
      timeOf(to, (day) => dayOf(day, timeZone).toMs),
    )
  return query.toString()
}

/** An invalid day goes to the gateway unchanged, which answers with the problem. */
const timeOf = (day: string, ms: (day: string) => number): string =>
  /^\d{4}-\d{2}-\d{2}$/.test(day) && Number.isFinite(Date.parse(day)) ? new Date(ms(day)).toISOString() : day

function setOf(filter: Partial<AuditFilter>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) if (value?.trim()) query.set(name, value.trim())
  return query
}

const actions: Readonly<Record<string, string>> = trailTexts.actions

/** Returns the text of an action; for an action of a later version its own name. Pure. */
export const actionWords = (action: string): string =>
  Object.hasOwn(actions, action) ? (actions[action] ?? action) : gatewayWords(action)

/** Returns the actor, and the person whom the act was for or about. Pure. */
export function whoWords({ actor, operator, authMode, address }: AuditEntry): string {
  if (actor !== null) return operator === null || operator === actor ? actor : words.behalf(actor, operator)
  const who = address !== null ? words.unknown : authMode === null ? words.gateway : words.box
  return operator === null ? who : words.concerns(who, operator)
}

/** Names the thing that an entry is about. Pure. */
export const thingWords = ({ entity, entityId }: AuditEntry): string =>
  entityId === null ? trailTexts.entities[entity] : `${trailTexts.entities[entity]} ${shortened(entityId)}`

const shortened = (id: string) => (/^[0-9a-f]{64}$/.test(id) ? `${id.slice(0, 12)}…` : id)

type Change = { readonly name: string; readonly before: string | undefined; readonly after: string }

/** Values that entries write as two fields: field before, field after, name of the value. */
const twins: readonly (readonly [before: string, after: string, name: string, action: RegExp])[] = [
  ['from', 'to', 'role', /^caller\.role_changed$/],
  ['before', 'after', 'time', /^clock\.stepped$/],
  ['fromStage', 'toStage', 'stage', /^transport_unit\./],
]

/** Returns the changes of an entry as text: each value with the old one, where the trail has it. Pure. */
export function changesOf({ action, changes }: AuditEntry, timeZone: string | undefined): readonly Change[] {
  const left = new Map(Object.entries(changes ?? {}))
  const lines: Change[] = []
  const add = (name: string, value: unknown, before?: { readonly value: unknown }) =>
    lines.push({
      name: nameWords(name),
      before: before && valueWords(name, before.value, timeZone),
      after: valueWords(name, value, timeZone),
    })
  for (const [before, after, name, of] of twins) {
    if (!of.test(action) || !left.has(after)) continue
    add(name, left.get(after), left.has(before) ? { value: left.get(before) } : undefined)
    left.delete(before)
    left.delete(after)
  }
  for (const [name, value] of left) {
    if (isStep(value)) add(name, value.to, { value: value.from })
    else add(name, value)
  }
  return lines
}

const isStep = (value: unknown): value is { from: unknown; to: unknown } =>
  typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'from,to'

const fields: Readonly<Record<string, string>> = trailTexts.fields
const nameWords = (name: string) => (Object.hasOwn(fields, name) ? (fields[name] ?? name) : gatewayWords(name))

/** Values that have texts, by the name of the value. */
const ofName: Readonly<Record<string, (value: string) => string>> = {
  zone_type: zoneTypeWords,
  type: assetTypeWords,
  allowed_types: assetTypeWords,
  kind: deviceKindWords,
}

const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/

function valueWords(name: string, value: unknown, timeZone: string | undefined): string {
  if (value === null || value === undefined || value === '') return words.noValue
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'string') {
    if (timeForm.test(value)) return exactTime(value, timeZone) || gatewayWords(value)
    if (/role$/i.test(name) && Object.hasOwn(texts.roles, value)) return texts.roles[value] ?? value
    const words = Object.hasOwn(ofName, name) ? (ofName[name]?.(value) ?? value) : value
    return words === value ? gatewayWords(value) : words
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? words.noValue : value.map((one) => valueWords(name, one, timeZone)).join(', ')
  }
  if (typeof value !== 'object') return String(value)
  const parts = Object.entries(value).map(([key, one]) => `${nameWords(key)}: ${valueWords(key, one, timeZone)}`)
  return parts.length === 0 ? words.noValue : parts.join('; ')
}
