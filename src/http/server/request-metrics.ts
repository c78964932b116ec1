import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import { delayFigures, delayMetric, registerEventLoopDelay } from './event-loop-delay.ts'

/** prom-client measures the delay of the event loop all the time. The longest time that it takes, 24 days, wakes no one. */
const neverMs = 2 ** 31 - 1

/** Time to answer of each request, by the pattern of its route: labels never carry ids. */
export type RequestTimes = Histogram<'method' | 'route' | 'status'>

/** Registers what each process tells of itself, and returns the histogram of its requests. */
export function requestMetrics(registry: Registry): RequestTimes {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs })
  for (const figure of delayFigures) registry.removeSingleMetric(delayMetric(figure))
  registerEventLoopDelay(registry)
  // Gauges with the ending of counters, which promtool refuses. The gauges by type have the same counts.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`)
  return new Histogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time to answer, by route pattern',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
}
