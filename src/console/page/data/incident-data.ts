import { ask, Refused } from './ask.ts'
import type { Detection, PlacementEvent } from './shapes.ts'

export const incidentsApi = '/api/governance/incidents'

export type Reference = { readonly type: string; readonly id: string | null }

export type Incident = {
  readonly id: number
  readonly status: 'open' | 'investigating' | 'resolved'
  readonly severity: 'low' | 'medium' | 'high' | 'critical'
  readonly category: string
  readonly title: string | null
  readonly description: string | null
  readonly evidenceReferences: readonly Reference[]
  readonly reportedBy: string
  readonly createdAt: string
  readonly resolution: string | null
  readonly history: readonly {
    readonly eventId: string
    readonly status: 'open' | 'investigating' | 'resolved'
    readonly actor: string
    readonly timestamp: string
    readonly seq: number
  }[]
}

/** The color of a state. */
export const statusChip = { open: 'danger', investigating: 'warn', resolved: 'ok' } as const

/** Subject of a reference, where the gateway has more than its id. */
export type Seen = { readonly event?: PlacementEvent; readonly detection?: Detection }

/** References to look up. The rest are shown by their ids, so that a long list stays below the rate of a caller. */
const mostSeen = 20
const known = new Map<string, Seen>()

export const keyOf = ({ type, id }: Reference): string => `${type}:${id}`

/** Looks up the moves and motions that an incident refers to, each once: they never change. */
export async function seenOf(references: readonly Reference[]): Promise<ReadonlyMap<string, Seen>> {
  const wanted = references.filter(({ type }) => type === 'event' || type === 'detection_event').slice(0, mostSeen)
  await Promise.all(
    wanted.map(async (reference) => {
      if (known.has(keyOf(reference))) return
      const seen = await lookUp(reference)
      if (seen) known.set(keyOf(reference), seen)
    }),
  )
  return known
}

/** A hidden or missing subject is shown by its id. */
async function lookUp({ type, id }: Reference): Promise<Seen | undefined> {
  try {
    if (type === 'event') return { event: await ask<PlacementEvent>(`/api/whms/events/${id}`) }
    return { detection: await ask<Detection>(`/api/iot/detection-events/${id}`) }
  } catch (error) {
    if (error instanceof Refused && !error.isSignedOut) return undefined
    throw error
  }
}

/** Returns the references of a form: a line is one; empty lines count for nothing. */
export const referencesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the address of a reference in the console; undefined for a kind without a view. */
export function addressOf({ type, id }: Reference, seen: Seen | undefined): string | undefined {
  if (id === null) return undefined
  const { event, detection } = seen ?? {}
  switch (type) {
    case 'event':
      return event && `/find/${encodeURIComponent(event.asset_barcode)}#event-${id}`
    case 'detection_event':
      return detection && `/cameras/${detection.cctvId}?at=${encodeURIComponent(detection.timestamp)}`
    case 'asset':
      return `/find/${encodeURIComponent(id)}`
    case 'slot':
      return `/?slot=${encodeURIComponent(id)}`
    case 'camera':
      return `/cameras/${encodeURIComponent(id)}`
    case 'transport_unit':
      return `/units/${encodeURIComponent(id)}`
    default:
      return undefined
  }
}
