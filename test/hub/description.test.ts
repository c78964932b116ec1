import t from 'tap'
import { Bundle } from '../../src/evidence/index.ts'
import {
  AlertsAnswer,
  CheckpointsAnswer,
  FloorAnswer,
  ForksAnswer,
  HealthAnswer,
  RecallAnswer,
  SearchAnswer,
  SessionAnswer,
  SitesAnswer,
} from '../../src/hub/description/answers.ts'
import { describeHub } from '../../src/hub/description/describe.ts'
import { askAs, forkOf, headOffice, story } from '../support/head-office.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

t.test('every route of the head office is described, and nothing else', async (t) => {
  const { api } = await headOffice(t, postgres)
  const { paths } = (await describeHub('1.2.3')) as { paths: Record<string, Record<string, unknown>> }
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  const served = api.routes
    .filter(({ method, path }) => method !== 'ALL' && /^\/(api|witness)\//.test(path))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  t.same([...new Set(served)].toSorted(), described.toSorted())
})

t.test('what the head office answers is as described', async (t) => {
  const hub = await headOffice(t, postgres)
  t.equal(await forkOf(hub), 422)
  const cases = [
    ['/api/hub/search?code=P-1', SearchAnswer],
    ['/api/hub/search?code=P-2', SearchAnswer],
    ['/api/hub/recall?gtin=09521234543213', RecallAnswer],
    ['/api/hub/sites', SitesAnswer],
    ['/api/hub/sites/dc-7/slots', FloorAnswer],
    ['/api/hub/alerts', AlertsAnswer],
    ['/api/health', HealthAnswer],
    ['/api/session', SessionAnswer],
    [`/api/hub/logs/${story['dc-7']?.logId}/entries/1`, Bundle, 'sven'],
    [`/api/hub/logs/${story['dc-8']?.logId}/checkpoints`, CheckpointsAnswer],
    [`/api/hub/logs/${story['dc-8']?.logId}/forks`, ForksAnswer, 'sven'],
  ] as const
  for (const [path, schema, username] of cases) {
    const { status, body } = await askAs(hub, path, username)
    t.equal(status, 200, path)
    t.same(schema.safeParse(body).error?.issues, undefined, path)
  }
})
