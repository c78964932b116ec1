import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { kinds } from '../../src/health/kinds.ts'
import { HubMetrics } from '../../src/hub/operations/metrics.ts'
import { cheapHash, people, testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { startDaemon } from '../support/process.ts'
import { eventually } from '../support/waiting.ts'

const folder = join(import.meta.dirname, '../../systemd/monitoring')
const prometheus = needs('prometheus')
const cases = ['alert-rules.yml', 'alert-rules-of-days.yml']
/** Their case has a second box beside the one of the alert, which raises none. */
const sparing = ['GatehouseDiskFillsUp', 'GatehouseWebhookBacklog']
const token = 'a token that only the collector knows'

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } }
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any
type Cases = { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }
type Panel = { type: string; targets?: { expr: string }[] }

const rules: Rule[] = parse(readFileSync(join(folder, 'alerts.yml'), 'utf8')).groups[0].rules
const dashboard: { panels: Panel[] } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
const panelQueries = dashboard.panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr))

async function page(t: Test): Promise<string> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  return (await gateway.ask('GET', '/api/metrics', { by: people.ada })).text
}

function ownFolder(t: Test): string {
  const own = mkdtempSync(join(tmpdir(), 'gatehouse-monitoring-'))
  t.teardown(() => rmSync(own, { recursive: true, force: true }))
  return own
}

t.test('promtool finds nothing to say about the metrics', prometheus, async (t) => {
  t.equal(execFileSync('promtool', ['check', 'metrics'], { input: await page(t), encoding: 'utf8' }), '')
})

t.test('alerts and dashboard ask for metrics that there are', async (t) => {
  const office = new HubMetrics({ figures: { read: () => Promise.resolve(undefined) }, version: '0' })
  const pages = `${await page(t)}\n${await office.text()}`
  const known = new Set([...pages.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
  for (const expression of [...rules.map(({ expr }) => expr), ...panelQueries]) {
    const named = [...expression.matchAll(/\b((?:gatehouse|process)_\w+?)(?:_bucket|_count|_sum)?\b(?=[{[)\s]|$)/g)]
    for (const [, name] of named) t.ok(known.has(name), `${name} of ${expression}`)
    t.ok(named.length > 0 || expression.startsWith('up'), expression)
  }
})

t.test('whatever can be wrong with a gateway raises an alert, and each alert says what to do', async (t) => {
  const patterns = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/kind=(~?)"([^"]+)"/g)].map(([, isPattern, text = '']) =>
      isPattern ? new RegExp(`^(?:${text.replaceAll('\\\\', '\\')})$`) : new RegExp(`^${text.replaceAll('.', '\\.')}$`),
    ),
  )
  for (const kind of Object.keys(kinds)) {
    t.equal(patterns.filter((pattern) => pattern.test(kind)).length, 1, `one alert for ${kind}`)
  }
  const headings = [...readFileSync(join(folder, 'RUNBOOK.md'), 'utf8').matchAll(/^## (\w+)$/gm)].map(
    ([, name]) => name,
  )
  t.strictSame(
    headings,
    rules.map(({ alert }) => alert),
  )
  for (const { alert, annotations } of rules) t.equal(annotations.runbook, `RUNBOOK.md#${alert.toLowerCase()}`)
})

t.test('each alert comes when it should, and not before', prometheus, async (t) => {
  const own = ownFolder(t)
  cpSync(join(folder, 'alerts.yml'), join(own, 'alerts.yml'))
  for (const file of cases) {
    cpSync(join(import.meta.dirname, file), join(own, file))
    const said = execFileSync('promtool', ['test', 'rules', file], { cwd: own, encoding: 'utf8', stdio: 'pipe' })
    t.match(said, /SUCCESS/, file)
  }
})

t.test('each alert has a case in which it comes, and one in which it does not yet', async (t) => {
  const tried = cases.flatMap((file) => {
    const { tests }: { tests: Cases[] } = parse(readFileSync(join(import.meta.dirname, file), 'utf8'))
    return tests.flatMap((one) => one.alert_rule_test)
  })
  for (const { alert } of rules) {
    const counts = tried.filter(({ alertname }) => alertname === alert).map(({ exp_alerts }) => exp_alerts.length)
    t.ok(counts.some(Boolean), alert)
    t.ok(counts.includes(0) || sparing.includes(alert), `${alert} at another time`)
  }
})

t.test(
  'a Prometheus as Debian ships it collects the metrics and understands alerts and dashboard',
  prometheus,
  async (t) => {
    const own = ownFolder(t)
    const metricsPort = await collected(t, own)
    const port = await freePort()
    const prometheus = `http://127.0.0.1:${port}`
    cpSync(folder, own, { recursive: true })
    writeFileSync(join(own, 'gatehouse-token'), token)
    const shipped = readFileSync(join(own, 'prometheus.yml'), 'utf8')
    const local = shipped.replace('gatehouse.dc7.example:9480', `127.0.0.1:${metricsPort}`)
    writeFileSync(
      join(own, 'prometheus.yml'),
      `global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }\n${local}`,
    )
    const args = [
      `--web.listen-address=127.0.0.1:${port}`,
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=series',
    ]
    const program = spawn('prometheus', args, { cwd: own, stdio: 'ignore' })
    const ended = new Promise((resolve) => program.once('exit', resolve))
    t.teardown(async () => {
      program.kill('SIGKILL')
      await ended
    })
    const query = async (expression: string): Promise<Json> => {
      const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`).catch(() => null)
      return answer?.ok ? answer.json() : { status: 'not there yet' }
    }
    const up = await eventually(
      () => query('up{job="gatehouse", site="dc-7"}'),
      ({ data }) => data?.result[0]?.value[1] === '1',
    )
    t.equal(up.data.result.length, 1)
    t.match(await query('gatehouse_health_status{component="disk"}'), {
      data: { result: [{ metric: { site: 'dc-7' } }] },
    })
    for (const expression of panelQueries) {
      t.equal((await query(expression.replaceAll('$site', '.*'))).status, 'success', expression)
    }
    const evaluated = (): Promise<Json> => fetch(`${prometheus}/api/v1/rules`).then((answer) => answer.json())
    const { data } = await eventually(evaluated, ({ data }) =>
      data.groups[0]?.rules.every((rule: { health: string }) => rule.health === 'ok'),
    )
    t.equal(data.groups[0].rules.length, rules.length)
  },
)

/** Starts a gateway with a listener for metrics; returns its port. */
async function collected(t: Test, cwd: string): Promise<string | undefined> {
  writeFileSync(join(cwd, 'token'), `${token}\n`)
  writeFileSync(
    join(cwd, 'gatehouse.yaml'),
    `site: { id: dc-7, url: http://127.0.0.1:8480 }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
metrics: { listen: { host: 127.0.0.1, port: 0, tokenFile: token } }
`,
  )
  const daemon = await startDaemon(['--config', join(cwd, 'gatehouse.yaml')], { cwd })
  t.teardown(() => daemon.end('SIGTERM'))
  return /"port":(\d+),"msg":"metrics for a collector"/.exec(daemon.log())?.[1]
}
