import t from 'tap'
import { gapCauses } from '../../src/cameras/watch.ts'
import { decodedWords, printable, wantedBy } from '../../src/console/page/codes/scan-place.ts'
import type { Gap } from '../../src/console/page/data/shapes.ts'
import {
  causeWords,
  placeWords,
  slotNow,
  spanWords,
  watchedWords,
  whyNoFilm,
} from '../../src/console/page/i18n/story-words.ts'
import { eventFootageReasons } from '../../src/floor/trace-schema.ts'

const own = ['https://gate.example']

t.test('a scanned address opens a view of this gateway, and never leaves it', (t) => {
  t.same(wantedBy('https://gate.example/find/P%2F1?at=x', own), { code: 'P/1' })
  t.same(wantedBy('https://gate.example/?slot=4', own), { view: '/?slot=4' })
  t.same(wantedBy('https://gate.example/cameras/2', own), { view: '/cameras/2' })
  for (const text of [
    'https://gate.example.evil/find/P-1',
    'https://gate.example/api/session',
    'javascript:alert(1)',
    '//evil.example/find/P-1',
    'https://id.gs1.org/00/340123450000000017',
    'A-01-02',
  ])
    t.same(wantedBy(text, own), { code: text }, `${text} is looked up as a code`)
  t.end()
})

t.test('the place of a pallet is that of its newest placement, until a move in that slot has ended the stay', (t) => {
  type Steps = Parameters<typeof placeWords>[0]
  const step = (event_type: string, label: string, minute: number, untilMinute?: number) => {
    const at = (n: number) => `2026-03-02T08:${String(n).padStart(2, '0')}:00.000Z`
    const until = untilMinute === undefined ? null : at(untilMinute)
    return { event: { event_type, timestamp: at(minute) }, slot: { id: label.length, slot_id: label }, until }
  }
  const wordsOf = (...steps: readonly unknown[]) => placeWords(steps as Steps, undefined, 'UTC')
  const slotOf = (...steps: readonly unknown[]) => slotNow(steps as Steps, undefined)?.slot_id
  const elsewhere = [step('PLACED', 'A', 1), step('REMOVED', 'BB', 2)]
  t.match(wordsOf(...elsewhere), /^In A since /, 'a removal from another slot ends nothing')
  t.equal(slotOf(...elsewhere), 'A')
  const removed = [step('PLACED', 'A', 1, 2), step('REMOVED', 'A', 2)]
  t.match(wordsOf(...removed), /^Removed from A /)
  t.equal(slotOf(...removed), undefined)
  const other = [step('PLACED', 'A', 1, 2), step('REMOVED', 'BB', 3)]
  t.match(wordsOf(...other), /^Not in A any more: another pallet /)
  t.match(wordsOf(step('REMOVED', 'A', 2)), /^Removed from A /)
  t.match(wordsOf(), /^Never seen/)
  t.end()
})

t.test('what could be read of a code is said in words, with characters that nobody sees', (t) => {
  t.equal(decodedWords({ '10': 'L7', '01': '04012345678901', '8200': 'x' }), 'GTIN 04012345678901, lot L7, (8200) x')
  t.equal(printable('10L7\x1d21S\x07'), '10L7␝21S▯')
  t.end()
})

t.test('every reason for a missing film has its own sentence', (t) => {
  const sentences = eventFootageReasons.map((reason) =>
    whyNoFilm({ reason, detail: null, gaps: [], clips: [], watching: [] }, 'A-01', 'UTC'),
  )
  t.equal(new Set(sentences).size, eventFootageReasons.length)
  const gap = { cctvId: 1, from: '', to: null, cause: 'offline', detail: null } as const
  t.equal(
    whyNoFilm({ reason: 'gap', detail: null, gaps: [gap], clips: [], watching: [] }, 'A-01', 'UTC'),
    'No camera watched here, because the camera was offline.',
  )
  const removed = (cause: 'age' | 'free-space', keptDays: number | null) => {
    const removal = { removedAt: '2026-03-02T08:00:00.000Z', cause, policy: 'cameras[7].keep: long', keptDays }
    const watching = [
      { clips: [{ detection: { removal: null }, offsetSeconds: 1 }] },
      { clips: [{ detection: { removal }, offsetSeconds: 2 }] },
    ]
    return whyNoFilm({ reason: 'expired', detail: null, gaps: [], clips: [], watching }, 'A-01', 'UTC')
  }
  t.match(
    removed('age', 1),
    /^The film is gone for good\. .* on 2 Mar 2026, 08:00:00, because films stay here for 1 day\.$/,
  )
  t.match(removed('free-space', null), /because the disk was nearly full\.$/)
  t.match(removed('age', null), /because of its age: cameras\[7\]\.keep: long\.$/)
  t.equal(whyNoFilm({ reason: null, detail: null, gaps: [], clips: [], watching: [] }, 'A-01', 'UTC'), undefined)
  t.end()
})

t.test('every cause of a gap has its own words, and a new camera is no restart of the gateway', (t) => {
  const words = gapCauses.map((cause) => causeWords({ cause, detail: 'as the gateway wrote it' }))
  t.equal(new Set(words).size, gapCauses.length)
  t.notOk(words.some((one) => one.includes('as the gateway wrote it')))
  // It also covers new settings, a new camera and a failed ffmpeg.
  t.equal(causeWords({ cause: 'restarted', detail: null }), 'the gateway was opening the stream')
  t.end()
})

t.test('what a camera saw between two moves is never rounded up', (t) => {
  const gap = { cctvId: 1, from: '', to: null, cause: 'stalled', detail: null } as const
  const words = (watchedShare: number, gaps: readonly Gap[] = [gap], detections: number[] = []) =>
    watchedWords({ watchedShare, gaps, detections }, 'Dock 1')
  t.equal(words(1, []), 'Dock 1 watched all the time: nothing moved.')
  t.match(words(0.99999), /^Dock 1 watched 99.9 % .*no camera watched here, because the camera sent no pictures\.$/)
  t.equal(words(0), 'Dock 1 did not watch here, because the camera sent no pictures.')
  t.match(words(1, [], [4, 5]), /motion 2 times/)
  t.same([20_000, 59 * 60_000, 90 * 60_000, 50 * 3_600_000].map(spanWords), [
    'less than a minute',
    '59 minutes',
    '1 h 30 min',
    '2 days 2 h',
  ])
  t.end()
})
