import t, { type Test } from 'tap'
import { waitMs } from '../../src/video/events/failures.ts'
import { type Footage, footage } from '../support/footage.ts'
import { EventCamera, type EventCameraOptions, type EventFault, type Message } from '../support/onvif/event-camera.ts'
import { makers } from '../support/onvif/makers.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { eventually, waitUntil } from '../support/waiting.ts'
import { CameraBench, type MessageOf, usualMotion } from './camera-bench.ts'

t.jobs = 5

const [empty, crossing] = await Promise.all([footage('empty'), footage('crossing')])
/** As in the bench's motion settings, the second with an interval of key frames. */
const [cooldownMs, preRollMs] = [1000, 2200]
const account = { username: 'gatehouse', password: 'geheim & "mehr"' }

/** A camera with analytics, whose stream shows the empty hall, and the gateway's camera thread. */
async function watched(
  t: Test,
  options: EventCameraOptions = {},
  more: {
    source?: 'camera' | 'both'
    rules?: Record<string, 'person' | 'ignore' | 'line'>
    initial?: Message[]
    shows?: Footage
    postRecordSeconds?: number
  } = {},
) {
  const rtsp = await startRtspServer({ streams: { hall: more.shows ?? empty } })
  const analytics = await new EventCamera(options).start()
  analytics.initial = more.initial ?? []
  const bench = await CameraBench.open({ secrets: { 'secrets/cam': account.password } })
  const { source = 'camera', rules = {}, postRecordSeconds = usualMotion.postRecordSeconds } = more
  bench.camera(1, rtsp.url('hall'), {
    events: { source, url: analytics.url, rules },
    motion: { ...usualMotion, postRecordSeconds },
    ...(options.auth && { username: account.username, passwordFile: 'secrets/cam' }),
  })
  t.teardown(async () => {
    await bench.close()
    await analytics.stop()
    await rtsp.stop()
  })
  const status = (): MessageOf<'status'> | undefined => bench.of('status').at(-1)
  return { analytics, bench, rtsp, status }
}

const isListening = (analytics: EventCamera) =>
  waitUntil('the gateway waits for events', () => (analytics.asked['PullMessages'] ?? 0) > 0)

const fired = (bench: CameraBench) => bench.of('motionFired')

for (const { name, habits, rules } of makers) {
  t.test(`a rule of a camera by ${name} makes a clip of its kind`, async (t) => {
    const clockAheadMs = 3_600_000
    const { analytics, bench, status } = await watched(t, { habits, auth: account, clockAheadMs })
    await isListening(analytics)
    await eventually(status, (one) => (one?.heldSeconds ?? 0) > 2.5)
    for (const [i, rule] of rules.entries()) {
      const beganAt = Date.now()
      analytics.begin(rule)
      const message = await eventually(
        () => fired(bench)[i],
        (one) => one !== undefined,
      )
      t.match(message, { trigger: 'camera', kinds: [rule.kind], clip: true, sceneChange: rule.kind === 'tamper' })
      const lateMs = (message?.motionAt ?? 0) - beganAt
      t.ok(lateMs > -2000 && lateMs < 2000, `motion began when the rule fired, not ${lateMs} ms later`)
      analytics.end(rule)
      const clip = await eventually(
        () => bench.of('clipClosed')[i],
        (one) => one !== undefined,
      )
      t.match(clip, { kinds: [rule.kind], trigger: 'camera', closedBy: 'post-roll' })
      t.ok((clip?.preRollSeconds ?? 0) > 1, `${clip?.preRollSeconds} s of pre-roll`)
      await waitUntil('the cooldown is over', () => Date.now() > (clip?.endedAt ?? 0) + cooldownMs + preRollMs)
    }
    const seen = await eventually(status, (one) => (one?.events?.rules.length ?? 0) >= rules.length)
    const sorted = rules.map(({ rule, kind }) => ({ rule, kind, isMapped: false }))
    t.strictSame(
      seen?.events?.rules,
      [...sorted].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
    )
    t.equal(seen?.frameCount, 0, 'no picture was decoded')
    t.equal(bench.decoderPid(1), undefined)
    t.match(seen?.events, { isUp: true, problem: null, words: habits.has1970 ? /times that cannot be/ : null })
    t.equal(analytics.unnamed, 0)
  })
}

/** A rule that has a beginning and an end, one without an end, and one that the gateway does not know. */
const person = { topic: 'tns1:RuleEngine/MyRuleDetector/PeopleDetect', source: { Source: '0' } }
const line = { topic: 'tns1:RuleEngine/LineDetector/Crossed', source: { Rule: 'Gate' } }
const door = { topic: 'tns1:Device/Trigger/DigitalInput', source: { InputToken: '0' } }
const [on, off] = [{ State: 'true' }, { State: 'false' }]

