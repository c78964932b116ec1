import t from 'tap'
import { severityOf } from '../../src/config/index.ts'
import { alertTexts } from '../../src/console/page/i18n/alert-texts.ts'
import { alertWords, toneOf } from '../../src/console/page/i18n/alert-words.ts'
import { charts, extentOf, topOf, valueWords } from '../../src/console/page/system/day-figures.ts'
import { systemTexts } from '../../src/console/page/system/system-texts.ts'
import { components, kinds } from '../../src/health/kinds.ts'
import { figureNames } from '../../src/health/last-day.ts'

/** Those that rooms raise besides the health watch: src/upload/alerts.ts, src/webhooks/delivery/recording.ts. */
const others = [
  ...['upload.no_room', 'upload.mismatch', 'upload.file', 'upload.refused', 'upload.lost', 'upload.copy_missing'],
  'upload.copy_changed',
  ...['webhook.failing', 'webhook.disabled', 'webhook.offline'],
]

t.test('every alert that the gateway can raise has words of its own for what it means and what to do', (t) => {
  const all = [...Object.keys(kinds), ...Object.values(kinds).map(({ over }) => over), ...others]
  t.ok(all.length > 40)
  const [means, todo] = alertTexts.other
  for (const kind of all) {
    const words = alertWords(kind)
    t.not(words.means, means, kind)
    t.not(words.todo, todo, kind)
  }
  t.equal(alertWords('something.new').means, means, 'one of a later version sends to the message')
  t.end()
})

t.test('an alert that a trouble has ended is not shown as a trouble', (t) => {
  for (const { over } of Object.values(kinds)) t.equal(toneOf(severityOf(over)), 'ok', over)
  for (const kind of Object.keys(kinds)) t.not(toneOf(severityOf(kind)), 'ok', kind)
  t.equal(toneOf(severityOf('disk.full')), 'danger', 'nothing is recorded')
  t.end()
})

t.test('each part of the gateway that health checks has a name and words for when it is well', (t) => {
  t.same(Object.keys(systemTexts.parts).toSorted(), components.toSorted())
  t.same(Object.keys(systemTexts.well).toSorted(), components.toSorted())
  t.end()
})

t.test('each figure that the gateway keeps has a chart, with values that a person can read', (t) => {
  t.same(Object.keys(charts), figureNames)
  t.equal(valueWords(12_345_000_000, 'bytes'), '12.3 GB')
  t.equal(valueWords(48.6, 'celsius'), '49 °C')
  t.same(extentOf([null, 3, 1, 2, null]), { now: 2, least: 1, most: 3 })
  t.equal(extentOf([null, null]), undefined, 'a box without the sensor')
  t.equal(topOf([0, 10, null, 5]), 11, 'there is room above the most')
  t.equal(topOf([0, null]), 1, 'an axis has a length')
  t.end()
})
