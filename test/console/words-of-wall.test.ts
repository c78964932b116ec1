import t from 'tap'
import { readEnrolment } from '../../src/console/page/codes/enrolment-code.ts'
import { utilizationOf, wholePercent } from '../../src/console/page/data/floor-use.ts'
import type { Slot } from '../../src/console/page/data/shapes.ts'
import { shiftAt, shiftEveryMs, turnOf } from '../../src/console/page/wall/shift.ts'
import { wallTexts } from '../../src/console/page/wall/texts.ts'
import { wallTroubles } from '../../src/console/page/wall/trouble.ts'
import { components } from '../../src/health/kinds.ts'

t.test('the picture of a wall screen stays nowhere, never leaves its frame, and moves too slowly to be seen', (t) => {
  const steps = Array.from({ length: (24 * 3_600_000) / shiftEveryMs }, (_, step) => shiftAt(step))
  const places = new Map<string, number>()
  for (const [step, { x, y }] of steps.entries()) {
    const before = steps[Math.max(0, step - 1)] ?? { x, y }
    if (Math.max(Math.abs(x), Math.abs(y)) > 12) t.fail(`step ${step} leaves the 12 px that wall.css keeps free`)
    if (Math.max(Math.abs(x - before.x), Math.abs(y - before.y)) > 2) t.fail(`step ${step} is a jump`)
    places.set(`${x} ${y}`, (places.get(`${x} ${y}`) ?? 0) + 1)
  }
  t.equal(steps.length, 1440, 'a step a minute')
  t.ok(places.size > 250, `${places.size} places in a day`)
  t.ok(Math.max(...places.values()) <= 20, 'no place for more than 20 minutes of a day')
  t.same(
    [0, 59, 60, 119, 120].map((step) => shiftAt(step).isTurned),
    [false, false, true, true, false],
    'every hour the parts change places',
  )
  t.end()
})

t.test('what has no room at once on a wall screen takes turns, and all of it comes around', (t) => {
  t.same(turnOf([1, 2, 3, 4, 5, 6, 7, 8], 6, 0), [1, 2, 3, 4], 'not six and two')
  t.same(turnOf([1, 2, 3, 4, 5, 6, 7, 8], 6, 1), [5, 6, 7, 8])
  t.same(turnOf([1, 2, 3, 4, 5, 6, 7, 8], 6, 2), [1, 2, 3, 4])
  t.same(turnOf([1, 2], 6, 5), [1, 2], 'what has room stays')
  t.same(turnOf([], 6, 3), [])
  t.end()
})

const well = { enabled: true, online: true, state: 'live', problem: null, scene: null, impairment: null }
const away = { ...well, online: false, state: 'backing-off', problem: 'It does not answer.' }

t.test('a wall screen names the worst trouble first, and a part that it does not know is trouble as well', (t) => {
  const checks = {
    clock: { status: 'healthy' },
    backup: { status: 'degraded', reason: 'The newest backup is 3 days old.' },
    cameras: { status: 'degraded', reason: '1 of 2 cameras gives no pictures.' },
    database: { status: 'unhealthy', reason: 'It cannot be read.' },
    turbine: { status: 'degraded' },
  }
  const cameras = [
    { ...away, id: 1, name: 'Dock 1' },
    { ...well, id: 2, name: 'Dock 2' },
  ]
  const found = wallTroubles({ checks, cameras })
  t.same(
    found.map(({ what, isWorst }) => [what, isWorst]),
    [
      ['The ledger is in trouble', true],
      ['The backup is in trouble', false],
      ['A part of the gateway is in trouble: turbine', false],
      ['Dock 1 does not watch', false],
    ],
  )
  t.equal(found[1]?.means, 'The newest backup is 3 days old. Tell the admin.')
  t.same(Object.keys(wallTexts.health).toSorted(), [...components].toSorted(), 'every part has words of its own')
  t.same(wallTroubles({ checks: { clock: { status: 'healthy' } }, cameras: [{ ...well, id: 2, name: 'B' }] }), [])
  t.end()
})

t.test('a wall screen says which camera is covered, and nothing of one that need not watch', (t) => {
  const whatOf = (camera: object, checks = {}) =>
    wallTroubles({ checks, cameras: [{ ...well, id: 1, name: 'Dock 1', ...camera }] }).map(({ what }) => what)
  t.same(whatOf({ scene: { state: 'covered' } }), ['Dock 1: covered or dark'])
  t.same(whatOf({ scene: { state: 'turned' } }), ['Dock 1: turned to another view'])
  t.same(whatOf({ scene: { state: 'still' } }), ['Dock 1: the same picture all the time'])
  t.same(whatOf({ impairment: { why: 'few_pictures' } }), ['Dock 1: too few pictures'])
  t.same(whatOf({ impairment: { why: 'too_busy' } }), ['Dock 1: the gateway is too busy to look at it'])
  t.same(whatOf({ scene: { state: 'light' } }), [], 'somebody switched the light')
  t.same(whatOf({ ...away, enabled: false }), [])
  t.same(whatOf({ ...away, state: 'off' }), [], 'switched off, or outside its hours')
  t.same(whatOf({ ...away, state: 'connecting', problem: null }), [], 'the gateway just began')
  t.same(whatOf({ ...away, state: 'connecting' }), ['Dock 1 does not watch'])
  const unseen = { cameras: { status: 'degraded', reason: '1 camera gives no pictures.' } }
  t.same(whatOf({}, unseen), ['A camera is in trouble'], 'of a hall that this screen may not see')
  t.end()
})

t.test('an enrolment code is read from its QR code and from what somebody types', (t) => {
  t.same(readEnrolment('{"url":"https://gate.example:8443/","code":"abc","caFingerprint":"00"}'), {
    code: 'abc',
    url: 'https://gate.example:8443',
  })
  t.same(readEnrolment(' abc\n'), { code: 'abc' })
  t.same(readEnrolment('{"url":"https://gate.example"}'), { code: '', url: 'https://gate.example' })
  t.end()
})

t.test('a hall is full when its last slot is, and no share of whole percent loses one', (t) => {
  const slot = { retiredAt: null, zone: 'A', isVerified: true }
  const shown = (used: number, all: number) => {
    const slots = Array.from({ length: all }, (_, i) => ({
      ...slot,
      isOccupied: i < used,
    })) as unknown as readonly Slot[]
    return wholePercent(utilizationOf(slots, []).utilizationPercent)
  }
  t.equal(shown(999, 1000), 99)
  t.equal(shown(1000, 1000), 100)
  t.equal(shown(86, 120), 71)
  for (let percent = 0; percent <= 100; percent += 1) t.equal(shown(percent, 100), percent)
  t.end()
})