t.test('somebody who stands there when the gateway comes is no event; the next one is', async (t) => {
  const initial: Message[] = [{ ...person, data: on, operation: 'Initialized' }]
  const { analytics, bench, status } = await watched(t, {}, { initial })
  await eventually(status, (one) => one?.events?.rules.length === 1)
  t.strictSame(fired(bench), [])
  analytics.emit({ ...person, data: off }, { ...person, data: on })
  await bench.until(() => fired(bench).length === 1)
})

t.test('a message that comes again is no second event, and a flood of messages makes one clip', async (t) => {
  // On a busy machine, more than a second passes between two answers of one flood.
  const { analytics, bench, status } = await watched(t, {}, { postRecordSeconds: 3 })
  await isListening(analytics)
  await eventually(status, (one) => (one?.heldSeconds ?? 0) > 0.5)
  const at = new Date()
  analytics.emit({ ...person, data: on, at }, { ...person, data: off })
  await bench.until(() => bench.of('clipClosed').length === 1)
  analytics.initial = [{ ...person, data: on, at }]
  analytics.restart()
  await waitUntil('it has heard that again', () => (analytics.asked['CreatePullPointSubscription'] ?? 0) >= 2)
  await eventually(status, (one) => one?.events?.isUp === true)
  t.equal(fired(bench).length, 1)
  // The camera's clock is known to about a second: its events may seem to be from before.
  const overMs = cooldownMs + preRollMs
  await waitUntil('the cooldown is over', () => Date.now() > (bench.of('clipClosed')[0]?.endedAt ?? 0) + overMs)
  const before = analytics.asked['PullMessages'] ?? 0
  const beganMs = performance.now()
  const flood = Array.from({ length: 600 }, (_, i): Message => ({ ...person, data: i % 2 ? off : on }))
  analytics.emit(...flood)
  await bench.until(() => bench.of('clipClosed').length === 2)
  const pulls = (analytics.asked['PullMessages'] ?? 0) - before
  const seconds = (performance.now() - beganMs) / 1000
  t.ok(pulls <= 4 * seconds + 2, `${pulls} pulls in ${seconds} s`)
  t.equal(fired(bench).length, 2)
})

t.test('a time that is to come is replaced by that of the arrival, and the camera is remarked', async (t) => {
  const { analytics, bench, status } = await watched(t)
  await isListening(analytics)
  const beganAt = Date.now()
  analytics.emit({ ...line, data: {}, at: new Date(beganAt + 86_400_000) })
  await bench.until(() => fired(bench).length === 1)
  const { motionAt = 0, kinds } = fired(bench)[0] ?? {}
  t.strictSame(kinds, ['line'])
  t.ok(motionAt >= beganAt - 1000 && motionAt <= Date.now(), new Date(motionAt).toISOString())
  t.match(await eventually(status, (one) => typeof one?.events?.words === 'string'), {
    events: { isUp: true, words: /state times that cannot be/ },
  })
})

t.test(
  'the config says what a rule means; one that the gateway does not know is listed, and means nothing',
  async (t) => {
    const rules = { Gate: 'person', 'MyRuleDetector/PeopleDetect': 'ignore' } as const
    const { analytics, bench, status } = await watched(t, {}, { rules })
    await isListening(analytics)
    analytics.emit({ ...person, data: on }, { ...door, data: { LogicalState: 'true' } }, { ...line, data: {} })
    await bench.until(() => fired(bench).length === 1)
    t.match(fired(bench), [{ kinds: ['person'] }])
    const seen = await eventually(status, (one) => one?.events?.rules.length === 3)
    t.strictSame(seen?.events?.rules, [
      { rule: 'Gate', kind: 'person', isMapped: true },
      { rule: 'MyRuleDetector/PeopleDetect', kind: 'ignore', isMapped: true },
      { rule: 'Trigger/DigitalInput', kind: 'ignore', isMapped: false },
    ])
  },
)

t.test('with both, what the pictures show and the camera names is one detection', async (t) => {
  const { analytics, bench } = await watched(t, {}, { source: 'both', shows: crossing })
  await bench.until(() => fired(bench).length === 1)
  t.notOk(fired(bench)[0]?.trigger, 'the pictures were first')
  analytics.emit({ ...person, data: on })
  await waitUntil('the camera was heard', () => bench.of('status').at(-1)?.events?.rules.length === 1)
  analytics.emit({ ...person, data: off })
  await bench.until(() => bench.of('clipClosed').length === 1)
  const [clip] = bench.of('clipClosed')
  t.strictSame(clip?.kinds, ['person'])
  t.ok((clip?.peakScore ?? 0) > 0.3)
  t.equal(fired(bench).length, 1)
})

