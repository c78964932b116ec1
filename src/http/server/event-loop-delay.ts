import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** As prom-client measures it: what it reports is this much too when nothing is late. */
const everyMs = 10
/** A collector of metrics comes again before that. */
const forgottenAfterMs = 10 * 60_000

/** By their names in prom-client, which dashboards ask for. */
const figures = {
  min: 'The minimum recorded event loop delay.',
  max: 'The maximum recorded event loop delay.',
  mean: 'The mean of the recorded event loop delays.',
  stddev: 'The standard deviation of the recorded event loop delays.',
  p50: 'The 50th percentile of the recorded event loop delays.',
  p90: 'The 90th percentile of the recorded event loop delays.',
  p99: 'The 99th percentile of the recorded event loop delays.',
} as const
type Figure = keyof typeof figures

export const delayMetric = (figure: Figure): string => `nodejs_eventloop_lag_${figure}_seconds`
export const delayFigures = Object.keys(figures) as Figure[]

/**
 * Registers how late the event loop was since the last collection. It is measured while somebody collects: from the first time on, until ten
 * minutes after the last. To measure it wakes an idle process a hundred times a second, which takes more than all else that it does.
 */
export function registerEventLoopDelay(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  let timer: NodeJS.Timeout | undefined
  const collect = () => {
    if (delays.count > 0) for (const figure of delayFigures) gauges.get(figure)?.set(nanoseconds(figure) / 1e9)
    delays.reset()
    delays.enable()
    clearTimeout(timer)
    timer = setTimeout(() => delays.disable(), forgottenAfterMs).unref()
  }
  const nanoseconds = (figure: Figure) =>
    figure.startsWith('p') ? delays.percentile(Number(figure.slice(1))) : delays[figure as 'min']
  // The first one is asked before the others.
  const gauges = new Map(
    delayFigures.map((figure, i) => [
      figure,
      new Gauge({
        name: delayMetric(figure),
        help: figures[figure],
        registers: [registry],
        ...(i === 0 && { collect }),
      }),
    ]),
  )
}
