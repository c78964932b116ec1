import t from 'tap'
import {
  afterSilence,
  atRest,
  type KeyPress,
  pressed,
  type Reading,
  released,
} from '../../src/console/page/codes/wedge.ts'

/** A keyboard and a scanner at one page, on simulated time. */
class Desk {
  nowMs = 1000
  readonly readings: Reading[] = []
  #state = atRest

  press(key: string, gapMs: number, more: Partial<KeyPress> = {}): Reading {
    this.nowMs += gapMs
    const plain = { key, code: '', altKey: false, ctrlKey: false, metaKey: false, repeat: false, atMs: this.nowMs }
    const [state, reading] = pressed(this.#state, { ...plain, ...more })
    this.#state = state
    this.readings.push(reading)
    return reading
  }

  release(key: string, gapMs: number): void {
    this.nowMs += gapMs
    const [state, reading] = released(this.#state, key, this.nowMs)
    this.#state = state
    this.readings.push(reading)
  }

  silence(ms: number): void {
    this.nowMs += ms
    const [state, reading] = afterSilence(this.#state, this.nowMs)
    this.#state = state
    this.readings.push(reading)
  }

  type(text: string, gapMs: number, more: Partial<KeyPress> = {}): void {
    for (const key of text) this.press(key, gapMs, more)
  }

  get scans(): string[] {
    return this.readings.flatMap((reading) => (reading.kind === 'scan' ? [reading.code] : []))
  }
}

t.test('a fast run with Enter or Tab behind it is a scan, whatever was typed before', (t) => {
  const desk = new Desk()
  desk.type('note', 140)
  desk.press('A', 400)
  desk.type('-01-02', 4)
  t.same(desk.press('Enter', 4), { kind: 'scan', code: 'A-01-02' })
  desk.press('P', 300)
  desk.type('-1', 50)
  desk.press('Tab', 30)
  t.same(desk.scans, ['A-01-02'], 'a run at 50 ms a key is no scan yet: its average is too slow')
  desk.type('P-1', 34)
  desk.press('Tab', 34)
  t.same(desk.scans, ['A-01-02', 'P-1'])
  t.end()
})

t.test('typing is never a scan: fast fingers, held keys, three letters, a shortcut in between', (t) => {
  const desk = new Desk()
  desk.type('pallet is wet', 60)
  desk.press('Enter', 60)
  desk.type('ok', 10)
  desk.press('Enter', 10)
  for (let n = 0; n < 12; n++) desk.press('a', 30, { repeat: n > 0 })
  desk.press('Enter', 10)
  desk.type('abc', 5)
  desk.press('Backspace', 5)
  desk.press('Enter', 5)
  desk.type('abcdef', 5)
  desk.press('c', 5, { ctrlKey: true })
  desk.press('Enter', 5)
  desk.type('abcdef', 5)
  desk.press('Enter', 400)
  t.same(desk.scans, [])
  t.end()
})

t.test('a handheld that sets altKey on each key is read like any other', (t) => {
  const desk = new Desk()
  desk.type('(00)340123450000000017', 8, { altKey: true })
  desk.press('Enter', 8, { altKey: true })
  desk.type('P7', 8, { altKey: true, code: 'Numpad7' })
  desk.press('9', 8, { altKey: true, code: 'Numpad9' })
  desk.press('Enter', 8)
  t.same(desk.scans, ['(00)340123450000000017', 'P79'])
  t.end()
})

t.test('Alt codes and Ctrl become the separator that they stand for, and no shortcut', (t) => {
  const desk = new Desk()
  const altCode = (digits: string) => {
    desk.press('Alt', 5, { altKey: true })
    for (const digit of digits) desk.press(digit, 5, { altKey: true, code: `Numpad${digit}` })
    desk.release('Alt', 5)
  }
  altCode('029')
  desk.type('10LOT', 5)
  altCode('29')
  desk.type('21S', 5)
  desk.press('Enter', 5)
  desk.press(']', 300, { ctrlKey: true })
  desk.type('10LOT', 5)
  desk.press('m', 5, { ctrlKey: true })
  for (const code of ['080', '045', '0228']) altCode(code)
  desk.press('Enter', 5)
  t.same(desk.scans, ['\x1d10LOT\x1d21S', '\x1d10LOT', 'P-ä'])
  desk.press('Alt', 500)
  t.same(desk.press('d', 20, { altKey: true }), { kind: 'other' }, 'Alt and D stay with the browser')
  desk.release('Alt', 20)
  t.end()
})

t.test('a suffix that comes twice ends one scan, and the same pallet scanned again is a scan again', (t) => {
  const desk = new Desk()
  desk.type('P-4711', 5)
  desk.press('Enter', 5)
  t.same(desk.press('Enter', 5), { kind: 'echo' })
  t.same(desk.press('Tab', 100), { kind: 'echo' })
  desk.type('P-4711', 5)
  desk.press('Enter', 5)
  t.same(desk.scans, ['P-4711', 'P-4711'])
  t.same(desk.press('Enter', 600), { kind: 'other' }, 'a person presses Enter')
  t.end()
})

t.test('a key that a busy device brings late belongs to its scan by its own time', (t) => {
  const desk = new Desk()
  desk.type('P-00', 4)
  // The page waited for longer than a scanner’s gap; the next key was made 4 ms after the one before.
  desk.silence(200)
  desk.nowMs -= 200
  desk.type('2-02', 4)
  t.same(desk.press('Enter', 4), { kind: 'scan', code: 'P-002-02' })
  t.end()
})

t.test('a modifier in the middle of a scan belongs to it, and one that a person presses does not', (t) => {
  const desk = new Desk()
  t.same(desk.press('Shift', 1000), { kind: 'other' })
  desk.press('V', 4)
  t.same(desk.press('Shift', 4), { kind: 'more' })
  desk.type('D-1', 4)
  t.same(desk.press('Enter', 4), { kind: 'scan', code: 'VD-1' })
  desk.press('v', 300)
  t.same(desk.press('Shift', 120), { kind: 'other' })
  t.end()
})

t.test('a trigger that is held while its scanner writes belongs to the scan, and alone it is nothing', (t) => {
  const desk = new Desk()
  t.same(desk.press('Unidentified', 1000), { kind: 'other' })
  desk.type('P-47', 4)
  t.same(desk.press('Unidentified', 4, { repeat: true }), { kind: 'more' })
  t.same(desk.press('Unidentified', 4), { kind: 'more' })
  desk.type('11-A', 4)
  t.same(desk.press('Unidentified', 4), { kind: 'more' })
  desk.silence(60)
  t.same(desk.scans, ['P-4711-A'])
  t.same(desk.press('Unidentified', 60), { kind: 'other' })
  t.end()
})

t.test('ten scans a second: none is lost, doubled or run into the next', (t) => {
  const desk = new Desk()
  const codes = Array.from({ length: 200 }, (_, n) => `PALLET-${String(n).padStart(5, '0')}`)
  for (const code of codes) {
    desk.type(code, 100 / (code.length + 1))
    desk.press('Enter', 100 / (code.length + 1))
  }
  t.same(desk.scans, codes)
  t.end()
})

t.test('a scanner without a suffix is read after a short silence, and a key that a system repeats counts once', (t) => {
  const desk = new Desk()
  desk.type('P-4711-A', 5)
  desk.silence(40)
  t.same(desk.scans, [])
  desk.silence(20)
  desk.silence(300)
  t.same(desk.scans, ['P-4711-A'])
  desk.type('abcde', 5)
  desk.silence(60)
  t.same(desk.scans, ['P-4711-A'], 'five letters may be somebody’s fast fingers')
  for (const key of 'P-66') {
    desk.press(key, 5)
    desk.press(key, 1, { repeat: true })
  }
  desk.press('Enter', 5)
  t.same(desk.scans, ['P-4711-A', 'P-66'])
  t.end()
})

t.test('a scan names the runs just before it that nothing ended', (t) => {
  const desk = new Desk()
  const cut = (parts: readonly string[], pauseMs: number) => {
    for (const [i, part] of parts.entries()) {
      desk.press(part[0] ?? '', i === 0 ? 5000 : pauseMs)
      desk.type(part.slice(1), 4)
    }
    return desk.press('Enter', 4)
  }
  t.same(cut(['0034', '0123450000000154'], 90), { kind: 'scan', code: '0123450000000154', parts: ['0034'] })
  t.same(cut(['00', '34', '0123'], 90), { kind: 'scan', code: '0123', parts: ['00', '34'] })
  t.same(cut(['0034', '0123'], 900), { kind: 'scan', code: '0123', parts: ['0034'] })
  t.same(cut(['0034', '0123'], 1100), { kind: 'scan', code: '0123' }, 'too long ago')
  t.same(cut(['00', '0123'], 400), { kind: 'scan', code: '0123' }, 'two fast keys may be typed')
  t.same(cut(['VDV', '-1'], 90), { kind: 'scan', code: '-1', parts: ['VDV'] }, 'also when each part is short')
  desk.press('P', 5000)
  desk.type('-4711', 4)
  t.same(desk.press('Enter', 90), { kind: 'scan', code: 'P-4711' }, 'the pause may be before the suffix')
  desk.press('n', 5000)
  desk.type('ote', 140)
  t.same(cut(['A-01'], 400), { kind: 'scan', code: 'A-01' }, 'what a person types is no part')
  desk.press('0', 5000)
  desk.type('034', 4)
  desk.press('Backspace', 40)
  desk.press('0', 60)
  desk.type('123', 4)
  t.same(desk.press('Enter', 4), { kind: 'scan', code: '0123' }, 'nor what a key ended')
  t.end()
})

t.test('of a scanner without a suffix no part is lost, however short its last one is', (t) => {
  const desk = new Desk()
  desk.type('00340123450000', 4)
  desk.press('0', 90)
  desk.type('0154', 4)
  desk.silence(60)
  t.same(desk.readings.at(-1), { kind: 'scan', code: '00154', parts: ['00340123450000'] })
  desk.type('00340123', 4)
  desk.silence(60)
  t.same(desk.readings.at(-1), { kind: 'scan', code: '00340123', parts: ['00340123450000', '00154'] })
  t.end()
})
