import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { place } from '../support/backups.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { segmenting, segmentsIn, written } from '../support/segments.ts'

const hour = 3_600_000

async function health(gateway: TestGateway): Promise<Record<string, unknown>> {
  await gateway.health.look()
  return (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.backup
}

async function alerts(gateway: TestGateway): Promise<string[]> {
  const { body } = await gateway.ask('GET', '/api/alerts', { by: people.ada })
  return body.data.map(({ kind }: { kind: string }) => kind)
}

t.test('segments that no longer come back are noticed in a day, and a new series mends it', async (t) => {
  const { gateway, folder } = await segmenting(t)
  await written(gateway)
  await gateway.segments.rehearsed()
  const at = '2026-03-02T08:00:00.000Z'
  t.match(await health(gateway), { status: 'healthy', segmentsAt: at, segmentsRehearsedAt: at })
  const metrics = (await gateway.ask('GET', '/api/metrics', { by: people.ada })).text
  t.match(metrics, `gatehouse_segments_timestamp_seconds ${Date.parse(at) / 1000}`)
  t.match(metrics, `gatehouse_segments_rehearsed_timestamp_seconds ${Date.parse(at) / 1000}`)
  t.notOk(existsSync(join(gateway.live.config.dataDir, 'rehearsal.part')))

  const [file = ''] = segmentsIn(folder)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length - 1))
  gateway.clock.advance(25 * hour)
  await place(gateway, 2)
  await written(gateway)
  await gateway.segments.rehearsed()
  t.match(await health(gateway), { status: 'degraded', segmentsRehearsedAt: at })
  t.same(await alerts(gateway), ['backup.unrestorable'])

  gateway.clock.advance(hour)
  await written(gateway)
  await gateway.segments.rehearsed()
  t.match(await health(gateway), { status: 'healthy', segmentsRehearsedAt: '2026-03-03T10:00:00.000Z' })
  t.same((await alerts(gateway)).toSorted(), ['backup.recovered', 'backup.unrestorable'])
  t.equal(new Set(segmentsIn(folder).map((path) => path.split('/').at(-2))).size, 2)
})

t.test('a folder that is away is an alert, and what is new is written when it is back', async (t) => {
  const { gateway, folder } = await segmenting(t)
  await written(gateway)
  await gateway.segments.rehearsed()
  const away = `${folder}-away`
  renameSync(folder, away)
  await place(gateway, 2)
  gateway.clock.advance(30 * 60_000)
  await gateway.segments.look()
  t.match(gateway.segments.seen().fault, /folder .* is not there; make it first, or mount it/)
  t.match(await health(gateway), { status: 'degraded' })
  t.same((await alerts(gateway)).toSorted(), ['backup.failed', 'backup.late'])
  t.notOk(existsSync(folder), 'a share that is not mounted is not made up')
  mkdirSync(folder)
  for (const name of readdirSync(away)) renameSync(join(away, name), join(folder, name))
  gateway.clock.advance(60_000)
  await written(gateway)
  t.match(await health(gateway), { status: 'healthy' })
  t.equal(segmentsIn(folder).length, 2)
})
