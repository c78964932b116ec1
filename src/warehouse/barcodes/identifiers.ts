import { type Rule, rules } from './value-rules.ts'

/**
 * The application identifiers of GS1: form and end of a value, the identifiers that it excludes, and its place in a Digital Link.
 * Source: GS1 General Specifications 25, section 3, and GS1 Digital Link: URI Syntax 1.6.
 *
 * A form is a row of parts: n digits, x characters of set 82, y of set 39, z of base64url. Each has its number (`1-20`: from 1 to
 * 20) and the rules of `value-rules.ts`. A part in brackets may be absent, with all that follow it.
 */
type More = {
  /** Identifiers that contradict it; n means any digit. */
  readonly not?: string
  /** It is the key of a Digital Link, and these may follow it, in this order; `|` separates the choices. */
  readonly key?: string
  /** A Digital Link names it in the path or not at all. */
  readonly pathOnly?: true
}

const date = 'n6.yymmd0'
const measure = 'n6'
const country = 'n3'
const coupon = 'x1-70'
const prefixed13 = 'n13.sum.prefix'

const table: readonly (readonly [ids: string, form: string, more?: More])[] = [
  ['00', 'n18.sum.prefix2', { key: '' }],
  ['01', 'n14.sum.prefix2', { not: '255 37', key: '22 10 21|235' }],
  ['02', 'n14.sum.prefix2', { not: '01 03' }],
  ['03', 'n14.sum.prefix2', { not: '01 02 37', pathOnly: true }],
  ['10', 'x1-20'],
  ['11-13', date],
  ['15-17', date],
  ['20', 'n2'],
  ['21', 'x1-20', { not: '235', pathOnly: true }],
  ['22', 'x1-20', { pathOnly: true }],
  ['235', 'x1-28', { pathOnly: true }],
  ['240-241', 'x1-30'],
  ['242', 'n1-6'],
  ['243', 'x1-20'],
  ['250-251', 'x1-30'],
  ['253', `${prefixed13} (x1-17)`, { key: '' }],
  ['254', 'x1-20', { pathOnly: true }],
  ['255', `${prefixed13} (n1-12)`, { not: '01 02 415 8006 8020 8026', key: '' }],
  ['30', 'n1-8'],
  ...measures('310-316 320-337 340-357 360-369'),
  ['37', 'n1-8'],
  ['3900-3909', 'n1-15', { not: '390n 391n 394n 8111' }],
  ['3910-3919', 'n3 n1-15', { not: '391n' }],
  ['3920-3929', 'n1-15', { not: '392n 393n' }],
  ['3930-3939', 'n3 n1-15', { not: '393n' }],
  ['3940-3943', 'n4', { not: '394n 8111' }],
  ['3950-3955', 'n6', { not: '392n 393n 395n 8005' }],
  ['400', 'x1-30'],
  ['401', 'x1-30.prefix', { key: '' }],
  ['402', 'n17.sum.prefix', { key: '' }],
  ['403', 'x1-30'],
  ['410-413', prefixed13],
  ['414', prefixed13, { key: '254|7040' }],
  ['415', prefixed13, { key: '8020' }],
  ['416', prefixed13],
  ['417', prefixed13, { key: '7040' }],
  ['420', 'x1-20', { not: '421' }],
  ['421', `${country} x1-9`, { not: '4307' }],
  ['422', country, { not: '426' }],
  ['423', `${country} (n3) (n3) (n3) (n3)`, { not: '426' }],
  ['424', country, { not: '426' }],
  ['425', `${country} (n3) (n3) (n3) (n3)`, { not: '426' }],
  ['426', country],
  ['427', 'x1-3'],
  ['4300-4301', 'x1-35.percent'],
  ['4302-4306', 'x1-70.percent'],
  ['4307', 'x2.letters'],
  ['4308', 'x1-30'],
  ['4309', 'n10.latitude n10.longitude'],
  ['4310-4311', 'x1-35.percent'],
  ['4312-4316', 'x1-70.percent'],
  ['4317', 'x2.letters'],
  ['4318', 'x1-20'],
  ['4319', 'x1-30'],
  ['4320', 'x1-35.percent'],
  ['4321-4323', 'n1.flag'],
  ['4324-4325', `${date} n4.hhmm`],
  ['4326', 'n6.yymmdd'],
  ['4330', 'n6 (x1.minus)', { not: '4331' }],
  ['4331', 'n6 (x1.minus)', { not: '4330' }],
  ['4332', 'n6 (x1.minus)', { not: '4333' }],
  ['4333', 'n6 (x1.minus)', { not: '4332' }],
  ['7001', 'n13'],
  ['7002', 'x1-30'],
  ['7003', 'n6.yymmdd n4.hhmm'],
  ['7004', 'n1-4'],
  ['7005', 'x1-12'],
  ['7006', 'n6.yymmdd'],
  ['7007', 'n6.yymmdd (n6.yymmdd)'],
  ['7008', 'x1-3'],
  ['7009', 'x1-10'],
  ['7010', 'x1-2'],
  ['7011', 'n6.yymmdd (n4.hhmm)'],
  ['7020-7022', 'x1-20'],
  ['7023', 'x1-30.prefix'],
  ['7030-7039', `${country} x1-27`],
  ['7040', 'n1 x1 x1 x1.index', { pathOnly: true }],
  ['7041', 'x1-4', { pathOnly: true }],
  ['710-717', 'x1-20'],
  ['7230-7239', 'x2 x1-28'],
  ['7240', 'x1-20'],
  ['7241', 'n2.medium'],
  ['7242', 'x1-25'],
  ['7250', 'n8.yyyymmdd', { not: '7251' }],
  ['7251', 'n8.yyyymmdd n4.hhmm', { not: '7250' }],
  ['7252', 'n1.sex'],
  ['7253-7254', 'x1-40.percent', { not: '7256 7259' }],
  ['7255', 'x1-10', { not: '7256 7259' }],
  ['7256', 'x1-90.percent'],
  ['7257', 'x1-70.percent'],
  ['7258', 'x3.birth'],
  ['7259', 'x1-40.percent', { not: '7256' }],
  ['8001', 'n4.some n5.some n3.some n1.winding n1'],
  ['8002', 'x1-20'],
  ['8003', `n1.zero ${prefixed13} (x1-16)`, { key: '' }],
  ['8004', 'x1-30.prefix', { key: '7040' }],
  ['8005', 'n6'],
  ['8006', 'n14.sum.prefix2 n4.piece', { not: '01 37', key: '22 10 21' }],
  ['8007', 'x1-34.iban'],
  ['8008', 'n6.yymmdd n2.hour (n2.sixty) (n2.sixty)'],
  ['8009', 'x1-50'],
  ['8010', 'y1-30.prefix', { key: '8011' }],
  ['8011', 'n1-12.unpadded', { pathOnly: true }],
  ['8012', 'x1-20'],
  ['8013', 'x1-25.sumOfText.prefix', { key: '' }],
  ['8014', 'x1-25.sumOfText.prefix.nonDigit', { pathOnly: true }],
  ['8017', 'n18.sum.prefix', { not: '8018', key: '8019' }],
  ['8018', 'n18.sum.prefix', { not: '8017', key: '8019' }],
  ['8019', 'n1-10', { pathOnly: true }],
  ['8020', 'x1-25', { pathOnly: true }],
  ['8026', 'n14.sum.prefix2 n4.piece', { not: '02 8006' }],
  ['8030', 'z1-90'],
  ['8040-8041', 'n15', { pathOnly: true }],
  ['8042', 'n32', { pathOnly: true }],
  ['8043', 'n18 (n1-2)', { pathOnly: true }],
  ['8110', coupon],
  ['8111', 'n4'],
  ['8112', coupon],
  ['8200', 'x1-70', { pathOnly: true }],
  ['90', 'x1-30'],
  ['91-99', 'x1-90'],
]

