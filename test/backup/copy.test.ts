import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { copyDatabase, databaseFile } from '../../src/database/index.ts'
import { newFolder, stocked } from '../support/backups.ts'

t.test(
  'a copy of a ledger of many steps ends although a commit comes between any two, and is that of its beginning',
  async (t) => {
    const gateway = await stocked(t)
    const file = databaseFile(gateway.live.config.dataDir)
    const scanner = new BetterSqlite3(file)
    t.teardown(() => scanner.close())
    scanner.exec('CREATE TABLE filler (bytes BLOB)')
    const write = scanner.prepare('INSERT INTO filler VALUES (randomblob(1048576))')
    for (let n = 0; n < 24; n++) write.run()
    const target = join(newFolder(t), 'copy.db')
    let steps = 0
    await copyDatabase(file, target, () => {
      steps += 1
      if (steps > 50) throw new Error('the copy began again after every commit')
      write.run()
    })
    t.ok(steps >= 5, `${steps} steps of 4 MiB`)
    const copy = new BetterSqlite3(target, { readonly: true })
    t.teardown(() => copy.close())
    t.equal(copy.prepare('SELECT count(*) FROM filler').pluck().get(), 24)
    t.equal(copy.pragma('journal_mode', { simple: true }), 'delete', 'one file, without a log beside it')
  },
)
