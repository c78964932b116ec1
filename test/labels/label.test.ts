import fc from 'fast-check'
import t from 'tap'
import { type LabelContent, layOut } from '../../src/labels/layout.ts'
import { toSvg } from '../../src/labels/svg.ts'
import { modulesOf, symbolsFor } from '../../src/labels/symbol.ts'
import { toZpl } from '../../src/labels/zpl.ts'
import { readBarcode } from '../../src/warehouse/index.ts'
import { barsOf, readCode128 } from '../support/code128.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { code128Text, fieldData, zplCommands } from '../support/zpl.ts'

const by = people.ada
const GS = '\x1d'
const sscc = '00106141412345678908'
const gs1 = `]C1${sscc}0209506000134352${'37'}24${GS}10LOT7`

t.test('the label of a slot says its name, zone and hall, and its code is the name', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01-01', 'Über^XA', '7'])
  const get = (path: string, person: (typeof people)['ada' | 'vera' | 'olga'] = people.vera) =>
    gateway.ask('GET', `/api/whms/slots/${path}`, { by: person })
  const svg = await get('A-01-01/label')
  t.equal(svg.status, 200)
  t.equal(svg.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  t.match(svg.headers.get('content-security-policy'), /sandbox/)
  t.match(svg.text, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100mm" height="50mm"/)
  for (const said of ['A-01-01', '>S<', '>Hall<']) t.match(svg.text, said)
  t.equal(readCode128(barsOf(svg.text)), 'A-01-01', 'a reader reads it')
  const zpl = await get('1/label?format=zpl&size=80x40&dpi=300&copies=3')
  t.equal(zpl.headers.get('content-type'), 'application/zpl')
  for (const command of ['^PW945', '^LL472', '^PQ3', '^FDA-01-01^FS']) t.ok(zpl.text.includes(command), command)
  const named = await get(`${encodeURIComponent('Über^XA')}/label?format=zpl`)
  t.ok(named.text.includes('^BQN'), 'what Code 128 has no characters for is a QR code')
  t.ok(named.text.includes('\\C3\\9Cber\\5EXA'))
  t.match(await get('7/label?by=slot_id'), { status: 200 })
  t.match(await get('3/label?symbology=datamatrix&format=zpl'), { status: 200, text: /\^BXN/ })
  for (const [path, status] of [
    ['nope/label', 404],
    ['A-01-01/label?format=pdf', 400],
    ['A-01-01/label?size=5x5', 400],
    ['A-01-01/label?size=100x50x2', 400],
    ['A-01-01/label?dpi=100', 400],
    ['A-01-01/label?copies=0', 400],
    ['A-01-01/label?copies=101', 400],
    ['A-01-01/label?symbology=gs1-128', 400],
    ['2/label?symbology=code128', 400],
  ] as const) {
    t.equal((await get(path)).status, status, path)
  }
  t.equal((await get('A-01-01/label', people.olga)).status, 404, 'of a hall that is not hers to see')
})

t.test('the label of a pallet carries what its barcode says, so that its scan is the same pallet', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const register = (asset_id: string) =>
    gateway.ask('POST', '/api/whms/assets', { by, body: { asset_id, type: 'pallet' } })
  await register(gs1)
  await register('P-1')
  await register(`(01)09506000134352(21)${'1'.repeat(40)}`)
  const label = (barcode: string, query = '') =>
    gateway.ask('GET', `/api/whms/assets/${encodeURIComponent(barcode)}/label${query}`, { by: people.vera })
  const { text } = await label(sscc)
  t.equal(readCode128(barsOf(text)), `${GS}${gs1.slice(3)}`)
  for (const said of ['106141412345678908', 'LOT LOT7', 'GTIN 09506000134352', '(00)1061414'])
    t.ok(text.includes(said), said)
  const zpl = zplCommands((await label(sscc, '?format=zpl')).text)
  const data = zpl.filter(({ name }) => name === 'FD').map(({ rest }) => fieldData(rest))
  t.ok(data.some((field) => field.startsWith('>;>800') && code128Text(field) === `${GS}${gs1.slice(3)}`))
  t.equal(readCode128(barsOf((await label('P-1')).text)), 'P-1')
  const long = await label(`(01)09506000134352(21)${'1'.repeat(40)}`, '?format=zpl')
  t.match(long.text, /\^BXN,\d+,200,,,,_\^FH\\\^FD\\5F10109506000134352211/, 'too long for a linear code')
  t.equal((await label('nobody')).status, 404)
})

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }).filter((text) => text.isWellFormed())
const nasty = fc.constantFrom(
  '^XZ^XA^FDx^FS',
  '~JR',
  '^FH_',
  '\\5E',
  '>:>5>8',
  '_1',
  '<script>',
  '&amp;',
  ']]>',
  '"',
  '\n^XA',
  '\x1b',
  '\x00',
)
const said = fc.array(fc.oneof(anyText, nasty), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))

function contentOf(title: string, line: string, code: string): LabelContent {
  return { title, lines: [line], readable: code, symbols: symbolsFor(code, { gs1: undefined, key: code }) }
}

