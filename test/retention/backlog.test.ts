import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { inFile } from '../support/cloud.ts'
import { testGateway } from '../support/gateway.ts'

t.test('a backlog is removed in small writes, and a request between them waits for one of them only', async (t) => {
  const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main' }]
  const retention = { clips: { maxAgeDays: 1 }, minFreeBytes: '1B', ledgerReserveBytes: '1B' }
  const gateway = await testGateway({ config: { cameras, retention } })
  t.teardown(() => gateway.end())
  const motionAt = gateway.clock.now() - 10 * 86_400_000
  for (let id = 1; id <= 450; id += 1) {
    gateway.cameras.heard({
      ...{ type: 'clipClosed', detectionId: id, cameraId: 7, motionAt: motionAt + id, score: 0.5, sceneChange: false },
      ...{ file: `${id}.mp4`, sha256: id.toString(16).padStart(64, '0'), sizeBytes: 1, startedAt: motionAt },
      ...{ endedAt: motionAt + 1, preRollSeconds: 3, askedPreRollSeconds: 3, durationSeconds: 8, pictures: 200 },
      ...{ longestGapSeconds: 0.04, original: true, width: 640, height: 360, peakScore: 0.5, closedBy: 'post-roll' },
      snapshot: null,
    })
  }
  await gateway.audit('test.settled', {})
  const removed: number[] = []
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  const count = db.prepare('SELECT count(*) FROM media_removed').pluck()
  let isDone = false
  const looking = gateway.retention.look().finally(() => {
    isDone = true
  })
  while (!isDone) {
    await gateway.audit('test.beside', {})
    removed.push(Number(count.get()))
  }
  await looking
  db.close()
  const steps = removed.map((n, i) => n - (removed[i - 1] ?? 0))
  t.ok(Math.max(...steps) <= 20, `at most ${Math.max(...steps)} between two requests`)
  t.equal(inFile(gateway, 'SELECT * FROM media_removed').length, 450)
  t.strictSame(inFile(gateway, 'SELECT * FROM clip_file UNION ALL SELECT *, 0, 0 FROM media_unlink'), [])
})
