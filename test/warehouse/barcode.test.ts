import fc from 'fast-check'
import t from 'tap'
import { readBarcode } from '../../src/warehouse/index.ts'

// SSCC and GTIN of the GS1 General Specifications' own examples: (00)106141412345678908 and (01)09506000134352.
const sscc = '00106141412345678908'
const GS = '\x1d'

function seen(raw: string) {
  const { key, gs1, warnings } = readBarcode(raw)
  return { key, isGs1: gs1 !== undefined, warnings }
}

t.test('one pallet is one key, however its label was read', async (t) => {
  for (const raw of [
    sscc,
    `]C1${sscc}`,
    `${GS}${sscc}`,
    `]C1${GS}${sscc}`,
    '(00)106141412345678908',
    `]d2${sscc}10LOT7`,
    `]C1${sscc}${GS}37120`,
  ]) {
    t.strictSame(seen(raw), { key: sscc, isGs1: true, warnings: [] }, JSON.stringify(raw))
  }
  const item = '01095060001343522112345'
  for (const raw of [
    `]C1${item}`,
    `]d20109506000134352${'10LOT'}${GS}2112345`,
    '(01)09506000134352(21)12345',
    '(21)12345(01)09506000134352(17)270101',
  ]) {
    t.strictSame(seen(raw), { key: item, isGs1: true, warnings: [] }, JSON.stringify(raw))
  }
  t.equal(readBarcode(']C08004ABC').key, '8004ABC', 'a prefix that announces no GS1 is only stripped')
  t.equal(readBarcode(']C18004ABC').key, '8004ABC', 'an individual asset')
  t.equal(
    readBarcode(`]C110LOT${GS}1727010115280101`).key,
    readBarcode(`]C11727010115280101${'10LOT'}`).key,
    'any other label: all elements, in no order',
  )
})

t.test('what is no GS1 stays the text that it is', async (t) => {
  for (const raw of ['4711', 'P-1', 'a]C1b', '106141412345678908', '(x)1', ']A0', 'Ä-1', '00', ' 4711'])
    t.strictSame(seen(raw), { key: raw, isGs1: false, warnings: [] }, raw)
})

t.test('a wrong check digit and an unreadable label are told, and kept as text', async (t) => {
  for (const raw of ['00106141412345678909', ']C100106141412345678909', '(01)09506000134353(21)1']) {
    t.strictSame(readBarcode(raw).warnings, ['BARCODE_CHECK_DIGIT'], raw)
  }
  for (const raw of [']C1PALLET', ']C10110', '(00)12', ']C199', `]C1${sscc}${sscc}`, `]C1`])
    t.strictSame(readBarcode(raw).warnings, ['BARCODE_NOT_GS1'], raw)
  t.equal(readBarcode(']C1PALLET').key, 'PALLET')
  for (const raw of [
    '(00)106141412345678908(x)',
    '(00)106141412345678908(10)',
    '(00)106141412345678908()LOT7',
    '(01)09506000134352(21)12(A)',
  ]) {
    t.strictSame(
      readBarcode(raw),
      { key: raw, gs1: undefined, warnings: ['BARCODE_NOT_GS1'] },
      `${raw}: nothing is lost`,
    )
  }
})

t.test('whatever a scanner sends has a key that is not empty', async () => {
  const alphabet = fc.constantFrom(...'0123456789]C1d2()ABz-', GS)
  fc.assert(
    fc.property(fc.string({ unit: alphabet, minLength: 1, maxLength: 40 }), (raw) => {
      const { key } = readBarcode(raw)
      return key.length > 0
    }),
  )
})
