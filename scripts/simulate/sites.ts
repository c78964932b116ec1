/**
 * The process in which simulated gateways run. It receives orders as messages, and answers with its
 * progress.
 */
import { EvidenceClient } from '../../src/evidence/index.ts'
import { systemClock } from '../../src/platform/index.ts'
import { Lags } from './lags.ts'
import { SimulatedSite, type SitePlan, type SiteReport } from './site.ts'

const tickMs = 50
/** Leaves that were made so soon after a disturbance are counted with those of the disturbance. */
const settlesMs = 15_000

/** Message to the process. */
export type Order =
  | {
      readonly kind: 'begin'
      readonly plans: readonly SitePlan[]
      readonly address: { readonly url: string; readonly caFile: string }
      readonly intervalMs: number
    }
  /** Something is being killed, or is back. */
  | { readonly kind: 'disturbed' | 'calm' }
  /** Makes no more leaves, and sends the rest. */
  | { readonly kind: 'drain' }
  | { readonly kind: 'end' }

/** Message from the process. */
export type Said =
  | { readonly kind: 'progress'; readonly made: number; readonly waiting: number; readonly acknowledged: number }
  | {
      readonly kind: 'report'
      readonly sites: readonly SiteReport[]
      /** Counts of `Lags`. */
      readonly calm: readonly number[]
      readonly disturbed: readonly number[]
    }

const lags = { calm: new Lags(), disturbed: new Lags() }
const disturbances: { fromMs: number; untilMs: number }[] = []
let sites: SimulatedSite[] = []
let acknowledged = 0
let makes = true

const say = (said: Said) => process.send?.(said)

function begin({ plans, address, intervalMs }: Extract<Order, { kind: 'begin' }>): void {
  const startedMs = performance.now()
  const onAcknowledged = (madeMs: number, nowMs: number) => {
    acknowledged += 1
    const isDisturbed = disturbances.some(({ fromMs, untilMs }) => madeMs >= fromMs - 1000 && madeMs <= untilMs)
    lags[isDisturbed ? 'disturbed' : 'calm'].add(nowMs - madeMs)
  }
  sites = plans.map((plan) => {
    // Each with its own connections, as gateways have.
    const client = new EvidenceClient({ clock: systemClock, version: 'simulated', idleMs: 30_000 })
    return new SimulatedSite({ plan, client, address, intervalMs, onAcknowledged }, startedMs)
  })
  setInterval(() => {
    const nowMs = performance.now()
    for (const site of sites) site.tick(nowMs, nowMs - startedMs, makes)
  }, tickMs)
  setInterval(() => {
    const sum = (of: (site: SimulatedSite) => number) => sites.reduce((total, site) => total + of(site), 0)
    say({ kind: 'progress', made: sum((site) => site.made), waiting: sum((site) => site.waiting), acknowledged })
  }, 500)
}

process.on('message', (order: Order) => {
  if (order.kind === 'begin') begin(order)
  if (order.kind === 'drain') makes = false
  if (order.kind === 'disturbed') disturbances.push({ fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY })
  if (order.kind === 'calm') {
    const last = disturbances.at(-1)
    if (last) last.untilMs = performance.now() + settlesMs
  }
  if (order.kind === 'end') {
    const { calm, disturbed } = lags
    const report = { sites: sites.map((site) => site.report()), calm: calm.counts, disturbed: disturbed.counts }
    process.send?.({ kind: 'report', ...report } satisfies Said, () => process.exit(0))
  }
})
process.on('disconnect', () => process.exit(0))
