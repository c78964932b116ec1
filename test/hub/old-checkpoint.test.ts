import t from 'tap'
import { FeedService } from '../../src/hub/feed/service.ts'
import { StoredRoots } from '../../src/hub/feed/stored-tree.ts'
import { connectionOf, HubDatabase, type HubTx, type HubWrite } from '../../src/hub/store/database.ts'
import type { HubStatement } from '../../src/hub/store/statement.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { checkpointText, noteOf, testLog } from '../support/evidence/forge.ts'
import { sha256, treeOver } from '../support/evidence/merkle.ts'
import { type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const log = testLog({ size: 1 })
/** 307,200 leaves: four full blocks of 65,536, and 176 bundles behind them. */
const stored = 1200
const bundles = Array.from({ length: stored }, (_, n) => sha256(Buffer.from(`bundle ${n}`)))

/** The database, with a count of the rows that come from it. */
class Counted extends HubDatabase {
  read = 0

  override transaction<T>(work: (tx: HubWrite) => Promise<T>): Promise<T> {
    return super.transaction((tx) => work({ ...tx, rows: this.#counted(tx.rows) }))
  }

  #counted(rows: HubTx['rows']): HubTx['rows'] {
    return async (statement: HubStatement, values: readonly unknown[]) => {
      const found = await rows(statement, values)
      this.read += found.length
      return found as never
    }
  }
}

/** Makes the head office have full bundles of the log, of which it knows the roots alone. */
async function haveBundles(hub: TestHub): Promise<void> {
  await hub.rows(
    `INSERT INTO entry_bundle (log_id, n, width, packed, root)
     SELECT $1, n, 256, '', sha256(('bundle ' || n)::bytea) FROM generate_series(0, ${stored - 1}) AS n`,
    [log.logId],
  )
  // 1,200 = 1,024 + 128 + 32 + 16.
  const peaks = [bundles.slice(0, 1024), bundles.slice(1024, 1152), bundles.slice(1152, 1184), bundles.slice(1184)]
  await hub.rows('UPDATE log_head SET size = $2, frontier = $3 WHERE log_id = $1', [
    ...[log.logId, stored * 256, Buffer.concat(peaks.map((some) => treeOver(some)))],
  ])
}

t.test(
  'a feed under an old checkpoint of a long log reads few rows, after those of its full blocks were read once',
  async (t) => {
    const hub = await testHub(t, postgres)
    await hub.enrol(log)
    await haveBundles(hub)
    const db = new Counted({ connection: connectionOf(hub.config.hub.database, 'app'), log: silentLogger() })
    t.teardown(() => db.close())
    const roots = new StoredRoots()
    const offerFor = async () => undefined
    const needs = {
      db,
      clock: hub.clock,
      log: silentLogger(),
      roots,
      cosign: () => '',
      openings: 'never',
      offerFor,
    } as const
    const feeds = new FeedService(needs)
    const [row] = await hub.rows('SELECT * FROM log WHERE log_id = $1', [log.logId])
    const known = { ...row, is_retired: false, ends_at: null } as never
    const feed = (size: number, root = treeOver(bundles.slice(0, size))) => {
      db.read = 0
      const checkpoint = noteOf(checkpointText(log.origin, size * 256, root), log.signers)
      return feeds.feed({ siteId: log.siteId, log: known }, log.logId, { checkpoint, from: size * 256, leaves: [] })
    }
    for (const [size, most] of [
      [1199, 1210],
      [1100, 265],
      [1023, 265],
      [257, 265],
      [1199, 265],
    ] as const) {
      t.match(await feed(size), { kind: 'fed', answer: { size: stored * 256 } })
      t.ok(db.read <= most, `${db.read} rows for a checkpoint over ${size} bundles`)
    }
    await t.rejects(
      feed(1023, sha256(Buffer.from('another'))),
      { code: 'LOG_FORKED' },
      'they are compared all the same',
    )
  },
)
