import { type Clock, isoTime } from '../../platform/index.ts'
import type { HubDatabase } from '../store/database.ts'
import { builtStatement, hubStatement, sql } from '../store/statement.ts'

/** A gateway sends a sign of life every 5 minutes; two of them may be lost on the way. */
const lateMs = 15 * 60_000
/** People, collectors and load balancers ask at any rate; the database is asked so often. */
const freshForMs = 2000
/** A health check that waits longer is as good as none. */
const patienceMs = 3000

const heads = hubStatement(
  'figures-of-logs',
  `SELECT CASE WHEN l.retired_at IS NULL THEN h.state ELSE 'retired' END AS state, count(*)::int AS logs, coalesce(sum(h.size), 0)::text AS leaves,
     (count(*) FILTER (WHERE l.superseded_by IS NULL AND (h.fed_at IS NULL OR h.fed_at < $1)))::int AS late
   FROM log_head h JOIN log l ON l.log_id = h.log_id GROUP BY 1`,
)
const sites = builtStatement('figures-of-sites', {}, () =>
  sql.selectFrom('site').select((row) => row.fn.countAll<string>().as('sites')),
)
const alerts = builtStatement('figures-of-alerts', {}, () =>
  sql
    .selectFrom('alert')
    .select((row) => row.fn.countAll<string>().as('open'))
    .where('closed_at', 'is', null),
)

/** Numbers of the head office. The logs are by state. Logs that grow and have not been fed for 15 minutes count as `late`. */
export type Figures = {
  readonly sites: number
  readonly logs: Readonly<Record<'live' | 'forked' | 'retired', number>>
  readonly leaves: number
  readonly late: number
  readonly openAlerts: number
  /** How long the database took, in milliseconds. */
  readonly tookMs: number
}

type FiguresNeeds = {
  readonly db: Pick<HubDatabase, 'rows'>
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
}

/** Reads the figures for health and metrics, at most every 2 s. */
export class HubFigures {
  readonly #needs: FiguresNeeds
  #reading: { readonly atMs: number; readonly figures: Promise<Figures | undefined> } | undefined

  constructor(needs: FiguresNeeds) {
    this.#needs = needs
  }

  /** Returns the figures; undefined when the database does not answer within 3 s. */
  read(): Promise<Figures | undefined> {
    const atMs = this.#needs.clock.monotonic()
    if (!this.#reading || atMs - this.#reading.atMs >= freshForMs) this.#reading = { atMs, figures: this.#inTime() }
    return this.#reading.figures
  }

  async #inTime(): Promise<Figures | undefined> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const cancel = this.#needs.clock.after(patienceMs, () => resolve(undefined))
    try {
      return await Promise.race([this.#ask().catch(() => undefined), promise])
    } finally {
      cancel()
    }
  }

  async #ask(): Promise<Figures> {
    const { db, clock } = this.#needs
    const startedMs = clock.monotonic()
    type Head = { state: 'live' | 'forked' | 'retired'; logs: number; leaves: string; late: number }
    const [byState, [site], [alert]] = await Promise.all([
      db.rows<Head>(heads, [isoTime(clock.now() - lateMs)]),
      db.rows(sites, {}),
      db.rows(alerts, {}),
    ])
    const logs = { live: 0, forked: 0, retired: 0 }
    for (const row of byState) logs[row.state] = row.logs
    return {
      sites: Number(site?.sites ?? 0),
      logs,
      openAlerts: Number(alert?.open ?? 0),
      leaves: byState.reduce((sum, row) => sum + Number(row.leaves), 0),
      late: byState.reduce((sum, { state, late }) => sum + (state === 'retired' ? 0 : late), 0),
      tookMs: clock.monotonic() - startedMs,
    }
  }
}
