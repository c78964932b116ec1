import t from 'tap'
import {
  type Answer,
  furnish,
  heldPhoto,
  type Person,
  people,
  type TestGateway,
  testGateway,
} from '../support/gateway.ts'
import { type ReplayedEvent, replayLocation, replaySlot } from '../support/replay.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { type ActStep, loadStories, type PostStep, type Story, type StoryCheck } from '../support/stories.ts'

type PeopleCheck = Extract<StoryCheck, { kind: 'operator' | 'step' }>
type FloorCheck = Exclude<StoryCheck, PeopleCheck>

/** Stands for a step that asks nothing of the API. */
const nothing: Answer = { status: 0, headers: new Headers(), body: {}, text: '', bytes: Buffer.alloc(0) }

/** Each story is played through the API; every answer, and the plain replay of what was recorded, must agree with it. */
for (const story of loadStories()) {
  t.test(`${story.name}: ${story.title}`, async (t) => {
    const gateway = await open(story)
    t.teardown(() => gateway.end())
    const recorded: Answer[] = []
    for (const [index, step] of story.steps.entries()) {
      if (step.kind === 'erase') {
        gateway.clock.setWall(Date.parse(step.received))
        const { outcome } = await gateway.erasePerson({ name: step.erase, texts: false }, 'root')
        t.strictSame({ outcome }, step.expect, `step ${index + 1}`)
        recorded.push(nothing)
        continue
      }
      if (step.kind === 'act') {
        const answer = await playAct(gateway, step, recorded)
        recorded.push(answer)
        t.strictSame(seenOfAct(answer, step), expectedOfAct(step), `step ${index + 1}`)
        continue
      }
      const answer = await play(gateway, step, recorded)
      recorded.push(answer)
      t.match(seen(answer), expected(step), `step ${index + 1}`)
      if (step.expect.status === 201) {
        t.same(warnings(answer), step.expect.warnings.toSorted(), `step ${index + 1}: exactly these warnings`)
        t.strictSame(stateOf(answer.body.slot), step.expect.slot, `step ${index + 1}: the slot after it`)
      }
    }
    const events = await replayed(gateway)
    for (const check of story.then) {
      if (check.kind === 'operator' || check.kind === 'step') {
        t.strictSame(
          await lookAtPeople(gateway, check, recorded),
          peopleWanted(check),
          `the gateway: ${JSON.stringify(check)}`,
        )
        continue
      }
      t.strictSame(await look(gateway, check), wanted(check), `the gateway: ${JSON.stringify(check)}`)
      t.strictSame(replayCheck(events, check, story), wanted(check), `the replay: ${JSON.stringify(check)}`)
    }
  })
}

async function open(story: Story): Promise<TestGateway> {
  const acts = story.steps.filter((step) => step.kind !== 'erase')
  const named = acts.map((step) => ({ username: step.by.user, role: step.by.role }))
  const everybody = new Map<string, Person>([...named, people.ada].map((p) => [`${p.username} ${p.role}`, p]))
  const gateway = await testGateway({
    clock: new SimulatedClock(Date.parse(story.steps[0]?.received ?? '') - 60_000),
    people: [...everybody.values()],
    config: { ledger: { enforce: story.given.enforce, ...story.given.ledger } },
  })
  await furnish(gateway, [])
  for (const { slot_id, constraints } of story.given.slots) {
    const floor_plan_polygon = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
    ]
    const body = { slot_id, zone: 'S', floor_plan_polygon, ...(constraints && { constraints }) }
    await gateway.ask('POST', '/api/whms/slots', { by: people.ada, body })
  }
  for (const asset of story.given.assets) await gateway.ask('POST', '/api/whms/assets', { by: people.ada, body: asset })
  return gateway
}

let photos = 0

/** A separate photo for each event, unless the story shows another step's again. */
async function photoOf(gateway: TestGateway, shows: 'held' | number): Promise<string> {
  photos += 1
  return heldPhoto(gateway, shows === 'held' ? photos : 1_000_000 + shows)
}

async function bodyOf(
  gateway: TestGateway,
  { photo, corrects_step, ...post }: PostStep['post'],
  recorded: readonly Answer[],
) {
  return {
    ...post,
    ...(photo !== undefined && { photo_url: await photoOf(gateway, photo) }),
    ...(corrects_step !== undefined && { corrects_event_id: recorded[corrects_step - 1]?.body.id }),
  }
}

