import { z } from '@hono/zod-openapi'
import { Fleet } from '../../feed/index.ts'
import { behindReasons } from '../ask/behind.ts'
import { problemKinds, standings } from '../ask/problems.ts'
import { offerStates } from '../offers/stages.ts'

/** Answers of the head office to people, for its description. A test holds real answers against it. */

const time = z.iso.datetime().openapi({ description: 'ISO 8601 in UTC' })
const siteId = z.string()
const slot = { slot: z.string().openapi({ description: 'its label' }), slot_id: z.int() }
const listOf = <S extends z.ZodType>(row: S) => z.strictObject({ success: z.literal(true), data: z.array(row) })

const nextCursor = z.string().nullable().openapi({ description: 'more follow: send it as `cursor`; null: this is all' })

const Move = z
  .strictObject({
    siteId,
    logId: z.uuid(),
    ...slot,
    timestamp: time,
    seq: z.int().openapi({ description: 'its leaf in the log `logId`' }),
    asset_barcode: z.string(),
    event_type: z.enum(['PLACED', 'REMOVED']),
    operator: z
      .string()
      .optional()
      .openapi({ description: 'only where names are sent, for who may read the audit trail' }),
  })
  .openapi('Move')

const whereabouts = z.enum(['here', 'left', 'in_transit', 'two_places'])

const Found = z
  .strictObject({
    siteId,
    slot: z.string().nullable(),
    slot_id: z.int().nullable(),
    since: time,
    isVerified: z.boolean(),
    asset_barcode: z.string().openapi({ description: 'by which the site knows it' }),
    state: whereabouts,
  })
  .openapi('Found')

const UnitOnTheWay = z
  .strictObject({
    siteId,
    unitId: z.string(),
    reference: z.string().nullable(),
    direction: z.string().nullable(),
    status: z.string(),
    stage: z.string(),
    since: time,
  })
  .openapi('UnitOnTheWay')

export const SearchAnswer = z
  .strictObject({
    success: z.literal(true),
    unit: UnitOnTheWay.nullable().openapi({ description: 'the transport unit that it is on its way with' }),
    data: z.array(Found).openapi({ description: 'each site that knows it, the newest move first' }),
    trail: z.array(Move).openapi({ description: 'its moves over all sites, the oldest first' }),
    behindFork: z.array(Move).openapi({ description: 'moves that a restore lost; they count for nothing else' }),
  })
  .openapi('SearchAnswer')

const Recalled = z
  .strictObject({
    siteId,
    asset_barcode: z.string(),
    since: time,
    state: whereabouts,
    gtin: z.string().nullable().openapi({ description: 'its item; null: no site that has the lot of it names one' }),
    lots: z.array(z.string()).openapi({ description: 'its lots as sites know it, of those that were asked for' }),
    slot: z.string().nullable().openapi({ description: 'null: in no slot; `siteId` is the site that it left last' }),
    unit: UnitOnTheWay.nullable().openapi({ description: 'the transport unit that it is on its way with' }),
  })
  .openapi('RecalledPallet')

const SiteBehind = z
  .strictObject({
    siteId,
    fedAt: time.nullable(),
    leavesBehind: z.int(),
    reason: z.enum(behindReasons).openapi({
      description:
        '`forked`: its log takes no more entries; `late`: not heard for 15 minutes; `missing`: its gateway has signed `leavesBehind` log entries more than are here',
    }),
  })
  .openapi('SiteBehind')

export const RecallAnswer = z
  .strictObject({
    success: z.literal(true),
    behind: z
      .array(SiteBehind)
      .openapi({ description: 'sites that are not up to date: the list may be wrong for them, also an empty one' }),
    data: z
      .array(Recalled)
      .openapi({ description: 'item by item, those without one last; of each item those that stand somewhere first' }),
    nextCursor,
  })
  .openapi('RecallAnswer')

const sections = z.array(z.string())
const Trouble = z.strictObject({ component: z.string(), kind: z.string(), message: z.string(), since: time })

export const SitesAnswer = listOf(
  z
    .strictObject({
      siteId,
      name: z.string(),
      timezone: z.string(),
      logId: z.uuid(),
      size: z.int(),
      earlierLogs: z.array(z.uuid()).openapi({ description: 'its other logs, the oldest first' }),
      state: z.enum(['live', 'forked', 'retired']),
      logs: z.int(),
      version: z.string().nullable(),
      health: z.enum(['healthy', 'degraded', 'unhealthy']).nullable(),
      troubles: z.array(Trouble).openapi({ description: 'troubles that the gateway reports' }),
      fleet: Fleet.nullable().openapi({ description: 'how the gateway is, in figures' }),
      fedAt: time.nullable(),
      lagSeconds: z.number().nullable(),
      openAlerts: z.int(),
      leavesBehind: z
        .int()
        .openapi({ description: 'signed by the gateway and not here yet; 0: all that is known of is here' }),
      unendedLogs: z.array(z.uuid()).openapi({
        description:
          'logs besides `logId` that still fill slots of the site. Where their box was replaced, or restored without the head office learning of it, `gatehouse hub retire --log` ends them',
      }),
      regions: z.array(z.string()).openapi({ description: 'regions of `hub.regions` that it belongs to' }),
      offered: z
        .string()
        .nullable()
        .openapi({ description: 'the version that it is offered; its gateway decides by itself when to take it' }),
      offerState: z.enum(offerStates).nullable().openapi({
        description:
          'state of that version there. `runs`: it runs it, or a newer one, well; `undecided`: it runs an older one; `failed`: it says that a newer one was refused or given up; `silent`: not heard for 15 minutes; `unwell`: it runs it, or a newer one, and is not healthy',
      }),
      offerWaits: z
        .boolean()
        .openapi({ description: 'the next stage of the offer waits for this site; false where none is to come' }),
      standing: z.enum(standings).openapi({ description: 'the worst that is known of it' }),
      problems: z.array(z.strictObject({ kind: z.enum(problemKinds), amount: z.number() })).openapi({
        description:
          'problems that need a person. `amount`: how many, how many days (`certificate`: left, `backup`: old) or bytes (`disk`: left); 0 where nothing is counted',
      }),
      permissions: z
        .array(z.enum(['audit:read', 'evidence:read', 'alerts:manage']))
        .openapi({ description: 'permissions of the caller at this site besides seeing it' }),
      config: z.strictObject({ differsIn: sections, changedAt: time.nullable(), changed: sections }),
    })
    .openapi('Site'),
)

