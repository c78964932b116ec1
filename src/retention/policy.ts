/** A file on the disk that retention may remove. */
export type KeptFile = {
  /** Breaks ties between files of one moment. */
  readonly id: number
  /** From when on its age counts. */
  readonly takenAtMs: number
  readonly sizeBytes: number
  readonly maxAgeMs: number
  /** Whether an incident, a dispute or an unfinished upload needs it. */
  readonly isHeld: boolean
}

export type RetentionPolicy = {
  /** Null: the clock cannot be trusted, so nothing is old. */
  readonly nowMs: number | null
  readonly freeBytes: number
  readonly minFreeBytes: number
}

export type Choice = { readonly file: KeptFile; readonly cause: 'age' | 'free-space' }

/**
 * Returns the files to remove: all that are too old, and then the oldest of the others until there is enough room. A file
 * that is held is never among them. Pure.
 */
export function whatToRemove(files: readonly KeptFile[], policy: RetentionPolicy): Choice[] {
  const { nowMs, freeBytes, minFreeBytes } = policy
  const free = files.filter(({ isHeld }) => !isHeld).toSorted(byAge)
  const isOld = ({ takenAtMs, maxAgeMs }: KeptFile) => nowMs !== null && nowMs - takenAtMs >= maxAgeMs
  const old = free.filter(isOld)
  const chosen: Choice[] = old.map((file) => ({ file, cause: 'age' }))
  let freeNow = freeBytes + sizeOf(old)
  for (const file of free) {
    if (freeNow >= minFreeBytes) break
    if (isOld(file)) continue
    chosen.push({ file, cause: 'free-space' })
    freeNow += file.sizeBytes
  }
  return chosen
}

export const sizeOf = (files: readonly KeptFile[]) => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

const byAge = (a: KeptFile, b: KeptFile) => a.takenAtMs - b.takenAtMs || a.id - b.id
