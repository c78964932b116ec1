import t from 'tap'
import type { Gap, ListedCamera } from '../../src/console/page/data/shapes.ts'
import { alertsOf, meaningOf, standingOf } from '../../src/console/page/i18n/camera-words.ts'
import { kinds } from '../../src/health/kinds.ts'

const camera: ListedCamera = {
  ...{ id: 3, name: 'Dock 3', enabled: true, state: 'live', online: true, lastFrameAt: null },
  ...{ problem: null, problemCode: null },
  ...{
    purpose: null,
    warehouseId: 1,
    slots: [],
    scene: { state: 'normal', forSeconds: 5 },
    impairment: null,
    analytics: null,
  },
  motion: { running: true, settings: { sensitivity: 0.3 }, area: null },
}
const nowMs = Date.parse('2026-11-22T15:00:00Z')
const gap = (cause: Gap['cause'], from = '2026-11-22T12:30:00Z'): Gap => ({
  cctvId: 3,
  from,
  to: null,
  cause,
  detail: null,
})
const away = {
  ...camera,
  state: 'backing-off',
  online: false,
  scene: null,
  problem: 'Nothing answers.',
  problemCode: 'unreachable',
} as const
const wordsOf = (one: ListedCamera, lasting?: Gap) => standingOf(one, lasting, nowMs, 'Europe/Berlin')

t.test('a camera says how it is in plain words, in the time of its hall', async (t) => {
  t.same(wordsOf(camera), { tone: 'ok', state: 'Watching', why: '' })
  t.match(wordsOf({ ...camera, motion: { ...camera.motion, running: false } }), { state: 'Live' })
  t.match(wordsOf({ ...camera, scene: { state: 'covered', forSeconds: 180 } }), {
    tone: 'warn',
    state: 'Covered or dark',
    why: /^For 3 minutes\./,
  })
  t.match(wordsOf({ ...camera, impairment: { why: 'few_pictures', forSeconds: 180 } }), {
    tone: 'warn',
    state: 'Too few pictures',
    why: /^For 3 minutes\. It sends fewer than 3 pictures a second/,
  })
  t.match(wordsOf({ ...camera, impairment: { why: 'too_busy', forSeconds: 180 } }), {
    tone: 'warn',
    state: 'Not looked at',
    why: /too busy/,
  })
  const damaged = { ...camera, problem: 'Many pictures arrive damaged.', problemCode: 'damaged-pictures' }
  t.same(
    wordsOf(damaged),
    { tone: 'warn', state: 'Watching', why: 'Many pictures arrive damaged.' },
    'live, with a problem',
  )
  t.same(wordsOf(away, gap('offline')), {
    tone: 'danger',
    state: 'Away',
    why: 'Since 13:30, because the camera was offline. Nothing answers.',
  })
  t.match(
    wordsOf(away, gap('offline', '2026-11-20T12:30:00Z')).why,
    /^Since 20 Nov 2026, 13:30, /,
    'long ago: with the day',
  )
  t.match(
    wordsOf(away, { ...gap('offline'), to: '2026-11-22T12:40:00Z' }).why,
    'Nothing answers.',
    'an old gap is no cause',
  )
  const off = { ...camera, state: 'off', online: false, scene: null } as const
  t.match(wordsOf(off, gap('outside_hours')), { tone: 'off', state: 'Outside its hours' })
  t.match(wordsOf(off, gap('disarmed')), {
    tone: 'off',
    state: 'Switched off',
    why: /^Since 13:30\. Motion is not recorded/,
  })
})

t.test('each alert of a camera stands with that camera, and says what it means and what to do', async (t) => {
  const one = (id: number, kind: string, subject: string) => ({
    id,
    kind,
    subject,
    message: '',
    createdAt: '',
    acknowledgedAt: null,
    severity: 'warning' as const,
    resolvedAt: null,
  })
  const all = [
    one(1, 'camera.offline', '3'),
    one(2, 'camera.pre-roll', 'pre-roll 3'),
    one(3, 'camera.offline', '33'),
    one(4, 'webhook.failing', '3'),
  ]
  t.same(
    alertsOf(all, camera).map(({ id }) => id),
    [1, 2],
  )
  const own = Object.keys(kinds).filter((kind) => kind.startsWith('camera.'))
  t.ok(own.length >= 5)
  const other = meaningOf({ kind: 'camera.something' })
  for (const kind of own) t.not(meaningOf({ kind }).means, other.means, `${kind} has words of its own`)
})
