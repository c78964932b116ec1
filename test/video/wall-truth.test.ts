import t from 'tap'
import { ages, missedAndFalse } from '../../scripts/soak/wall-truth.ts'

const walk = { cameraId: 1, fromMs: 10_000, toMs: 14_000 }
const within = { fromMs: 0, toMs: 60_000 }
const found = (atMs: number, cameraId = 1) => ({ cameraId, atMs, clipStatus: 'recorded' })

t.test('the wall counts an event as found by a detection of the same camera while it lasts', (t) => {
  const run = (...detections: ReturnType<typeof found>[]) =>
    missedAndFalse({ acts: [walk], found: detections, within, faulty: [] })
  t.match(run(found(10_400)), { events: 1, missed: { length: 0 }, false: { length: 0 } })
  t.match(run(found(10_400, 2)), { missed: { length: 1 }, false: { length: 1 } })
  t.match(run(), { missed: ['camera 1 at 1970-01-01T00:00:10.000Z'] })
  t.match(run(found(10_400), found(30_000)), { missed: { length: 0 }, false: ['camera 1 at 1970-01-01T00:00:30.000Z'] })
  t.end()
})

t.test('the wall says how many found events have no clip', (t) => {
  const cooled = { ...found(10_400), clipStatus: 'cooldown' }
  t.equal(missedAndFalse({ acts: [walk], found: [cooled], within, faulty: [] }).withoutClip, 1)
  t.equal(missedAndFalse({ acts: [walk], found: [cooled, found(11_000)], within, faulty: [] }).withoutClip, 0)
  t.end()
})

t.test('what a fault of the camera touches counts neither as missed nor as false', (t) => {
  const faulty = [{ cameraId: 1, fromMs: 12_000, toMs: 20_000 }]
  t.match(missedAndFalse({ acts: [walk], found: [found(18_000)], within, faulty }), {
    events: 0,
    missed: { length: 0 },
    false: { length: 0 },
  })
  t.end()
})

t.test('a picture is late when it is over a second older than reports and pictures come apart', (t) => {
  const sample = (ageMs: number, cameraId = 1) => ({ cameraId, ageMs, atMs: 15_000 })
  t.equal(ages([sample(200), sample(2200), sample(2201), sample(Number.NaN)], []), 0.5)
  t.equal(ages([sample(200), sample(9000, 2)], [{ cameraId: 2, fromMs: 14_000, toMs: 16_000 }]), 0)
  t.end()
})
