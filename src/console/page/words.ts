import type { PlacementEvent, Slot } from './answers.ts'
import { gatewayNow } from './ask.ts'

export type SlotStatus = 'empty' | 'occupied' | 'verified' | 'disputed' | 'retired'

export function statusOf(slot: Slot): SlotStatus {
  if (!slot.isOccupied) return slot.retiredAt === null ? 'empty' : 'retired'
  if (slot.isDisputed) return 'disputed'
  return slot.isVerified ? 'verified' : 'occupied'
}

/** Slots with a status. What is disputed is not yet verified either: the same that the gateway counts as `pendingVerifications`. */
export const countIn = (slots: readonly Slot[], status: SlotStatus): number =>
  slots.filter((slot) => (status === 'occupied' ? isPending(slot) : statusOf(slot) === status)).length

const isPending = (slot: Slot): boolean => slot.isOccupied && slot.isVerified !== true

export const statusWords: Record<SlotStatus, string> = {
  empty: 'Empty',
  occupied: 'Not yet verified',
  verified: 'Verified',
  disputed: 'Disputed',
  retired: 'Out of use',
}

export const eventWords: Record<PlacementEvent['event_type'], string> = {
  PLACED: 'Placed',
  REMOVED: 'Removed',
  VERIFIED: 'Verified',
  DISPUTED: 'Disputed',
}

/** Returns a slot's text for screen readers. */
export function spokenSlot(slot: Slot): string {
  const status = statusOf(slot)
  const holds = slot.assetBarcode === null ? '' : `, pallet ${slot.assetBarcode}`
  return `Slot ${slot.slot_id}, zone ${slot.zone}: ${statusWords[status].toLowerCase()}${holds}`
}

export function spokenEvent(event: PlacementEvent): string {
  const warnings = event.warnings.length === 0 ? '' : `. ${event.warnings.map((w) => w.message).join('. ')}`
  return `${eventWords[event.event_type]}: pallet ${event.asset_barcode}, slot ${event.slot_code}${warnings}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/**
 * Returns a time in words: "just now", "4 min ago", then the time of day, then also the day; in the hall's time zone.
 */
export function whenWords(iso: string, timeZone: string | undefined): string {
  const ms = Date.parse(iso)
  if (!Number.isFinite(ms)) return ''
  const ageMs = gatewayNow() - ms
  if (ageMs > -minuteMs && ageMs < 10_000) return 'just now'
  if (ageMs >= 0 && ageMs < minuteMs) return `${Math.floor(ageMs / 1000)} s ago`
  if (ageMs >= 0 && ageMs < hourMs) return `${Math.floor(ageMs / minuteMs)} min ago`
  const isToday = dayOf(ms, timeZone) === dayOf(gatewayNow(), timeZone)
  return isToday ? timeOfDay(ms, timeZone) : `${dayOf(ms, timeZone)}, ${timeOfDay(ms, timeZone)}`
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

function formatted(ms: number, timeZone: string | undefined, options: Intl.DateTimeFormatOptions): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone && { timeZone }) }).format(ms)
  } catch {
    // An unknown time zone in this browser: use the browser's own.
    return new Intl.DateTimeFormat('en-GB', options).format(ms)
  }
}

/** Returns host and port of an address; other text unchanged. */
export function hostOf(address: string): string {
  try {
    return new URL(address).host
  } catch {
    return address
  }
}

export const countOf = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`