export const FloorAnswer = listOf(
  z
    .strictObject({
      ...slot,
      zone: z.string().nullable(),
      warehouse: z.string().nullable(),
      isOccupied: z.boolean(),
      assetBarcode: z.string().nullable(),
      since: time.nullable(),
      isVerified: z.boolean().optional(),
      isDisputed: z.boolean().optional(),
    })
    .openapi('Slot'),
)

const Alert = z
  .strictObject({
    siteId,
    logId: z.uuid(),
    id: z.string(),
    type: z.string(),
    severity: z.string(),
    openedAt: time,
    closedAt: time.nullable(),
    closedBy: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
  })
  .openapi('Alert')

export const AlertsAnswer = z.strictObject({ success: z.literal(true), data: z.array(Alert), nextCursor })

const LogOfSite = z
  .strictObject({
    logId: z.uuid(),
    siteId,
    origin: z.string(),
    state: z.enum(['live', 'forked', 'retired']),
    size: z.int().openapi({ description: 'leaves that are stored here' }),
    continuedBy: z.uuid().nullable().openapi({ description: 'the log that goes on behind it after a restore' }),
    keys: z.array(z.string()).openapi({
      description:
        'Verifier keys (c2sp.org/signed-note) of the log, the oldest first, and of the head office as a witness. Compare those of the log with `gatehouse ledger key` at its gateway.',
    }),
  })
  .openapi('Log')

const bytes = z.base64()

const Checkpoint = z
  .strictObject({
    size: z.int().openapi({ description: 'Number of leaves' }),
    rootHash: bytes.openapi({ description: 'RFC 6962 root over them' }),
    timestamp: time.openapi({ description: 'When it came here; ISO 8601 in UTC' }),
    note: z.string().openapi({ description: 'The signed note as it came, with the cosignature of the head office' }),
    isConfirmed: z.boolean().openapi({ description: 'Whether the head office has cosigned it' }),
  })
  .openapi('Checkpoint')

export const CheckpointsAnswer = z.strictObject({
  success: z.literal(true),
  log: LogOfSite,
  data: z.array(Checkpoint),
})

const side = {
  leaf: bytes.nullable().openapi({ description: 'The leaf at this place; null when two roots differ' }),
  root: bytes.nullable().openapi({ description: 'The root over so many leaves, where it is known' }),
}

const Fork = z
  .strictObject({
    place: z.int().openapi({ description: 'Number of the first leaf that differs, or of leaves under two roots' }),
    kind: z.enum(['leaf', 'root']),
    seenAt: time,
    known: z.strictObject({
      ...side,
      note: z.string().nullable().openapi({ description: 'The signed checkpoint that was stored before' }),
    }),
    sent: z.strictObject({
      ...side,
      note: z.string().openapi({ description: 'The signed checkpoint that came with it' }),
      leaves: z.array(bytes).openapi({ description: 'Leaves that came under that checkpoint, of another root' }),
    }),
  })
  .openapi('Fork')

export const ForksAnswer = z.strictObject({
  success: z.literal(true),
  log: LogOfSite,
  data: z.array(Fork),
  nextCursor,
})

const Check = z.strictObject({
  status: z.enum(['healthy', 'degraded', 'unhealthy']),
  responseTime: z.number().optional(),
  reason: z.string().optional(),
})

export const HealthAnswer = z
  .strictObject({
    status: Check.shape.status,
    timestamp: time,
    uptime: z.number(),
    version: z.string(),
    checks: z.record(z.string(), Check),
  })
  .openapi('Health')

const Person = z.strictObject({
  username: z.string(),
  instance: z.string(),
  role: z.string(),
  permissions: z.array(z.string()),
})

export const SessionAnswer = z
  .strictObject({
    success: z.literal(true),
    siteId,
    instance: z.string(),
    storageInstances: z.array(z.string()),
    providers: z.array(z.string()).openapi({ description: 'Empty: OpenID providers sign people in at gateways alone' }),
    caller: Person.nullable(),
    csrfToken: z.string().nullable(),
  })
  .openapi('Session')
