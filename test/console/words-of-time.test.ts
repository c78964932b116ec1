import t from 'tap'
import { sinceWords, whenWords } from '../../src/console/page/i18n/words.ts'

const minuteMs = 60_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

t.test('how long something waits is told as a span, and later by the time at which it began', async (t) => {
  t.equal(sinceWords(ago(0), 'UTC'), 'just now')
  t.match(sinceWords(ago(30_000), 'UTC'), /^for [345]\d s$/)
  t.match(sinceWords(ago(7.1 * minuteMs), 'UTC'), /^for 7 min$/)
  t.match(sinceWords(ago(26 * 60 * minuteMs), 'UTC'), /^since \d+ \w+ \d{4}, \d\d:\d\d$/)
  t.match(whenWords(ago(7.1 * minuteMs), 'UTC'), /^7 min ago$/, 'what has happened is told as before')
})
