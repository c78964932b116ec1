import { z } from '@hono/zod-openapi'
import { type Api, type Caller, operation, rawAnswer, resource, timeOut } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import { overall } from './checks.ts'
import { type FigureName, figureNames, keptMinutes, type LastDay } from './last-day.ts'
import type { Metrics } from './metrics.ts'
import type { HealthWatch } from './watch.ts'

type Checks = ReturnType<HealthWatch['checks']>

const tag = 'Health'
const Status = z.enum(['healthy', 'degraded', 'unhealthy'])

/** The parts that everybody may see; a caller sees all. */
const publicParts = ['database', 'disk', 'clock', 'storage', 'webhooks', 'cameras'] as const

/** Only in the check `clock`. */
const clockFacts = {
  synchronized: z.boolean().nullable().optional().openapi({
    description: 'clock: what the time service of the system says; null: none runs here, or none answered',
  }),
  source: z.string().nullable().optional().openapi({ description: 'clock: timesyncd, chrony or ntpd' }),
  offsetMs: z.number().nullable().optional().openapi({ description: "clock: this clock minus the server's" }),
  stratum: z.int().nullable().optional(),
  since: timeOut().optional().openapi({ description: 'clock: when this state was first seen' }),
  steps: z.int().optional().openapi({ description: 'clock: how often it was set by more than 2 s, on record' }),
  lastStep: z.object({ at: timeOut(), byMs: z.int() }).nullable().optional(),
}

const Health = z
  .object({
    status: Status,
    timestamp: timeOut(),
    uptime: z.number().openapi({ description: 'seconds' }),
    version: z.string(),
    logKey: z.string().nullable().optional().openapi({
      description: 'For a caller: verifier key (Ed25519) of the log, as c2sp.org/signed-note writes it',
    }),
    logKeyPostQuantum: z.string().nullable().optional().openapi({
      description: 'For a caller: verifier key (ML-DSA-44) of the log',
    }),
    checks: z
      .record(
        z.string(),
        z.object({
          status: Status,
          responseTime: z.number().openapi({ description: 'ms' }),
          reason: z.string().optional().openapi({
            description: 'For a caller: the trouble, without details; GET /api/alerts has them. Absent while healthy',
            example: 'A camera has given no pictures for over a minute.',
          }),
          configured: z.boolean().optional().openapi({
            description: 'For a caller: false when the config has nothing for this part, and no webhook is registered',
          }),
          ...clockFacts,
          newestAt: timeOut().nullable().optional().openapi({
            description: 'backup: when the newest scheduled backup was made; absent while none are scheduled',
          }),
          rehearsedAt: timeOut().nullable().optional().openapi({
            description: 'backup: when a backup was last restored beside the ledger and verified',
          }),
          segmentsAt: timeOut().nullable().optional().openapi({
            description: 'backup: until when everything is in segments; absent while none are written',
          }),
          segmentsRehearsedAt: timeOut().nullable().optional().openapi({
            description: 'backup: when segments were last restored beside the ledger and verified',
          }),
        }),
      )
      .openapi({
        description:
          'database, disk, clock, storage, webhooks, cameras; for a caller also evidence, backup, hub, config, box. A part that is not configured is healthy. status is the worst of those in the answer except webhooks: the gateway keeps refused deliveries for later',
      }),
  })
  .openapi('Health')

const getHealth = operation({
  id: 'getHealth',
  method: 'get',
  path: '/api/health',
  access: 'public',
  tag,
  summary: 'Health of the gateway',
  description:
    'Needs no sign-in, and answers any Host and any query. Each part of the gateway is checked; `degraded` still serves, `unhealthy` (database or disk) answers 503 with the same body. With the credentials of a caller the answer also has the keys of the log, all parts, and the trouble of each.',
  ignoresParameters: true,
  input: {},
  success: { 200: { description: 'healthy or degraded', schema: Health } },
  instead: { 503: Health },
})

const getPing = operation({
  id: 'getPing',
  method: 'get',
  path: '/api/ping',
  access: 'public',
  tag,
  summary: 'The time of the gateway, for the clock of a handheld',
  description: 'Needs no sign-in and reads nothing from disk.',
  ignoresParameters: true,
  input: {},
  success: { 200: { description: 'Alive', schema: z.object({ status: z.literal('ok'), timestamp: timeOut() }) } },
})

