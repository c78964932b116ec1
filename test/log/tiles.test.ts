import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { executor, openWriter } from '../../src/database/index.ts'
import {
  entryBundle,
  identifyLog,
  inclusionPath,
  Log,
  lacksTiles,
  leafHash,
  leafOfLog,
  MerkleFrontier,
  nodesOf,
  rootOf,
  rootOfPath,
  storedTiles,
  storeTiles,
  tileHashes,
  widthOfTile,
} from '../../src/log/index.ts'

/** The size of the example in c2sp.org/tlog-tiles. */
const size = 70_000

function emptyLog() {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-tiles-'))
  const { db, close } = openWriter({ dataDir, nowMs: 0 })
  t.teardown(() => {
    close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const tx = executor(db)
  const log = Log.open(
    tx,
    identifyLog(tx, 'dc-7', () => 'log-1', 0),
  )
  return { db, tx, log }
}

/** A log of 70,000 small leaves in a real database. */
function bigLog() {
  const { db, tx, log } = emptyLog()
  const tree = new MerkleFrontier()
  db.transaction(() => {
    for (let n = 1; n <= size; n += 1) log.append(tx, 'placement', String(n), { eventId: `e${n}` })
  })()
  for (const { hash } of db.prepare('SELECT hash FROM log_leaf ORDER BY seq').iterate() as Iterable<{ hash: Buffer }>) {
    tree.append(hash)
  }
  return { db, tx, root: tree.root() }
}

const { db, tx, root } = bigLog()

t.test(
  'full tiles are stored with their last leaf or in steps; partial ones follow from what is below them',
  async (t) => {
    const store = (most: number) => db.transaction(() => storeTiles(tx, 1, size, most))()
    t.equal(storedTiles(tx, 1), 255, 'up to the one that completes a tile of the next level')
    t.equal(lacksTiles(tx, 1, size), true)
    t.equal(store(10), true, 'there are more')
    t.equal(storedTiles(tx, 1), 265)
    t.equal(store(1000), false)
    t.equal(lacksTiles(tx, 1, size), false)
    t.same(
      db.prepare('SELECT level, count(*) AS tiles FROM log_tile GROUP BY level').all(),
      [
        { level: 0, tiles: 273 },
        { level: 1, tiles: 1 },
      ],
      'as the specification counts them for 70,000 entries',
    )
    t.same(
      [widthOfTile(0, 272, size), widthOfTile(0, 273, size), widthOfTile(1, 0, size), widthOfTile(1, 1, size)],
      [256, 112, 256, 17],
    )
    t.same([widthOfTile(2, 0, size), widthOfTile(2, 1, size), widthOfTile(3, 0, size)], [1, 0, 0])
    t.equal(tileHashes(tx, 1, 2, 0, 1).toString('hex'), rootOf(65_536, nodesOf(tx, 1, size)).toString('hex'))
    t.same(rootOf(size, nodesOf(tx, 1, size)), root, 'the root from the tiles is that over the leaves')
    t.same(
      tileHashes(tx, 1, 1, 1, 17).subarray(0, 5 * 32),
      tileHashes(tx, 1, 1, 1, 5),
      'a narrower tile is its beginning',
    )
  },
)

t.test('a leaf proves itself by the tiles, and an entry bundle has its bytes behind their length', async (t) => {
  for (const index of [0, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999]) {
    const leaf = leafOfLog(tx, 1, index + 1)
    const path = inclusionPath(index, size, nodesOf(tx, 1, size))
    t.same(rootOfPath(index, size, leafHash(leaf?.bytes as Buffer), path), root, `leaf ${index}`)
  }
  const bundle = entryBundle(tx, 1, 273, 112)
  const first = leafOfLog(tx, 1, 273 * 256 + 1)?.bytes as Buffer
  t.equal(bundle.readUInt16BE(0), first.length)
  t.same(bundle.subarray(2, 2 + first.length), first)
})

t.test('a tile is stored once and stays: no update, no deletion, no second one at its place', async (t) => {
  t.throws(() => db.exec(`UPDATE log_tile SET root = zeroblob(32)`), /append-only/)
  t.throws(() => db.exec('DELETE FROM log_tile'), /append-only/)
  t.throws(
    () => db.exec('INSERT INTO log_tile SELECT row + 1, log_id, level, n, hashes, root FROM log_tile'),
    /append-only/,
  )
})

t.test('an append is taken although a leaf is missing in its tile, which is then not stored', async (t) => {
  const { db, tx, log } = emptyLog()
  const append = (leaves: number) => {
    for (const end = log.size + leaves; log.size < end; ) log.append(tx, 'placement', 'x', { eventId: `e${log.size}` })
  }
  append(300)
  t.equal(storedTiles(tx, 1), 1)
  db.exec('DROP TRIGGER log_leaf_no_delete; DELETE FROM log_leaf WHERE seq = 290')
  append(500)
  t.equal(log.size, 800)
  t.equal(storedTiles(tx, 1), 1)
  t.equal(lacksTiles(tx, 1, 800), true)
  t.throws(() => storeTiles(tx, 1, 800, 16), /tile 0\/1 of log 1 lacks some of its 256 hashes/)
})
