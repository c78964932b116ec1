import t from 'tap'
import { ScanCheck } from '../../src/console/page/codes/code-check.ts'

const sscc = '00340123450000000154'
const other = '00340123450000000017'

/** Scans at a device, two seconds after each other. */
class Device {
  readonly #check = new ScanCheck()
  #atMs = 0

  scan(code: string, parts: readonly string[] = [], afterMs = 2500) {
    this.#atMs += afterMs
    return this.#check.check(code, parts, this.#atMs)
  }
}

const code = (text: string) => ({ kind: 'code', code: text })

t.test('parts are joined when their check digit proves the whole', (t) => {
  const device = new Device()
  t.same(device.scan('0123450000000154', ['0034']), code(sscc))
  t.same(device.scan('450000000017', ['00', '34', '0123']), code(other))
  t.same(device.scan('340123450000000154', ['x', '00']), code(sscc), 'what was typed before is none of it')
  t.same(device.scan('10LOT7', [']C101040123', '45123456']).kind, 'torn', 'a value without an end may be two codes')
  t.same(device.scan(sscc, ['0034']), code(sscc), 'a code that is whole needs no part')
  t.end()
})

t.test('what cannot be joined is none', (t) => {
  const device = new Device()
  t.same(device.scan('4711', ['PAL-']), { kind: 'torn', parts: ['PAL-', '4711'] })
  t.same(device.scan('0123450000000155', ['0034']), { kind: 'torn', parts: ['0034', '0123450000000155'] })
  t.same(device.scan('A-01-02', [sscc]), { kind: 'torn', parts: [sscc, 'A-01-02'] }, 'two codes without an end between')
  t.same(device.scan('4711', ['4']), code('4711'), 'one key is no part')
  t.end()
})

t.test('a part of a code just seen is none', (t) => {
  const device = new Device()
  t.same(device.scan(sscc), code(sscc))
  for (const part of ['0123450000000154', '00340123450000', '00000154A-01-02', '0340123450000000154'])
    t.same(device.scan(part), { kind: 'torn', parts: [part] }, part)
  t.same(device.scan(sscc), code(sscc), 'the same code again is a code')
  t.same(device.scan(other), code(other))
  t.same(device.scan('00154'), code('00154'), 'a short label is no part')
  t.same(device.scan('P-A-1'), code('P-A-1'))
  t.same(device.scan('A-1'), code('A-1'), 'a label that another one ends with')
  t.same(device.scan('0123450000000154', [], 70_000), code('0123450000000154'), 'after a minute nothing is known of it')
  const fresh = new Device()
  t.same(fresh.scan('00340123'), code('00340123'))
  t.same(fresh.scan('450000000017', [], 900), { kind: 'torn', parts: ['00340123', '450000000017'] })
  t.end()
})

t.test('a wrong check digit or length has to come twice', (t) => {
  const device = new Device()
  for (const faulty of [
    '00340123450000000155',
    ']C10034012345000000015',
    '(00)34012345000000015',
    '0034012345000000015',
    ']E04006381333932',
  ]) {
    t.same(device.scan(faulty), { kind: 'faulty', code: faulty })
    t.same(device.scan(faulty), code(faulty), 'the label says so')
  }
  t.same(device.scan('00340123450000000155').kind, 'faulty')
  t.same(device.scan('P-2'), code('P-2'))
  t.same(device.scan('00340123450000000155').kind, 'faulty', 'another scan came in between')
  for (const sound of ['P-1', 'A-01-02', '340123450000000154', '00012345678905', ']E04006381333931', '12345'])
    t.same(device.scan(sound), code(sound))
  t.end()
})
