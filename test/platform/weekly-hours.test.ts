import t, { type Test } from 'tap'
import { isWithinHours, parseWeeklyHours, toNextMinute, type WeeklyHours } from '../../src/platform/index.ts'

const hours = (...texts: string[]): WeeklyHours[] =>
  texts.map((text) => parseWeeklyHours(text)).filter((one) => one !== undefined)

/** Whether each of these moments, in UTC, is within the hours. */
function within(t: Test, texts: string[], zone: string, moments: Record<string, boolean>) {
  for (const [at, is] of Object.entries(moments)) {
    t.equal(isWithinHours(hours(...texts), zone, Date.parse(at)), is, `${texts.join(', ')} in ${zone} at ${at}`)
  }
}

t.test('hours of working days begin and end by the clock of the hall', async (t) => {
  // 2026-03-02 is a Monday; Berlin is an hour ahead of UTC in winter.
  within(t, ['Mo-Fr 06:00-22:00'], 'Europe/Berlin', {
    '2026-03-02T04:59:59.999Z': false,
    '2026-03-02T05:00:00.000Z': true,
    '2026-03-02T20:59:59.999Z': true,
    '2026-03-02T21:00:00.000Z': false,
    '2026-03-07T12:00:00.000Z': false,
  })
  within(t, ['Mo-Fr 06:00-22:00', 'Sa 08:00-12:00'], 'Europe/Berlin', {
    '2026-03-07T07:00:00.000Z': true,
    '2026-03-07T11:00:00.000Z': false,
  })
})

t.test('hours over midnight belong to the day on which they begin', async (t) => {
  within(t, ['Fr 22:00-06:00'], 'UTC', {
    '2026-03-06T21:59:00Z': false,
    '2026-03-06T22:00:00Z': true,
    '2026-03-07T05:59:59Z': true,
    '2026-03-07T06:00:00Z': false,
    '2026-03-06T05:00:00Z': false,
  })
  within(t, ['Su 20:00-24:00', 'Fr-Mo 00:00-01:00'], 'UTC', {
    '2026-03-08T23:59:59Z': true,
    '2026-03-09T00:30:00Z': true,
    '2026-03-10T00:30:00Z': false,
  })
})

t.test('when clocks are set forward the missing hour is missing, when they are set back it comes twice', async (t) => {
  // Berlin: 2026-03-29 02:00 becomes 03:00 at 01:00 UTC; 2026-10-25 03:00 becomes 02:00 at 01:00 UTC.
  within(t, ['Mo-Su 02:30-03:30'], 'Europe/Berlin', {
    '2026-03-29T00:59:59Z': false,
    '2026-03-29T01:00:00Z': true,
    '2026-03-29T01:30:00Z': false,
  })
  within(t, ['Mo-Su 02:00-03:00'], 'Europe/Berlin', {
    '2026-10-25T00:00:00Z': true,
    '2026-10-25T01:00:00Z': true,
    '2026-10-25T01:59:59Z': true,
    '2026-10-25T02:00:00Z': false,
  })
  within(t, ['Mo-Su 22:00-06:00'], 'America/New_York', { '2026-03-08T09:59:00Z': true, '2026-03-08T10:00:00Z': false })
})

t.test('zones with quarters of an hour, and those behind UTC, have their own day', async (t) => {
  // Kathmandu is 5:45 ahead: its Monday begins on Sunday at 18:15 UTC.
  within(t, ['Mo 00:00-24:00'], 'Asia/Kathmandu', {
    '2026-03-01T18:14:59Z': false,
    '2026-03-01T18:15:00Z': true,
    '2026-03-02T18:15:00Z': false,
  })
  within(t, ['Mo 00:00-24:00'], 'America/St_Johns', { '2026-03-02T03:29:59Z': false, '2026-03-02T03:30:00Z': true })
})

t.test('what is no time of the week is refused', async (t) => {
  const wrong = [
    ...['Mo-Fr', '06:00-22:00', 'mo-fr 06:00-22:00', 'Mo-Fr 6:00-22:00', 'Mo-Fr 06:00 - 22:00', 'Mo-Fr  06:00-22:00'],
    ...[
      'Mo 24:00-06:00',
      'Mo 06:00-24:01',
      'Mo 06:60-07:00',
      'Mo 08:00-08:00',
      'Xx 06:00-07:00',
      'Mo, Tu 06:00-07:00',
      '',
    ],
  ]
  for (const text of wrong) t.equal(parseWeeklyHours(text), undefined, text)
  t.match(parseWeeklyHours('Mo 00:00-24:00'), { fromMinute: 0, toMinute: 1440 })
})

t.test('the next look is at a full minute', async (t) => {
  t.equal(toNextMinute(Date.parse('2026-03-02T08:00:00Z')), 60_000)
  t.equal(toNextMinute(Date.parse('2026-03-02T08:00:59.990Z')), 10)
})