async function playAct(gateway: TestGateway, step: ActStep, recorded: readonly Answer[]): Promise<Answer> {
  gateway.clock.setWall(Date.parse(step.received))
  const { move, correct, batch } = step.act
  const post = (path: string, body: unknown) =>
    gateway.ask('POST', `/api/whms/${path}`, {
      by: { username: step.by.user, role: step.by.role },
      body,
      headers: step.deviceTime ? { 'X-Device-Time': step.deviceTime } : {},
    })
  if (move) {
    const { photo, ...body } = move
    return post('moves', { ...body, photo_url: await photoOf(gateway, photo) })
  }
  if (correct) {
    const { step: wrong, ...body } = correct
    return post(`events/${recorded[wrong - 1]?.body.id}/correct`, { ...body, reason: 'booked wrong' })
  }
  const events = await Promise.all((batch?.events ?? []).map((one) => bodyOf(gateway, one, recorded)))
  return post('events/batch', { mode: batch?.mode, events })
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Appended = any

function seenOfAct({ status, body }: Answer, step: ActStep) {
  if (status >= 400) return { status, code: body.error.code }
  const all: Appended[] = body.events ??
    body.results?.flatMap((r: Appended) => r.event ?? []) ?? [body.removed, body.placed]
  const wanted = 'events' in step.expect ? step.expect.events : []
  const events = all
    .filter((event) => event !== null)
    .map((event, i) => ({
      event_type: event.event_type,
      slot: event.slot_code,
      asset: event.asset_barcode,
      ...(wanted[i]?.timestamp && { timestamp: event.timestamp }),
      effect: event.effect,
      warnings: event.warnings.map((w: { code: string }) => w.code).toSorted(),
    }))
  return { status, events }
}

function expectedOfAct({ expect }: ActStep) {
  if (!('events' in expect)) return expect
  const events = expect.events.map(({ timestamp, effect, warnings, ...one }) => ({
    ...one,
    ...(timestamp && { timestamp }),
    effect,
    warnings: warnings.toSorted(),
  }))
  return { status: expect.status, events }
}

async function play(gateway: TestGateway, step: PostStep, recorded: readonly Answer[]): Promise<Answer> {
  gateway.clock.setWall(Date.parse(step.received))
  const body = await bodyOf(gateway, step.post, recorded)
  return gateway.ask('POST', '/api/whms/events', {
    by: { username: step.by.user, role: step.by.role },
    body,
    headers: step.deviceTime ? { 'X-Device-Time': step.deviceTime } : {},
  })
}

function seen(answer: Answer) {
  if (answer.status !== 201) return { status: answer.status, code: answer.body.error.code }
  return { status: answer.status, effect: answer.body.effect, timestamp: answer.body.timestamp }
}

function expected({ expect }: PostStep) {
  if (expect.status !== 201) return { status: expect.status, code: expect.code }
  return { status: 201, effect: expect.effect, ...(expect.timestamp && { timestamp: expect.timestamp }) }
}

const warnings = (answer: Answer): string[] => answer.body.warnings.map((w: { code: string }) => w.code).toSorted()

function stateOf({ isOccupied, assetBarcode, isVerified, isDisputed }: Record<string, unknown>) {
  return { isOccupied, assetBarcode, ...(isVerified !== undefined && { isVerified, isDisputed }) }
}

const query = (check: FloorCheck) => {
  const asked = new URLSearchParams({
    ...(check.at && { at: check.at }),
    ...(check.known_at && { known_at: check.known_at }),
  })
  return asked.size > 0 ? `?${asked}` : ''
}

async function look(gateway: TestGateway, check: FloorCheck): Promise<unknown> {
  if (check.kind === 'slot') {
    const slot = await gateway.ask('GET', `/api/whms/slots/${encodeURIComponent(check.slot)}${query(check)}`, {
      by: people.ada,
    })
    return stateOf(slot.body)
  }
  const path = `/api/whms/assets/${encodeURIComponent(check.asset)}/location${query(check)}`
  const { status, body } = await gateway.ask('GET', path, { by: people.ada })
  return status === 404 ? 'unknown' : (body.slot?.slot_id ?? null)
}

const wanted = (check: FloorCheck) => (check.kind === 'slot' ? check.is : check.location)

async function replayed(gateway: TestGateway): Promise<ReplayedEvent[]> {
  const { body } = await gateway.ask('GET', '/api/whms/events?limit=500&after_seq=0', { by: people.ada })
  return body.data.map((event: Record<string, string>) => ({
    id: event['id'],
    eventType: event['event_type'],
    slotId: event['slot_id'],
    assetBarcode: event['asset_barcode'],
    assetKey: event['asset_key'],
    timestampMs: Date.parse(event['timestamp'] ?? ''),
    receivedAtMs: Date.parse(event['received_at'] ?? ''),
  }))
}

function replayCheck(events: readonly ReplayedEvent[], check: FloorCheck, story: Story): unknown {
  const labels = story.given.slots.map((slot) => slot.slot_id)
  const when = {
    ...(check.at && { atMs: Date.parse(check.at) }),
    ...(check.known_at && { knownAtMs: Date.parse(check.known_at) }),
  }
  if (check.kind === 'slot') return replaySlot(events, labels.indexOf(check.slot) + 1, when)
  // The replay knows keys only; the gateway says which one the barcode has.
  const key = events.find((event) => event.assetBarcode === check.asset)?.assetKey ?? check.asset
  const location = replayLocation(events, key, when)
  if (location) return location.slotId === null ? null : labels[location.slotId - 1]
  return story.given.assets.some((asset) => asset.asset_id === check.asset) ? null : 'unknown'
}

async function lookAtPeople(gateway: TestGateway, check: PeopleCheck, recorded: readonly Answer[]): Promise<unknown> {
  if (check.kind === 'step') {
    const { body } = await gateway.ask('GET', `/api/whms/events/${recorded[check.step - 1]?.body.id}`, {
      by: people.ada,
    })
    return { operator: body.operator, actor: body.actor }
  }
  const found = await gateway.ask('GET', `/api/whms/events?operator=${encodeURIComponent(check.operator)}`, {
    by: people.ada,
  })
  return found.body.data
    .map(({ id }: { id: number }) => recorded.findIndex((answer) => answer.body.id === id) + 1)
    .toReversed()
}

const peopleWanted = (check: PeopleCheck): unknown => (check.kind === 'step' ? check.shows : check.steps)
