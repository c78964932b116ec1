import { type EventKind, eventKinds } from '../../config/index.ts'
import { parsedJson } from '../../log/index.ts'

/** From the most particular to the least: a clip of a person who crosses a line is one of a person. */
const order: readonly EventKind[] = ['tamper', 'person', 'vehicle', 'animal', 'line', 'motion']

/** Returns the stored form of what the analytics of a camera named; null for nothing. */
export function storedKinds(kinds: readonly EventKind[] = []): string | null {
  const known = order.filter((kind) => kinds.includes(kind))
  return known.length === 0 ? null : JSON.stringify(known)
}

/** Returns the kinds in their order, from the stored form. */
export function readKinds(stored: string | null): EventKind[] {
  const found = stored === null ? [] : parsedJson(stored)
  return Array.isArray(found) ? eventKinds.filter((kind) => found.includes(kind)).sort(byOrder) : []
}

const byOrder = (a: EventKind, b: EventKind): number => order.indexOf(a) - order.indexOf(b)
