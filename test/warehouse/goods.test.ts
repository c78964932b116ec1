import t from 'tap'
import { goodsOf, gs1Day, gtin14, isDay } from '../../src/warehouse/assets/goods.ts'
import { readBarcode } from '../../src/warehouse/index.ts'

const GS = '\x1d'
const nothing = { sscc: null, gtin: null, lot: null, bestBefore: null, serial: null }

t.test('a label says of its goods what the General Specifications make of it', async (t) => {
  // Element strings of the GS1 General Specifications and the GS1 DataMatrix Guideline.
  for (const [raw, goods] of [
    ['(00)106141412345678908', { sscc: '106141412345678908' }],
    ['(01)09506000134352(17)270731(10)AB-123', { gtin: '09506000134352', bestBefore: '2027-07-31', lot: 'AB-123' }],
    [
      `]d20109521234543213${'17'}261231${'10'}ABC123${GS}21456`,
      { gtin: '09521234543213', bestBefore: '2026-12-31', lot: 'ABC123', serial: '456' },
    ],
    [
      `]C100106141412345678908${'02'}09521234543213${'15'}260900${'37'}24${GS}10LOT7`,
      { sscc: '106141412345678908', gtin: '09521234543213', bestBefore: '2026-09-30', lot: 'LOT7' },
    ],
    ['(01)09521234543213(15)270101(17)270601', { gtin: '09521234543213', bestBefore: '2027-01-01' }],
    ['(01)09521234543213(3103)000123(410)9501101020917', { gtin: '09521234543213' }],
    ['(01)09521234543213(15)261301', { gtin: '09521234543213' }],
    [']E09506000134352', { gtin: '09506000134352' }],
    [`(00)106141412345678908(02)09521234543214(37)12`, { sscc: '106141412345678908' }],
    [
      'https://id.gs1.org/00/106141412345678908?02=09521234543213&37=24&10=LOT7',
      { sscc: '106141412345678908', gtin: '09521234543213', lot: 'LOT7' },
    ],
    ['urn:epc:id:sgtin:9506000.013435.SN-1', { gtin: '09506000134352', serial: 'SN-1' }],
    ['09506000134352', {}],
    ['P-1', {}],
    ['(01)09521234543214(10)LOT7', {}],
  ] as const) {
    t.strictSame(goodsOf(readBarcode(raw), 2026), { ...nothing, ...goods }, JSON.stringify(raw))
  }
})

t.test('a date of six digits is the one nearest in the past 49 and the coming 50 years', async (t) => {
  for (const [text, year, day] of [
    ['260228', 2026, '2026-02-28'],
    ['280200', 2026, '2028-02-29'],
    ['270200', 2026, '2027-02-28'],
    ['261200', 2026, '2026-12-31'],
    ['760101', 2026, '2076-01-01'],
    ['770101', 2026, '1977-01-01'],
    ['490101', 1999, '2049-01-01'],
    ['500101', 1999, '1950-01-01'],
    ['000229', 1999, '2000-02-29'],
    ['980101', 2051, '2098-01-01'],
    ['000101', 2051, '2100-01-01'],
    ['010101', 2051, '2101-01-01'],
    ['020101', 2051, '2002-01-01'],
    ['270229', 2026, undefined],
    ['260001', 2026, undefined],
    ['261301', 2026, undefined],
    ['260132', 2026, undefined],
  ] as const) {
    t.equal(gs1Day(text, year), day, `${text} in ${year}`)
  }
})

t.test('an item number of any length is fourteen digits, and a day is one of the calendar', async (t) => {
  for (const [digits, gtin] of [
    ['96385074', '00000096385074'],
    ['614141000036', '00614141000036'],
    ['9506000134352', '09506000134352'],
    ['09506000134352', '09506000134352'],
    ['9506000134353', undefined],
    ['950600013435', undefined],
    ['', undefined],
    ['95060001343x2', undefined],
  ] as const) {
    t.equal(gtin14(digits), gtin, digits)
  }
  for (const day of ['2028-02-29', '2026-12-31', '0001-01-01']) t.ok(isDay(day), day)
  for (const day of ['2027-02-29', '2026-13-01', '2026-00-01', '2026-1-1', '26-01-01', '2026-01-01T00:00:00Z', ''])
    t.notOk(isDay(day), day)
})
