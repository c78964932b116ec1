import { Counter, Gauge, Registry } from 'prom-client'
import { type RequestTimes, requestMetrics } from '../../http/index.ts'
import type { TokenRefusal } from '../enrol/tokens.ts'
import type { HubFigures } from './figures.ts'

/** How a feed ended: taken in, answered with where to go on, another history, refused, no room on the disk, or not possible now. */
export type FeedOutcome = 'fed' | 'gap' | 'forked' | 'refused' | 'full' | 'unavailable'

type HubMetricsNeeds = { readonly figures: Pick<HubFigures, 'read'>; readonly version: string }

/** The metrics of the head office in the Prometheus text format. Labels never carry ids, names or addresses. */
export class HubMetrics {
  readonly #needs: HubMetricsNeeds
  readonly #registry = new Registry()
  readonly #requests: RequestTimes
  readonly #feeds: Counter<'outcome'>
  readonly #leaves: Counter
  readonly #refusedTokens: Counter<'how'>

  constructor(needs: HubMetricsNeeds) {
    this.#needs = needs
    const registers = [this.#registry]
    this.#requests = requestMetrics(this.#registry)
    this.#feeds = new Counter({
      name: 'gatehouse_office_feeds_total',
      help: 'Feeds of gateways by outcome: fed, gap, forked, refused, full or unavailable',
      labelNames: ['outcome'],
      registers,
    })
    this.#leaves = new Counter({
      name: 'gatehouse_office_fed_leaves_total',
      help: 'Leaves that came in feeds',
      registers,
    })
    this.#refusedTokens = new Counter({
      name: 'gatehouse_office_refused_tokens_total',
      help: 'Feeds whose token was refused: wrong, or limited after too many wrong ones',
      labelNames: ['how'],
      registers,
    })
    new Gauge({ name: 'gatehouse_build_info', help: '1, with the version', labelNames: ['version'], registers }).set(
      { version: needs.version },
      1,
    )
  }

  answered({
    method,
    route,
    status,
    seconds,
  }: {
    method: string
    route: string
    status: number
    seconds: number
  }): void {
    this.#requests.observe({ method, route, status }, seconds)
  }

  fed(outcome: FeedOutcome, leaves: number): void {
    this.#feeds.inc({ outcome })
    this.#leaves.inc(leaves)
  }

  tokenRefused(how: TokenRefusal): void {
    this.#refusedTokens.inc({ how })
  }

  /** Returns the page. Without a database it has what this process counts, and `gatehouse_office_database_up 0`. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}\n${await this.#stored()}`
  }

  async #stored(): Promise<string> {
    const found = await this.#needs.figures.read()
    const registry = new Registry()
    const gauge = (name: string, help: string, values: readonly (readonly [number, Record<string, string>?])[]) => {
      const labelNames = Object.keys(values[0]?.[1] ?? {})
      const made = new Gauge({ name, help, labelNames, registers: [registry] })
      for (const [value, labels = {}] of values) made.set(labels, value)
    }
    gauge('gatehouse_office_database_up', '1 while the database answers; else 0', [[found ? 1 : 0]])
    if (!found) return registry.metrics()
    gauge('gatehouse_office_sites', 'Sites that were ever enrolled', [[found.sites]])
    gauge(
      'gatehouse_office_logs',
      'Logs by state: live, forked (showed two histories), retired (continued by another one)',
      Object.entries(found.logs).map(([state, count]) => [count, { state }] as const),
    )
    gauge('gatehouse_office_stored_leaves', 'Leaves that are stored', [[found.leaves]])
    gauge('gatehouse_office_late_logs', 'Logs that grow and were not fed for 15 minutes', [[found.late]])
    gauge('gatehouse_office_open_alerts', 'Alerts that are open', [[found.openAlerts]])
    gauge('gatehouse_office_database_seconds', 'How long the database took for these figures', [[found.tookMs / 1000]])
    return registry.metrics()
  }
}
