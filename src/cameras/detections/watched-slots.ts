import type { CameraConfig } from '../../config/index.ts'
import { matchedName } from '../../warehouse/index.ts'

type Looking = Pick<CameraConfig, 'slots'>

/** Each config is another list, which never changes. */
const labelsOf = new WeakMap<readonly string[], ReadonlySet<string>>()

/**
 * Returns those of the cameras that watch a slot. Labels are compared as everywhere: a-01-01 in the config means the slot A-01-01.
 */
export function lookingAt<T extends Looking>(cameras: readonly T[], slotCode: string): T[] {
  if (cameras.length === 0) return []
  const label = matchedName(slotCode)
  return cameras.filter(({ slots }) => labelled(slots).has(label))
}

function labelled(slots: readonly string[]): ReadonlySet<string> {
  const known = labelsOf.get(slots)
  if (known) return known
  const labels = new Set(slots.map(matchedName))
  labelsOf.set(slots, labels)
  return labels
}
