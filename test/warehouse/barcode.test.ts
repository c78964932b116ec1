import fc from 'fast-check'
import t from 'tap'
import { checkDigit, elementText, readBarcode } from '../../src/warehouse/index.ts'
import { gs1Vectors, isWritable, isWritableLink, type Vector } from '../support/gs1.ts'

// SSCC and GTIN of the GS1 General Specifications' own examples: (00)106141412345678908 and (01)09506000134352.
const sscc = '00106141412345678908'
const GS = '\x1d'

const sorted = (elements: Iterable<[string, string]>) => [...elements].toSorted(([a], [b]) => (a < b ? -1 : 1))

function seen(raw: string) {
  const { key, gs1, warnings } = readBarcode(raw)
  return { key, elements: gs1 ? sorted(gs1) : null, warnings }
}

const written = ({ key, elements, warnings }: Vector) => ({
  key,
  elements: elements && sorted(Object.entries(elements)),
  warnings,
})

for (const { group, source, vectors } of gs1Vectors) {
  t.test(`${group} (${source})`, async (t) => {
    for (const vector of vectors) t.strictSame(seen(vector.raw), written(vector), encodeURIComponent(vector.raw))
  })
}

t.test('there are vectors of every kind, and none twice', async (t) => {
  const all = gs1Vectors.flatMap(({ vectors }) => vectors)
  t.ok(all.length >= 300, `${all.length}`)
  t.equal(new Set(all.map(({ raw }) => raw)).size, all.length)
})

/** The writer of symbols, which makes the gateway's own labels, judges the same element strings. */
t.test('the vectors agree with another implementation of the dictionary of GS1', async (t) => {
  let compared = 0
  for (const { raw, elements, warnings } of gs1Vectors.flatMap(({ vectors }) => vectors)) {
    if (elements && !Object.values(elements).some((value) => /[()]/.test(value))) {
      t.equal(isWritable(Object.entries(elements)), warnings.length === 0, encodeURIComponent(raw))
      compared += 1
    }
    // It takes an address without a host; RFC 3986 does not.
    if (/^https?:\/\/[^/]/i.test(raw) && !raw.includes('/api/whms/')) {
      t.equal(isWritableLink(raw), elements !== null, raw)
      compared += 1
    }
  }
  t.ok(compared >= 300, `${compared} compared`)
})

const valid = gs1Vectors
  .flatMap(({ vectors }) => vectors)
  .filter(({ elements, warnings }) => elements && warnings.length === 0)
  .flatMap(({ elements }) => Object.entries(elements ?? {}))
  .filter(([, value]) => !/[()]/.test(value))
// Codes of countries, currencies and packages are taken by their form here, and coupons as they are.
const byList = /^(42[1-6]|703\d|4307|4317|391\d|393\d|7041|811[02])$/
const set82 = '!"%&\'*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'

t.test('one character more, less or other, and both implementations still say the same', async () => {
  const near = fc
    .record({
      element: fc.constantFrom(...valid.filter(([id]) => !byList.test(id))),
      at: fc.nat(40),
      character: fc.constantFrom(...set82),
      how: fc.constantFrom('change', 'add', 'drop'),
    })
    .map(({ element: [id, value], at, character, how }) => {
      const i = at % value.length
      const put = how === 'drop' ? '' : character
      return [id, `${value.slice(0, i)}${put}${value.slice(how === 'add' ? i : i + 1)}`] as const
    })
    .filter(([, value]) => value !== '')
  fc.assert(
    fc.property(near, ([id, value]) => {
      const { gs1, warnings } = readBarcode(`(${id})${value}`)
      return (gs1 !== undefined && warnings.length === 0) === isWritable([[id, value]])
    }),
    { numRuns: 600 },
  )
})

t.test('any elements are read back from the text that a symbol of them carries, in whatever order', async () => {
  const elements = fc
    .uniqueArray(fc.constantFrom(...valid), { minLength: 1, maxLength: 6, selector: ([id]) => id })
    .map((list) => new Map(list))
  fc.assert(
    fc.property(elements, (written) => {
      const text = elementText(written)
      const read = readBarcode(`]d2${text}`)
      const typed = readBarcode([...written].map(([id, value]) => `(${id})${value}`).join(''))
      const bare = text.includes(GS) ? readBarcode(text) : read
      const turned = readBarcode(`]C1${elementText(new Map([...written].toReversed()))}`)
      return (
        elementText(read.gs1 ?? new Map()) === text &&
        [typed, bare, turned].every(({ key, warnings }) => key === read.key && warnings.join() === read.warnings.join())
      )
    }),
    { numRuns: 500 },
  )
})

const digits = (length: number) =>
  fc.array(fc.nat(9), { minLength: length, maxLength: length }).map((list) => list.join(''))
