/** Data of an event in the delivery bench, as large as that of a placement. */
export const dataOf = (n: number) => ({
  n,
  event_type: 'PLACED',
  slot_id: 17,
  slot_code: 'A-01-17',
  asset_barcode: `(00)34012345000000${String(n).padStart(4, '0')}`,
  operator: 'olga',
  notes: 'x'.repeat(500),
})

/** The same as an envelope. */
export const envelopeOf = (n: number) => ({
  id: '019cae00-0000-7000-8000-000000000001',
  type: 'whms.placement',
  timestamp: '2026-03-02T08:00:00.000Z',
  data: dataOf(n),
  metadata: { warehouseId: 1, siteId: 'bench', version: '1.0' },
})