t.test('while a rule is on the clip goes on, and it ends with the post-roll', async (t) => {
  const { analytics, bench } = await watched(t)
  await isListening(analytics)
  await bench.state(1, 'live')
  analytics.emit({ ...person, data: on })
  await bench.until(() => fired(bench).length === 1)
  const lastsMs = 4000
  await waitUntil('it lasts', () => Date.now() > (fired(bench)[0]?.motionAt ?? 0) + lastsMs)
  t.strictSame(bench.of('clipClosed'), [])
  analytics.emit({ ...person, data: off })
  await bench.until(() => bench.of('clipClosed').length === 1)
  const { endedAt = 0, motionAt = 0 } = bench.of('clipClosed')[0] ?? {}
  t.ok(endedAt - motionAt > lastsMs && endedAt - motionAt < lastsMs + 3000, `${endedAt - motionAt} ms`)
})

t.test('without a subscription the camera does not watch, and with one again it does', async (t) => {
  const { analytics, bench, status } = await watched(t)
  await bench.state(1, 'live')
  await eventually(status, (one) => one?.impairment?.why === null && one.events?.isUp === true)
  analytics.fault = 'forgets'
  analytics.restart()
  t.match(await eventually(status, (one) => one?.impairment?.why === 'no_events'), {
    events: { isUp: false, problem: /forgotten|unreachable/ },
  })
  analytics.fault = undefined
  bench.retry(1)
  await eventually(status, (one) => one?.impairment?.why === null && one.events?.problem === null)
  bench.remove(1)
  await waitUntil('the camera has no subscription left', () => analytics.subscriptions === 0)
  t.ok((analytics.asked['Unsubscribe'] ?? 0) >= 1)
})

const faults: [EventFault, string, RegExp][] = [
  ['forgets', 'forgotten', /ended the subscription/],
  ['full', 'no-place', /no subscription left/],
  ['cut', 'unreachable', /does not answer/],
  ['endless', 'too-large', /larger than any list/],
  ['garbage', 'unreadable', /cannot be read/],
  ['entities', 'unreadable', /cannot be read/],
  ['deep', 'unreadable', /cannot be read/],
  ['without', 'no-events', /offers no events/],
]
for (const [fault, problem, words] of faults) {
  t.test(`a camera that ${fault} is asked with longer and longer waits, and with both it is a remark`, async (t) => {
    const { analytics, bench, status } = await watched(t, {}, { source: 'both' })
    analytics.fault = fault
    analytics.restart()
    await eventually(status, (one) => one?.events?.problem === problem)
    const [before, beganMs] = [{ ...analytics.asked }, performance.now()]
    const attempts = () => (analytics.asked['GetSystemDateAndTime'] ?? 0) - (before['GetSystemDateAndTime'] ?? 0)
    const more = () => analytics.asked['GetSystemDateAndTime'] ?? analytics.asked[''] ?? 0
    const first = more()
    await waitUntil('two more attempts', () => more() >= first + 2)
    t.ok(performance.now() - beganMs > 900, 'at least half of one second and of two')
    t.ok(attempts() <= 3)
    t.match(status()?.events, { isUp: false, problem, words })
    t.not(status()?.impairment?.why, 'no_events')
    t.equal(bench.log.match(/gives no events by ONVIF/g)?.length, 1, 'one line in the log')
  })
}

t.test('a wrong password is sent three times, then every half hour; a new one at once', async (t) => {
  const sent = (refusals: number) => waitMs('refused', { inRow: refusals, refusals }, 0) / 1000
  t.strictSame([1, 2, 3, 4].map(sent), [10, 20, 1800, 1800])
  t.strictSame(
    [1, 2, 3, 7, 100].map((inRow) => waitMs('unreachable', { inRow, refusals: 0 }, 0) / 1000),
    [1, 2, 4, 60, 60],
  )
  const { analytics, bench, status } = await watched(t, { auth: { ...account, password: 'another' } })
  const noAccount = { events: { source: 'camera', url: analytics.url, rules: {} } } as const
  bench.camera(1, 'rtsp://127.0.0.1:9/hall', { ...noAccount, username: account.username, passwordFile: 'secrets/cam' })
  await eventually(status, (one) => one?.events?.problem === 'refused')
  bench.secrets['secrets/cam'] = 'another'
  bench.reloadSecrets()
  await eventually(status, (one) => one?.events?.isUp === true)
  t.notMatch(bench.log, 'geheim')
})