t.test('no name and no code commands a printer: all commands are ours, and the data is there as it was', async (t) => {
  const paper = { widthMm: 150, heightMm: 100, dpi: 203 }
  let looked = 0
  fc.assert(
    fc.property(said, said, said, fc.constantFrom('code128', 'qr', 'datamatrix'), (title, line, code, wanted) => {
      const content = contentOf(title, line, code)
      const symbols = content.symbols.filter(({ symbology }) => symbology === wanted)
      const layout = layOut({ ...content, symbols }, paper)
      if (!layout) return
      looked += 1
      const zpl = toZpl(layout, 1)
      const commands = zplCommands(zpl)
      const field = ['FO', 'A0', 'FH', 'FD', 'FS']
      const command = { code128: ['BY', 'BC'], 'gs1-128': ['BY', 'BC'], qr: ['BQ'] }[wanted as string] ?? ['BX']
      const expected = [
        'XA',
        'CI',
        'PW',
        'LL',
        'LH',
        ...layout.texts.flatMap(() => field),
        'FO',
        ...command,
        'FH',
        'FD',
        'FS',
        'PQ',
        'XZ',
      ]
      t.strictSame(
        commands.map(({ name }) => name.replace(/^(CI|PQ)\d?$/, '$1')),
        expected,
        'only our commands',
      )
      t.ok(/^[\x0a\x20-\x7e]*$/.test(zpl))
      const data = commands.filter(({ name }) => name === 'FD').map(({ rest }) => fieldData(rest))
      t.strictSame(
        data.slice(0, -1),
        layout.texts.map(({ text }) => text),
      )
      t.equal(symbolText(wanted, data.at(-1) ?? ''), code)
    }),
    // Chance has missed a name that commands.
    { numRuns: 600, examples: [['^XZ^XA^FDx^FS', 'A-01', 'P-1', 'qr']] },
  )
  t.ok(looked > 60, `${looked} labels`)
})

function symbolText(symbology: string, field: string): string {
  if (symbology === 'code128') return code128Text(field)
  if (symbology === 'qr') return field.replace(/^MA,/, '')
  return field.replaceAll('_d095', '_')
}

t.test('nor does it become a part of an SVG', async () => {
  fc.assert(
    fc.property(said, said, (title, code) => {
      const layout = layOut(contentOf(title, code, code), { widthMm: 150, heightMm: 100, dpi: 203 })
      if (!layout) return true
      const svg = toSvg(layout)
      const tags = [...svg.matchAll(/<\/?([^\s>]*)/g)].map(([, name]) => name)
      const between = svg.replace(/<[^<>]*>/g, '')
      return (
        tags.every((name) => ['svg', 'rect', 'text', 'path'].includes(name ?? '')) &&
        !/[<>"']|&(?!#\d+;)/.test(between) &&
        !/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(svg)
      )
    }),
    { numRuns: 400 },
  )
})

t.test('whatever was scanned once, the scan of its label is the same asset', async (t) => {
  const alphabet = fc.constantFrom(...'0123456789]C1d2()ABz-_>^~ ä', GS)
  const digits = fc.stringMatching(/^[0-9]{0,9}$/)
  const raw = fc.oneof(
    fc.string({ unit: alphabet, minLength: 1, maxLength: 40 }),
    fc
      .record({ lot: fc.stringMatching(/^[A-Z0-9/_-]{1,20}$/), count: digits })
      .map(({ lot, count }) => `]C1${sscc}10${lot}${GS}37${count}9`),
  )
  fc.assert(
    fc.property(raw, (text) => {
      const code = readBarcode(text)
      for (const symbol of symbolsFor(text, code)) {
        const isGs1 = symbol.symbology.startsWith('gs1-')
        t.equal(readBarcode(isGs1 ? `]C1${symbol.text}` : symbol.text).key, code.key, JSON.stringify(text))
        const modules = modulesOf(symbol)
        if (modules.form === 'bars') t.equal(readCode128(modules.widths), `${isGs1 ? GS : ''}${symbol.text}`)
      }
    }),
    { numRuns: 500 },
  )
})

t.test('a code is drawn so that it can be read, or not at all', async (t) => {
  const content = contentOf('A', 'B', 'A'.repeat(64))
  for (const dpi of [152, 203, 300, 600]) {
    const layout = layOut(content, { widthMm: 100, heightMm: 50, dpi })
    t.equal(layout?.symbol.symbol.symbology, 'qr', `${dpi}: 64 letters are too wide for bars`)
    if (!layout) continue
    const { symbol } = layout
    t.ok((symbol.moduleDots * 25.4) / dpi >= 0.2, `${dpi}: a module is at least 0.2 mm`)
    t.ok(symbol.x > 0 && symbol.y > 0 && symbol.y + symbol.height <= layout.height)
  }
  t.equal(layOut(contentOf('A', 'B', 'A'.repeat(256)), { widthMm: 20, heightMm: 10, dpi: 203 }), undefined)
  for (const text of layOut(contentOf('W'.repeat(200), 'x', 'A'), { widthMm: 60, heightMm: 40, dpi: 203 })?.texts ??
    []) {
    t.ok(text.x + [...text.text].length * text.size * 0.62 <= 480 + 10, 'within the paper')
  }
})