/** Measures in metric, then in other units: six digits; the last digit of the identifier places the decimal point. */
function measures(families: string): (readonly [string, string, More])[] {
  return spread(families).map((family) => [`${family}0-${family}5`, measure, { not: `${family}n` }])
}

type Part = {
  readonly isOptional: boolean
  readonly characters: RegExp
  readonly min: number
  readonly max: number
  readonly rules: readonly Rule[]
}

export type Identifier = {
  readonly id: string
  readonly parts: readonly Part[]
  /** Length of its value, where the standard allows no separator after it. */
  readonly fixedLength: number | undefined
  /** Characters of its value, checked first. */
  readonly characters: RegExp
  readonly contradicts: readonly RegExp[]
  /** Qualifiers that may follow it as the key of a Digital Link, each choice in its order. */
  readonly qualifiers: readonly (readonly string[])[] | undefined
  readonly isAttribute: boolean
}

const sets: Readonly<Record<string, RegExp>> = {
  n: /^\d*$/,
  x: /^[!"%-?A-Z_a-z]*$/,
  y: /^[#\-/0-9A-Z]*$/,
  z: /^[-0-9A-Z_a-z]*=*$/,
}
const set82 = /^[!"%-?A-Z_a-z]+$/
const set82And39 = /^[!"#%-?A-Z_a-z]+$/

/** First two digits of the identifiers whose values have a fixed length. Source: General Specifications, 7.8.5. */
const fixedLengths: ReadonlySet<string> = new Set(spread('00-04 11-20 31-36 41'))

const identifiers: ReadonlyMap<string, Identifier> = new Map(
  table.flatMap(([ids, form, more]) => spread(ids).map((id) => [id, identifierOf(id, form, more ?? {})] as const)),
)

/** Digits of an identifier by its first two. */
const lengths: ReadonlyMap<string, number> = new Map([...identifiers.keys()].map((id) => [id.slice(0, 2), id.length]))

export const findIdentifier = (id: string): Identifier | undefined => identifiers.get(id)

/** Returns the identifier at this place of a text; undefined when there is none. */
export function identifierAt(text: string, at: number): Identifier | undefined {
  const length = lengths.get(text.slice(at, at + 2))
  return length === undefined ? undefined : identifiers.get(text.slice(at, at + length))
}

function identifierOf(id: string, form: string, { not = '', key, pathOnly }: More): Identifier {
  const parts = form.split(' ').map(partOf)
  const [first] = parts
  const isFixed = fixedLengths.has(id.slice(0, 2))
  return {
    id,
    parts,
    fixedLength: isFixed ? first?.max : undefined,
    characters: isFixed ? /^\d+$/ : form.startsWith('y') ? set82And39 : set82,
    contradicts: not === '' ? [] : not.split(' ').map((other) => new RegExp(`^${other.replaceAll('n', '\\d')}$`)),
    qualifiers: key?.split('|').map((choice) => (choice === '' ? [] : choice.split(' '))),
    isAttribute: !pathOnly,
  }
}

function partOf(form: string): Part {
  const [, open, set = '', min, max, names = ''] = form.match(/^(\()?([nxyz])(\d+)(?:-(\d+))?((?:\.\w+)*)\)?$/) ?? []
  const characters = sets[set]
  if (!characters) throw new Error(`the form ${form} cannot be read`)
  const found = names
    .split('.')
    .slice(1)
    .map((name) => {
      const rule = rules.get(name)
      if (!rule) throw new Error(`there is no rule ${name}`)
      return rule
    })
  return { isOptional: open !== undefined, characters, min: Number(min), max: Number(max ?? min), rules: found }
}

/** `11-13 20` as 11, 12, 13, 20; a number keeps its leading zeros. */
function spread(ranges: string): string[] {
  return ranges.split(' ').flatMap((range) => {
    const [first = '', last = first] = range.split('-')
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) =>
      String(Number(first) + i).padStart(first.length, '0'),
    )
  })
}
