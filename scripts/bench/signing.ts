import { Checkpoints, KeyRing } from '../../src/evidence/index.ts'
import { AuditDigests, type AuditEntryRow, entryHash } from '../../src/journal/index.ts'
import { silentLogger, systemClock } from '../../src/platform/index.ts'
import { type Figure, rounded } from './figure.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'
import { furnish, keepPhoto, turn } from './seed.ts'
import { stateOf } from './site.ts'
import { median } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const slots = 500
/** Leaves after which the gateway signs, at the latest. */
const leavesOfOne = 256
const rounds = 12

/**
 * Measures the cost of signing on the main thread: a checkpoint with both signatures. Also measures the share of an append for
 * tiles, checkpoints, the hash of its audit entry and its digest, against an append without them. Takes CPU of this thread, so
 * waiting for the disk does not count.
 */
export async function measureSigning(workshop: Workshop): Promise<Figure[]> {
  const dataDir = stateOf(workshop.newFolder('signing'))
  const rooms = openRooms(dataDir, systemClock)
  try {
    await furnish(rooms, slots, slots)
    const photoUrl = await keepPhoto(rooms)
    const asked = { by: origin, claim: undefined, deviceTimeMs: undefined }
    const signing = signingOf(rooms, dataDir)
    const taken = { append: [] as number[], checkpoint: [] as number[], digest: [] as number[], hash: [] as number[] }
    let n = 0
    const append = async () => {
      for (const end = n + leavesOfOne; n < end; n += 1) await rooms.ledger.record(turn(n, slots, photoUrl), asked)
    }
    await append()
    await signing.digests.look()
    await signing.checkpoints.make()
    for (let round = 0; round < rounds; round += 1) {
      taken.append.push(await cpuOf(append))
      taken.digest.push(await cpuOf(() => signing.digests.look()))
      taken.checkpoint.push(await cpuOf(() => signing.checkpoints.make()))
      taken.hash.push(await cpuOf(() => hashEntries(rooms)))
    }
    return figuresOf({
      append: median(taken.append),
      digest: median(taken.digest),
      checkpoint: median(taken.checkpoint),
      hash: median(taken.hash),
    })
  } finally {
    rooms.close()
  }
}

function signingOf(rooms: Rooms, dataDir: string) {
  const { work, log: logRoom, makeId } = rooms
  const log = silentLogger()
  const keys = new KeyRing({ work, log, logRoom, dataDir })
  const clock = systemClock
  const checkpoints = new Checkpoints({
    ...{ work, clock, log, logRoom, dataDir, keys },
    settings: () => ({ everyMs: 300_000, leaves: leavesOfOne }),
    verify: () => Promise.resolve({ ok: true }),
  })
  const digests = new AuditDigests({ work, clock, logger: log, log: logRoom, makeId })
  return { checkpoints, digests }
}

/** Computes and writes the hash of as many audit entries as one round of appends makes, as each append does for its own. */
function hashEntries({ db }: ReturnType<typeof openRooms>): void {
  db.exec(
    'CREATE TEMP TABLE IF NOT EXISTS hashed (entry_id INTEGER PRIMARY KEY, hash BLOB NOT NULL); DELETE FROM hashed',
  )
  const entries = db
    .prepare<[number], AuditEntryRow>('SELECT * FROM audit_entry ORDER BY id DESC LIMIT ?')
    .all(leavesOfOne)
  const write = db.prepare('INSERT INTO hashed VALUES (?, ?)')
  for (const entry of entries) write.run(entry.id, entryHash(entry))
}

/** CPU of this thread alone, in milliseconds: requests wait for it. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = threadMs()
  await work()
  return threadMs() - before
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function figuresOf(ms: Record<'append' | 'digest' | 'checkpoint' | 'hash', number>): Figure[] {
  const share = ms.digest + ms.checkpoint
  const us = (value: number) => `${rounded((value * 1000) / leavesOfOne)} µs`
  return [
    {
      id: 'signing-share',
      what: 'CPU of an append with its share of tile, checkpoint, audit hash and digest, against one without',
      value: (ms.append + share) / (ms.append - ms.hash),
      unit: '×',
      target: { limit: 1.1, sense: 'at most' },
      raw: `append ${us(ms.append)}, of it audit hash ${us(ms.hash)}; its share of checkpoint and tile ${us(ms.checkpoint)}, of digests ${us(ms.digest)}`,
      numbers: { appendsMs: ms.append, digestsMs: ms.digest, checkpointMs: ms.checkpoint, hashesMs: ms.hash },
    },
    {
      id: 'checkpoint',
      what: 'CPU of the main thread for a checkpoint over 256 new leaves: root, both signatures, row',
      value: ms.checkpoint,
      unit: 'ms',
      target: { limit: 2, sense: 'at most' },
      raw: `median of ${rounds}`,
      numbers: { checkpointMs: ms.checkpoint },
    },
  ]
}
