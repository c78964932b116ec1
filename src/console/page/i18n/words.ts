import { gatewayNow } from '../data/ask.ts'
import type { PlacementEvent, Slot } from '../data/shapes.ts'
import { warningWords } from '../kit/warning-words.ts'
import { locale } from './language.ts'
import { wordTexts as texts } from './words-texts.ts'

export { countOf } from './counting.ts'

export type SlotStatus = 'empty' | 'occupied' | 'verified' | 'disputed' | 'retired'

export function statusOf(slot: Slot): SlotStatus {
  if (!slot.isOccupied) return slot.retiredAt === null ? 'empty' : 'retired'
  if (slot.isDisputed) return 'disputed'
  return slot.isVerified ? 'verified' : 'occupied'
}

/** Number of slots with a status. A disputed one is not verified either, as in the gateway's `pendingVerifications`. */
export const countIn = (slots: readonly Slot[], status: SlotStatus): number =>
  slots.filter((slot) => (status === 'occupied' ? isPending(slot) : statusOf(slot) === status)).length

const isPending = (slot: Slot): boolean => slot.isOccupied && slot.isVerified !== true

export const statusWords: Readonly<Record<SlotStatus, string>> = texts.status

export const eventWords: Readonly<Record<PlacementEvent['event_type'], string>> = texts.event

/** Types of zones, in the order of the gateway. */
export const zoneTypes: Readonly<Record<string, string>> = texts.zoneTypes

/** Return the word for a type of zone or asset, or a kind of device. An unknown one keeps its own name. */
export const zoneTypeWords = (type: string): string => wordIn(zoneTypes, type)
export const assetTypeWords = (type: string): string => wordIn(texts.assetTypes, type)
export const deviceKindWords = (kind: string): string => wordIn(texts.deviceKinds, kind)

const wordIn = (words: Readonly<Record<string, string>>, name: string): string =>
  Object.hasOwn(words, name) ? (words[name] ?? name) : name

/** Returns the content of a slot, for screen readers. */
export function spokenState(slot: Slot): string {
  const state = statusWords[statusOf(slot)].toLowerCase()
  return slot.assetBarcode === null ? state : texts.holding(state, slot.assetBarcode)
}

/** Returns a slot's text for screen readers. */
export const spokenSlot = (slot: Slot): string => texts.slot(slot.slot_id, slot.zone, spokenState(slot))

export function spokenEvent(event: PlacementEvent): string {
  const warnings = event.warnings.length === 0 ? '' : `. ${event.warnings.map(warningWords).join('. ')}`
  return `${texts.happened(eventWords[event.event_type], event.asset_barcode, event.slot_code)}${warnings}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Returns a time as text: "just now", "4 min ago", then the time of day, then also the day; in the hall's time zone. */
export const whenWords = (iso: string, timeZone: string | undefined): string =>
  timeWords(iso, timeZone, { seconds: texts.secondsAgo, minutes: texts.minutesAgo, time: (time) => time })

/** Returns how long something lasts: "just now", "for 4 min", then "since" the time of day, then also the day. */
export const sinceWords = (iso: string, timeZone: string | undefined): string =>
  timeWords(iso, timeZone, { seconds: texts.forSeconds, minutes: texts.forMinutes, time: texts.since })

type TimeForms = {
  readonly seconds: (n: number) => string
  readonly minutes: (n: number) => string
  readonly time: (time: string) => string
}

function timeWords(iso: string, timeZone: string | undefined, inForm: TimeForms): string {
  const ms = Date.parse(iso)
  if (!Number.isFinite(ms)) return ''
  const ageMs = gatewayNow() - ms
  if (ageMs > -minuteMs && ageMs < 10_000) return texts.justNow
  if (ageMs >= 0 && ageMs < minuteMs) return inForm.seconds(Math.floor(ageMs / 1000))
  if (ageMs >= 0 && ageMs < hourMs) return inForm.minutes(Math.floor(ageMs / minuteMs))
  const isToday = dayOf(ms, timeZone) === dayOf(gatewayNow(), timeZone)
  return inForm.time(isToday ? timeOfDay(ms, timeZone) : `${dayOf(ms, timeZone)}, ${timeOfDay(ms, timeZone)}`)
}

/** Returns day and time to the second. */
export function exactTime(iso: string, timeZone: string | undefined): string {
  const ms = Date.parse(iso)
  if (!Number.isFinite(ms)) return ''
  return `${dayOf(ms, timeZone)}, ${formatted(ms, timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })}`
}

export const timeOfDay = (ms: number, timeZone: string | undefined): string =>
  formatted(ms, timeZone, { hour: '2-digit', minute: '2-digit' })

const dayOf = (ms: number, timeZone: string | undefined) =>
  formatted(ms, timeZone, { day: 'numeric', month: 'short', year: 'numeric' })

/** Returns a time in parts, in a zone. */
export const formatted = (
  ms: number,
  timeZone: string | undefined,
  options: Intl.DateTimeFormatOptions,
  tag = locale,
): string => formatOf(timeZone, options, tag).format(ms)

/** Each is made once: making one takes longer than all else that a line of a list needs. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string | undefined, options: Intl.DateTimeFormatOptions, tag: string) {
  const key = JSON.stringify([tag, timeZone, options])
  const known = formats.get(key)
  if (known) return known
  const made = newFormat(timeZone, options, tag)
  formats.set(key, made)
  return made
}

function newFormat(timeZone: string | undefined, options: Intl.DateTimeFormatOptions, tag: string) {
  try {
    return new Intl.DateTimeFormat(tag, { ...options, ...(timeZone && { timeZone }) })
  } catch {
    // An unknown time zone in this browser: use the browser's own.
    return new Intl.DateTimeFormat(tag, options)
  }
}

/** Returns a time just after this one: the end of a span is not part of it. */
export const justAfter = (iso: string): string => new Date(Date.parse(iso) + 1).toISOString()

/** Returns host and port of an address; other text unchanged. */
export function hostOf(address: string): string {
  try {
    return new URL(address).host
  } catch {
    return address
  }
}
