import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readFileIfThere } from '../files.ts'

/** Result of the last attempt to install a newer image. */
export type LastUpdate = {
  readonly atMs: number
  /** Version of the newer image; null: not known. */
  readonly version: string | null
  /** `current`: nothing newer was there. */
  readonly result: 'installed' | 'current' | 'refused' | 'failed' | 'unreachable'
  readonly reason: string
  /** Why the rehearsal on a copy of the ledger refused it, and the code that accepts these reasons. */
  readonly reasons: readonly string[]
  readonly acceptBy: string | null
}

/** The system image of an appliance. */
export type ApplianceImage = {
  readonly version: string
  /** Whether a place of updates is set. */
  readonly isUpdated: boolean
  /** When the place of updates last answered. */
  readonly askedAtMs: number | null
  readonly lastUpdate: LastUpdate | null
  /**
   * A newer image that is on offer and does not run. Either it was `refused`, or it was `installed` and the box went back to this
   * one. It stays when later attempts have another result; null: there is none.
   */
  readonly openUpdate: LastUpdate | null
}

const results: readonly unknown[] = ['installed', 'current', 'refused', 'failed', 'unreachable']
const noteOfLast = 'last.json'
const noteOfVerdict = 'verdict.json'

/** Reads the running image and the notes of the appliance's `update`; undefined: this box runs none. @param root for tests */
export function applianceImage(root = '/'): ApplianceImage | undefined {
  const version = text(root, 'etc/gatehouse-image')
  if (version === undefined) return undefined
  const state = join(root, 'state/update')
  const [lastUpdate] = updateOf(text(state, noteOfLast))
  return {
    version,
    isUpdated: text(state, 'url') !== undefined,
    askedAtMs: statSync(join(state, 'asked'), { throwIfNoEntry: false })?.mtimeMs ?? null,
    lastUpdate,
    openUpdate: openUpdateOf(text(state, noteOfVerdict), version),
  }
}

function openUpdateOf(json: string | undefined, version: string): LastUpdate | null {
  const [update, by] = updateOf(json)
  // Notes of another system are out of date.
  if (!update || by !== version || update.version === version) return null
  return update.result === 'refused' || update.result === 'installed' ? update : null
}

function text(folder: string, name: string): string | undefined {
  try {
    return readFileIfThere(join(folder, name))?.toString('utf8').trim() || undefined
  } catch {
    return undefined
  }
}

type Noted = {
  readonly at?: unknown
  readonly running?: unknown
  readonly version?: unknown
  readonly result?: unknown
  readonly reason?: unknown
  readonly rehearsal?: { readonly reasons?: unknown; readonly acceptBy?: unknown } | null
}

/**
 * Returns the update and the image that noted it. A note that cannot be read counts as none: a shell script wrote it, perhaps that
 * of another version.
 */
function updateOf(json: string | undefined): [update: LastUpdate | null, by?: string] {
  try {
    const { at, running, version, result, reason, rehearsal } = JSON.parse(json ?? '{}') as Noted
    const atMs = Date.parse(String(at))
    if (Number.isNaN(atMs) || !results.includes(result)) return [null]
    const reasons = Array.isArray(rehearsal?.reasons) ? rehearsal.reasons.map(String) : []
    const update = {
      ...{ atMs, version: version ? String(version) : null, result: result as LastUpdate['result'] },
      ...{ reason: String(reason ?? ''), reasons },
      acceptBy: rehearsal?.acceptBy ? String(rehearsal.acceptBy) : null,
    }
    return [update, String(running)]
  } catch {
    return [null]
  }
}