const getMetrics = operation({
  id: 'getMetrics',
  method: 'get',
  path: '/api/metrics',
  access: 'metrics:read',
  tag,
  summary: 'Metrics in the Prometheus text format',
  description: 'For a collector that cannot send the X-Storage headers, the config has `metrics.listen`.',
  input: {},
  success: { 200: { description: 'Text exposition format', schema: z.string(), mediaType: 'text/plain' } },
})

const column = (description: string) => z.array(z.number().nullable()).openapi({ description })
const figures = {
  diskFreeBytes: column('free bytes of the disk with the ledger and the clips'),
  temperatureCelsius: column('temperature of the processor; null where there is no sensor'),
  cpuLoadPercent: column('load of all cores'),
  memoryAvailableBytes: column('memory that programs could still get'),
  events: column('entries that the log gained in this minute'),
  camerasOnline: column('cameras that gave pictures'),
  deliveriesWaiting: column('notifications that wait for their receivers'),
  uploadsWaiting: column('files that are not on the storage server yet, parked ones too'),
} satisfies Record<FigureName, z.ZodType>

const FiguresOfTheDay = resource({
  everySeconds: z.int(),
  times: z.array(timeOut()).max(keptMinutes).openapi({ description: 'oldest first' }),
  figures: z.object(figures).openapi({ description: `${figureNames.length} lists, each as long as times` }),
}).openapi('FiguresOfTheDay')

const getDay = operation({
  id: 'getFiguresOfTheDay',
  method: 'get',
  path: '/api/metrics/day',
  access: 'metrics:read',
  tag,
  summary: 'Figures of the box over the last day, minute by minute',
  description:
    'One value a minute, for charts. Kept in memory: a restart of the gateway begins anew. null: it could not be measured. For longer times let Prometheus collect /api/metrics.',
  input: {},
  success: { 200: { description: 'Columns of the same length', schema: FiguresOfTheDay } },
})

/** Returns the checks that everybody may see, without the facts that only a caller may read. */
const publicChecks = (checks: Checks): Pick<Checks, (typeof publicParts)[number]> =>
  Object.fromEntries(publicParts.map((part) => [part, bare(checks[part])])) as ReturnType<typeof publicChecks>

const bare = ({ status, responseTime }: Checks[keyof Checks]) => ({ status, responseTime })

export function healthRoutes(
  api: Api,
  options: {
    health: Pick<HealthWatch, 'checks'>
    metrics: Metrics
    lastDay: Pick<LastDay, 'columns'>
    version: string
    /** The verifier keys of the log: Ed25519, ML-DSA-44. */
    logKeys: () => readonly [string, string] | readonly [null, null]
    now: () => number
    uptimeSeconds: () => number
  },
): void {
  const { health, metrics, lastDay, version, now, uptimeSeconds, logKeys } = options

  api.openapi(getHealth, (c) => {
    const all = health.checks()
    const isCaller = (c.get('caller') as Caller | undefined) !== undefined
    const checks = isCaller ? all : publicChecks(all)
    // By the checks that the answer shows: else an unknown caller would read degraded above six healthy parts.
    const status = overall(checks)
    const uptime = Math.round(uptimeSeconds() * 1000) / 1000
    const facts = { status, timestamp: isoTime(now()), uptime, version }
    const [logKey, logKeyPostQuantum] = logKeys()
    const body = isCaller ? { ...facts, logKey, logKeyPostQuantum, checks } : { ...facts, checks }
    // Tells a load balancer when to ask again.
    if (status === 'unhealthy') c.header('Retry-After', '5')
    return c.json(body, (status === 'unhealthy' ? 503 : 200) as 200)
  })

  api.openapi(getPing, (c) => c.json({ status: 'ok' as const, timestamp: isoTime(now()) }, 200))

  api.openapi(getDay, (c) => c.json({ success: true as const, everySeconds: 60, ...lastDay.columns() }, 200))

  api.openapi(getMetrics, async (c) => {
    c.header('Content-Type', metrics.contentType)
    return rawAnswer(c.body(await metrics.text()))
  })
}
