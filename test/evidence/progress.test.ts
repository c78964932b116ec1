import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { progressOn } from '../../src/cli/ledger/ledger.ts'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { leafHash } from '../support/evidence/merkle.ts'
import { signedLedger } from '../support/tamper.ts'

t.test('a verification says how far it is, from nothing to almost all, never backwards', async (t) => {
  const { dataDir } = await signedLedger(t)
  const shares: number[] = []
  t.ok(verifyLedger(dataDir, { onProgress: (share) => shares.push(share) }).ok)
  t.equal(shares[0], 0)
  t.ok((shares.at(-1) ?? 0) >= 0.9, String(shares))
  t.ok(shares.length > 3 && shares.length <= 101)
  t.strictSame(
    shares,
    shares.toSorted((a, b) => a - b),
  )
})

t.test('what a running gateway appends and signs meanwhile is no mismatch', async (t) => {
  const { dataDir } = await signedLedger(t)
  const other = new BetterSqlite3(databaseFile(dataDir))
  t.teardown(() => other.close())
  let isDone = false
  const onProgress = (share: number) => {
    if (isDone || share < 0.1) return
    isDone = true
    const { row, seq } = other.prepare('SELECT row, seq FROM log_leaf ORDER BY row DESC').get() as {
      row: number
      seq: number
    }
    const bytes = Buffer.from('{}')
    const leaf = [row + 1, seq + 1, bytes, leafHash(bytes)]
    other.prepare(`INSERT INTO log_leaf VALUES (?, 1, ?, 'camera-gap', '1', ?, ?)`).run(...leaf)
    other.exec(
      `INSERT INTO log_checkpoint SELECT max(row) + 1, 1, ${seq + 1}, root, note, signed_at_ms FROM log_checkpoint`,
    )
  }
  t.match(verifyLedger(dataDir, { onProgress }), { ok: true, size: 7, mismatches: { length: 0 } })
  t.ok(isDone)
  t.match(verifyLedger(dataDir), { ok: false, size: 8 }, 'the next run looks at it')
})

t.test('percent are shown on a terminal, and cleared; a program sees nothing', (t) => {
  let shown = ''
  const write = (text: unknown) => {
    shown += String(text)
    return true
  }
  const progress = progressOn({ isTTY: true, write })
  progress?.at(0.347)
  progress?.end()
  progress?.at(0.5)
  t.equal(shown, '\rverifying: 34 %\r\u001b[K')
  t.equal(progressOn({ isTTY: false, write }), undefined)
  t.end()
})
