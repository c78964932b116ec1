import { z } from 'zod'

export const manifestName = 'manifest.json'
export const ledgerName = 'gatehouse.db'
export const backupFormat = 'gatehouse-backup/1'

/** A manifest has about 200 bytes for each file. */
export const largestManifestBytes = 256 * 1024 * 1024

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)
const time = z.iso.datetime()

/** The last member of a backup: its facts, and the hash of every other member. */
export const manifestSchema = z.object({
  format: z.literal(backupFormat),
  siteId: z.string().min(1),
  /** The log that grew, and its head in this copy: every leaf, signed or not. */
  logId: z.string().min(1),
  size: count,
  rootHash: sha256,
  /** The newest checkpoint of the log in this copy, a signed note. */
  checkpoint: z.string(),
  /** Verifier keys of that note. */
  keys: z.array(z.string()).min(1).max(16),
  schema: count,
  version: z.string(),
  madeAt: time,
  /** When the newest event was received; null: there is none. */
  lastEventAt: time.nullable(),
  media: z.object({
    /** Whether photos and clips are in the backup. */
    included: z.boolean(),
    files: z.array(z.object({ path: z.string(), sha256 })),
  }),
  /** Members that did not have the bytes that their row states when they were copied. */
  damaged: z.array(z.string()),
  /** Files that rows name and that were not there. */
  missing: z.array(z.string()),
  /** Where the files below `settings/` were on that box. */
  settings: z.array(z.object({ name: z.string(), path: z.string() })),
  files: z.array(z.object({ name: z.string(), sizeBytes: count, sha256 })),
})
export type Manifest = z.infer<typeof manifestSchema>

/** Facts of a ledger that a restore brings, from a backup or from segments. */
export type ComingFacts = Pick<
  Manifest,
  'siteId' | 'logId' | 'size' | 'checkpoint' | 'keys' | 'madeAt' | 'version' | 'lastEventAt' | 'settings'
>

/** Members that a backup may have: each has its place below the data folder, and nothing leads out of it. */
const memberNames = [
  /^gatehouse\.db$/,
  /^(first-admin|metrics-token)$/,
  /^(keys|settings)\/[\w-][\w.-]*$/,
  /^(photos|clips|lists|reports)(\/[\w-][\w.-]*){1,4}$/,
]

export const isMemberName = (name: string): boolean => memberNames.some((form) => form.test(name))