const serial = fc.string({ unit: fc.constantFrom(...set82.replaceAll(/[()]/g, '')), minLength: 1, maxLength: 16 })
const prefixDigits = fc.integer({ min: 6, max: 12 })
const checked = (body: string) => `${body}${checkDigit(body)}`
const escaped = (text: string) => text.replaceAll(/["%&/<>?]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

t.test('a thing has one key as element strings, in brackets, as Digital Link and as EPC', async () => {
  const item = fc.tuple(digits(12), digits(1), serial, prefixDigits).map(([body, first, text, cut]) => {
    const gtin = checked(`${first}${body}`)
    const urn = `${body.slice(0, cut)}.${first}${body.slice(cut)}.${escaped(text)}`
    return {
      key: `01${gtin}21${text}`,
      elements: [
        ['01', gtin],
        ['21', text],
      ],
      urns: [`urn:epc:id:sgtin:${urn}`, `urn:epc:tag:sgtin-198:3.${urn}`],
    }
  })
  const unit = fc.tuple(digits(16), digits(1), prefixDigits).map(([body, first, cut]) => {
    const number = checked(`${first}${body}`)
    const urn = `${body.slice(0, cut)}.${first}${body.slice(cut)}`
    return {
      key: `00${number}`,
      elements: [['00', number]],
      urns: [`urn:epc:id:sscc:${urn}`, `urn:epc:tag:sscc-96:0.${urn}`],
    }
  })
  const returnable = fc.tuple(digits(12), serial, prefixDigits).map(([body, text, cut]) => {
    const value = `0${checked(body)}${text}`
    const urn = `${body.slice(0, cut)}.${body.slice(cut)}.${escaped(text)}`
    return { key: `8003${value}`, elements: [['8003', value]], urns: [`urn:epc:id:grai:${urn}`] }
  })
  const asset = fc.tuple(digits(12), serial, prefixDigits).map(([body, text, cut]) => {
    const value = `${body.slice(0, cut)}${text}`
    return {
      key: `8004${value}`,
      elements: [['8004', value]],
      urns: [`urn:epc:id:giai:${body.slice(0, cut)}.${escaped(text)}`],
    }
  })
  for (const thing of [item, unit, returnable, asset]) {
    fc.assert(
      fc.property(thing, fc.constantFrom(']C1', ']d2', ']Q3', GS), ({ key, elements, urns }, prefix) => {
        const path = elements.map(([id = '', value = '']) => `/${id}/${encodeURIComponent(value)}`).join('')
        const pairs = elements.map(([id = '', value = '']) => [id, value] as [string, string])
        const forms = [
          `${prefix}${elementText(new Map(pairs))}`,
          pairs.map(([id, value]) => `(${id})${value}`).join(''),
          `https://id.gs1.org${path}`,
          `https://www.example.com/a/b${path}?linkType=all#x`,
          ...urns,
        ]
        return forms.every((form) => readBarcode(form).key === key && readBarcode(form).warnings.length === 0)
      }),
      { numRuns: 300 },
    )
  }
})

t.test('whatever a scanner sends has a key that is not empty, and reads as the same again', async () => {
  const alphabet = fc.constantFrom(...'0123456789]C1d2()ABz-:/.%?&=', GS, 'https://', 'urn:epc:id:', '00', '01')
  fc.assert(
    fc.property(fc.string({ unit: alphabet, minLength: 1, maxLength: 40 }), (raw) => {
      const { key, gs1 } = readBarcode(raw)
      // A label of plain text carries the key.
      return key.length > 0 && (gs1 !== undefined || readBarcode(key).key === key)
    }),
    { numRuns: 4000 },
  )
})

t.test('of prefixes that a reader sends twice or behind a separator, none is part of the code', async (t) => {
  for (const raw of [']A1P 7', '\x1d]A1 P 7', ']A1]A1P 7', ']A1 \x1d]C0P 7'])
    t.equal(readBarcode(raw).key, 'P 7', JSON.stringify(raw))
  for (const raw of [`${GS}]C1${sscc}`, `]C1]C1${sscc}`, `]A1]C1${sscc}`])
    t.match(readBarcode(raw), { key: sscc, warnings: { length: 0 } }, JSON.stringify(raw))
  t.equal(readBarcode(']d2https://id.gs1.org/00/106141412345678908').key, sscc, 'a Digital Link behind any prefix')
  for (const raw of [']A1', ']A1]A1', ']A1\x1d']) t.equal(readBarcode(raw).key, raw, JSON.stringify(raw))
  const nameless = 'https://g.example/api/whms/assets/%20'
  t.equal(readBarcode(nameless).key, nameless, 'an address that names no asset')
})

t.test('one pallet is one key, however its label was read', async (t) => {
  for (const raw of [sscc, `]C1${sscc}`, `${GS}${sscc}`, '(00)106141412345678908', `]d2${sscc}10LOT7`])
    t.match(readBarcode(raw), { key: sscc, warnings: { length: 0 } }, JSON.stringify(raw))
})

t.test('blanks and separators at the ends are not part of a code, in whatever order', async (t) => {
  for (const raw of ['P 7 \x1d', ' \x1dP 7', 'P 7\x1d \x1d\n'])
    t.equal(readBarcode(raw).key, 'P 7', JSON.stringify(raw))
})
