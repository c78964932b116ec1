import { palletOf } from '../../scripts/bench/seed.ts'

type Parameter = { readonly name: string; readonly in: string }
type Operation = { readonly parameters?: readonly Parameter[] }
export type Description = { readonly paths: Record<string, Record<string, Operation>> }

/** The history of a hall as the bench makes it: its first and last time, and how many events it has. */
export type Span = { readonly fromMs: number; readonly toMs: number; readonly events: number }

/** Every GET of the description: bare, with each of its filters, and with each of its filters and a small page. */
export function everyRead({ paths }: Description, span: Span): string[] {
  const values = valuesOf(span)
  return Object.entries(paths).flatMap(([template, item]) => {
    const operation = item['get']
    if (!operation || template === '/api/openapi') return []
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(placeIn(template, name)))
    const queries = (operation.parameters ?? []).filter((p) => p.in === 'query').map(({ name }) => name)
    const filters = queries.flatMap((name) =>
      (values[name] ?? []).map((value) => `${name}=${encodeURIComponent(value)}`),
    )
    if (template.endsWith('/watched') || template.endsWith('/untouched')) return readsOfSpan(path, span)
    if (template === '/api/stream') return [`${path}?follow=false`]
    if (template === '/api/log/consistency') return [`${path}?from=1&to=${span.events}`]

    if (template.endsWith('/scores')) return readsOfScores(path, span)
    const limits = queries.includes('limit') ? ['limit=50', 'limit=500'] : []
    return [
      path,
      ...filters.map((filter) => `${path}?${filter}`),
      ...limits.map((limit) => `${path}?${limit}`),
      ...(limits.length > 0 ? filters.map((filter) => `${path}?${filter}&limit=500`) : []),
    ]
  })
}

/** A read of a span needs both of its ends: a day of the history, and all of it. */
const readsOfSpan = (path: string, { fromMs, toMs }: Span): string[] =>
  [Math.max(fromMs, toMs - 86_400_000), fromMs].map(
    (ms) =>
      `${path}?from=${encodeURIComponent(new Date(ms).toISOString())}&to=${encodeURIComponent(new Date(toMs).toISOString())}`,
  )

const places: Record<string, string> = {
  id: '17',
  barcode: palletOf(17),
  code: palletOf(17),
  sha256: '0'.repeat(64),
  level: '0',
  tile: '017',
}

/** The longest time that is answered, and the longest with cells. */
const readsOfScores = (path: string, { toMs }: Span): string[] =>
  [readsOfSpan(path, { fromMs: toMs - 6 * 3_600_000, toMs, events: 0 })[1] as string].concat(
    readsOfSpan(path, { fromMs: toMs - 3_600_000, toMs, events: 0 }).map((read) => `${read}&cells=true`),
  )

const placeIn = (template: string, name: string): string =>
  template.startsWith('/api/whms/warehouses')
    ? '1'
    : template.startsWith('/api/whms/zones')
      ? '3'
      : (places[name] ?? '17')

function valuesOf({ fromMs, toMs, events }: Span): Record<string, readonly string[]> {
  const at = (share: number) => new Date(fromMs + (toMs - fromMs) * share).toISOString()
  return {
    slot_id: ['17'],
    slot_code: ['S-00016'],
    asset_barcode: [palletOf(17), 'nobody'],
    event_type: ['PLACED', 'DISPUTED'],
    operator: ['ada', 'nobody'],
    work_order_ref: ['nobody'],
    corrects_event_id: ['4'],
    zoneId: ['3', '4'],
    warehouseId: ['1', '2'],
    from: [at(0.1), at(0.99)],
    to: [at(0.01), at(0.9)],
    at: [at(0.5)],
    known_at: [at(0.5)],
    after_seq: ['0', String(Math.floor(events / 2))],
    offset: ['5000'],
    q: ['17', 'nobody'],
    type: ['pallet', 'drum'],
    location: ['true'],
    zone: ['Z3', 'nowhere'],
    occupied: ['true', 'false'],
    lot: ['nobody'],
    gtin: ['00000000000000'],
    entity: ['event', 'slot', 'permission'],
    entity_id: ['17'],
    action: ['placement.recorded', 'permission.denied', 'nothing.done'],
    status: ['active', 'completed', 'open', 'resolved', 'uploaded', 'parked', 'pending'],
    stage: ['nowhere'],
    direction: ['inbound', 'outbound'],
    reference: ['T-17', 'nobody'],
    carrier: ['nobody'],
    sscc: ['340000000000000017'],
    scaleId: ['scale-1', 'nobody'],
    transportUnitId: ['17', 'nobody'],
    cctvId: ['17', '18'],
    state: ['delivered', 'exhausted', 'pending'],
    acknowledged: ['true', 'false'],
    severity: ['low', 'high'],
    category: ['damage', 'nobody'],
    kind: ['asset_in_two_slots', 'clip', 'report'],
    format: ['csv', 'epcis', 'ndjson'],
  }
}
