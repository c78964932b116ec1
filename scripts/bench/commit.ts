import { placementRecorded } from '../../src/ledger/events.ts'
import type { PlacementEventRow } from '../../src/ledger/index.ts'
import { placementFacts } from '../../src/ledger/index.ts'
import type { RecordedEvent } from '../../src/ledger/schema.ts'
import { append, linkPeople } from '../../src/ledger/store.ts'
import { systemClock } from '../../src/platform/index.ts'
import { oneOf } from '../../test/support/plain-sql.ts'
import { type Figure, millis } from './figure.ts'
import { CommitProbe, honestFdatasyncMs } from './machine.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'
import { furnish, keepPhoto, turn } from './seed.ts'
import { stateOf } from './site.ts'
import { quantile } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const slots = 500
const warmUp = 500
const measured = 1200

/**
 * Measures a separate commit for each event against the simplest durable commit of SQLite: one row in one table, WAL,
 * synchronous=FULL. Both are in the same folder and run in turns: once the rows alone, once with every decision before
 * them. The first commits are left out: a WAL that still grows is slower than one that is reused.
 */
export async function measureCommit(workshop: Workshop): Promise<Figure[]> {
  const dataDir = stateOf(workshop.newFolder('commit'))
  const rooms = openRooms(dataDir, systemClock)
  const probe = new CommitProbe(workshop.folder)
  try {
    await furnish(rooms, slots, slots)
    const photoUrl = await keepPhoto(rooms)
    const asked = { by: origin, claim: undefined, deviceTimeMs: undefined }
    const record = (n: number) => rooms.ledger.record(turn(n, slots, photoUrl), asked)
    const { body } = await record(0)
    const writeRows = rowsLike(rooms, body)
    const taken = { rows: [] as number[], event: [] as number[], simplest: [] as number[] }
    for (let n = 1; n <= warmUp + measured; n += 1) {
      taken.rows.push(await timedAsync(writeRows))
      taken.event.push(await timedAsync(() => record(n)))
      taken.simplest.push(probe.measure())
    }
    return figuresOf({
      rows: taken.rows.slice(warmUp),
      event: taken.event.slice(warmUp),
      simplest: taken.simplest.slice(warmUp),
    })
  } finally {
    probe.close()
    rooms.close()
  }
}

async function timedAsync(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Writes, in one unit of work, the rows of another event like `template`: leaf, event, notifications, audit entry. */
function rowsLike(
  { work, log, people, head, outbox, audit, makeId }: Rooms,
  template: RecordedEvent,
): () => Promise<void> {
  const sample = work.read((tx) =>
    oneOf<PlacementEventRow>(tx, 'SELECT * FROM main.placement_event WHERE id = +?', [template.id]),
  )
  if (!sample) throw new Error('the event to go by is not there')
  return () =>
    work.write((tx) => {
      const person = people.ofCaller(tx, origin.caller)
      const place = log.next()
      const said = {
        operator_commitment: person.inLeaf(place, 'operator'),
        actor_commitment: person.inLeaf(place, 'actor'),
      }
      const row = { ...sample, ...said, id: head.nextId, event_id: makeId() }
      const leaf = log.append(tx, 'placement', String(row.id), placementFacts(row))
      append(tx, { ...row, ...leaf })
      linkPeople(tx, row, { operator: person, actor: person })
      head.advance(row.id, head.nowMs(row.received_at_ms))
      outbox.publish(tx, placementRecorded({ ...template, id: row.id, eventId: row.event_id }, 1))
      audit.write(tx, origin, { action: 'placement.recorded', entity: 'event', entityId: row.id })
    })
}

function figuresOf(taken: { rows: number[]; event: number[]; simplest: number[] }): Figure[] {
  const simplestMs = quantile(taken.simplest, 0.5)
  const lies =
    simplestMs < honestFdatasyncMs ? '; no ratio: a commit this fast has reached no medium, the disk lies' : ''
  const against = (values: readonly number[]) => {
    const numbers = {
      commitP50Ms: quantile(values, 0.5),
      commitP99Ms: quantile(values, 0.99),
      simplestP50Ms: simplestMs,
      simplestP99Ms: quantile(taken.simplest, 0.99),
    }
    const p50 = `p50 ${millis(numbers.commitP50Ms)} against ${millis(simplestMs)}`
    const p99 = `p99 ${millis(numbers.commitP99Ms)} against ${millis(numbers.simplestP99Ms)}`
    return {
      value: lies ? null : numbers.commitP50Ms / simplestMs,
      unit: '×',
      raw: `${p50}, ${p99}${lies}`,
      numbers,
    } as const
  }
  return [
    {
      id: 'commit',
      what: "One durable commit of an event's rows, against the simplest commit of one row",
      target: { limit: 1.9, sense: 'at most' },
      ...against(taken.rows),
    },
    { id: 'commit-event', what: 'The same with all that is decided before the rows', ...against(taken.event) },
  ]
}
