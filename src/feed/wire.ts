import { z } from 'zod'
import { releaseVersion } from './release.ts'

/** Returns the path of POST feed below the address of a head office. */
export const feedPath = (logId: string): string => `/api/hub/v1/logs/${logId}/feed`
export const enrolPath = '/api/hub/v1/enrol'
/** Where a head office shows its certificate authority, for gateways that have only its fingerprint. */
export const authorityPath = '/api/hub/v1/ca'

/** Most leaves of one feed. */
export const mostLeaves = 1024
/** The longest that a head office may ask new leaves to wait. */
export const longestPauseMs = 60_000
/** Most bytes of the body of a feed, unpacked. */
export const largestFeedBytes = 4 * 1024 * 1024
/** Most rows of a snapshot, openings and erased commitments that ride along. */
const mostRows = 4096
/** As many hashes as a consistency proof over 2^63 leaves can have. */
const mostHashes = 126

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const base64 = z.base64()
const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
const size = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
/** PostgreSQL takes neither a zero character nor half of a surrogate pair. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')
/** A text of at least so many characters of which the head office stores what it can: none stops a feed. */
const text = (most: number, least = 0) => z.string().min(least).max(most).transform(storable)
const printed = text(256).nullable().optional()
/** The first day that both sides can write. */
const firstDay = '0001-01-01'

/** Printed data of an asset; no leaf states it. `key` is the asset key of leaves. */
export const AssetRow = z.object({
  key: text(256, 1),
  sscc: printed,
  gtin: printed,
  lot: printed,
  bestBefore: z.iso
    .date()
    .transform((day) => (day < firstDay ? null : day))
    .nullable()
    .optional(),
  serial: printed,
})

const rowId = z.int().min(-2_147_483_648).max(2_147_483_647)

/** A slot of the floor plan; leaves name only those where something happened. `id` is the slotId of leaves. */
export const SlotRow = z.object({
  id: rowId,
  code: text(256, 1),
  zone: text(256).nullable(),
  warehouse: text(256).nullable(),
  isRetired: z.boolean(),
})

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const moment = z.iso.datetime().nullable()
/** A config has fewer than 30. */
const mostSections = 64
/** The newest open alerts that are sent along. */
export const mostAlerts = 10

/**
 * State of a gateway in figures, for the people at the head office: `fleet` of a feed's status. Null: not known, or there is none.
 * Gateways of older versions send neither `alerts` nor `configSections`.
 * - `openAlerts`: null also when there are more than are counted.
 * - `alerts`: the newest of them, by kind; texts may name people, so they are not sent.
 * - `configHash`: SHA-256 of the config in effect, without the hashes of secrets; it shows whether two boxes have the same
 *   settings.
 * - `configSections`: the same of each section, in short.
 */
export const Fleet = z.object({
  openAlerts: count.nullable(),
  alerts: z
    .array(z.object({ kind: z.string().regex(/^[a-z0-9._-]{1,64}$/), at: z.iso.datetime() }))
    .max(mostAlerts)
    .optional(),
  cameras: z.object({ configured: count, withoutPictures: count }),
  freeBytes: count.nullable(),
  certificateUntil: moment,
  backupAt: moment,
  rehearsedAt: moment,
  configHash: hex,
  configSections: z
    .record(z.string().regex(/^[A-Za-z0-9._-]{1,32}$/), z.string().regex(/^[0-9a-f]{16}$/))
    .refine((sections) => Object.keys(sections).length <= mostSections, `at most ${mostSections} sections`)
    .optional(),
})
export type Fleet = z.infer<typeof Fleet>

const mostTroubles = 20
const longestMessage = 500

const Trouble = z.object({
  component: text(64),
  kind: text(64),
  // The cut may go through a pair.
  message: z.string().transform((message) => storable(message.slice(0, longestMessage))),
  since: z.iso.datetime(),
})

/**
 * The part of a feed's status that the head office reads: everything else is left out. Values that are too long or of another form
 * count as missing, so that no status ever stops a feed.
 */
export const Status = z.object({
  version: text(64).nullable().catch(null),
  health: z.enum(['healthy', 'degraded', 'unhealthy']).nullable().catch(null),
  troubles: z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.slice(0, mostTroubles).flatMap((one) => Trouble.safeParse(one).data ?? [])),
  fleet: Fleet.nullable().catch(null),
})

/** The body of POST feed. `from` is the index of the first leaf, from 0 on. */
export const FeedBody = z.object({
  checkpoint: z.string(),
  from: size,
  leaves: z.array(base64).max(mostLeaves),
  /** From `from` + number of leaves to the size of the checkpoint, when that is larger. */
  consistency: z.array(base64).max(mostHashes).optional(),
  /**
   * The tree over the leaves before `from`, as the sender has it: the roots of its complete subtrees, the largest first. It shows that
   * the checkpoint is over the leaves even when the head office has others.
   */
  before: z.array(base64).max(mostHashes).optional(),
  /** Openings of people in leaves. `person`: the number of the person at the gateway, by which an erasure finds all of them. */
  openings: z
    .array(z.object({ commitment: hex, salt: base64, text: z.string(), person: count.optional() }))
    .max(mostRows)
    .optional(),
  /** The leaves that `openings` are of: from this one on, before that one. */
  names: z.object({ from: size, end: size }).optional(),
  /** Commitments that are erased. */
  erased: z.array(hex).max(mostRows).optional(),
  /** Numbers of people who were erased at the gateway, whatever was sent of them before or comes later. */
  erasedPeople: z.array(count).max(mostRows).optional(),
  /** Rows that are new or have changed. `version` rises with each snapshot of a log. */
  snapshot: z
    .object({
      version: size,
      assets: z.array(AssetRow).max(mostRows).default([]),
      slots: z.array(SlotRow).max(mostRows).default([]),
    })
    .optional(),
  status: Status.optional(),
})
export type FeedBody = z.infer<typeof FeedBody>

/**
 * The answer to an accepted feed.
 * - `size`: leaves that the head office has stored.
 * - `cosignature`: its signature line under the checkpoint; null when it has not seen enough to confirm it.
 * - `witnessed`: size of the largest checkpoint that it has confirmed.
 * - `named`: leaves whose names it has; absent while it takes none.
 * - `offer`: a version of gatehouse that the gateway is offered.
 * - `pauseMs`: milliseconds that the next leaves should wait for more; absent while the head office keeps up.
 */
export const FeedAnswer = z.object({
  size,
  cosignature: z.string().nullable(),
  witnessed: size,
  openings: z.enum(['never', 'names']),
  named: size.optional(),
  offer: z.object({ version: releaseVersion }).optional().catch(undefined),
  pauseMs: z.number().int().min(0).max(longestPauseMs).optional().catch(undefined),
})
export type FeedAnswer = z.infer<typeof FeedAnswer>

/** The answer 409: the feed began behind the end of the stored leaves. */
export const FeedGap = z.object({ size })

export const EnrolBody = z.object({
  code: z.string().min(1).max(256),
  siteId: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  name: z.string().min(1).max(200),
  timezone: z.string().min(1).max(64),
  logId: uuid,
  vkeys: z.array(z.string().max(4096)).min(1).max(4),
})
export type EnrolBody = z.infer<typeof EnrolBody>

/** `vkey`: the verifier key under which the head office confirms checkpoints. */
export const EnrolAnswer = z.object({ token: z.string().min(1), vkey: z.string() })
