/** A scheduled backup in its folder. */
export type KeptBackup = { readonly name: string; readonly madeMs: number }

const formOf = (siteId: string) => `gatehouse-${siteId.replaceAll(/[^\w.-]/g, '_')}-`

/** Suffix of a sealed backup. */
export const sealedEnd = '.sealed'

/** Returns the name of a scheduled backup: `gatehouse-dc-7-20260302T080000Z.tar`. */
export function backupName(siteId: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${formOf(siteId)}${time.replaceAll(/[-:]/g, '')}.tar`
}

/**
 * Returns the scheduled backups of a site among these names, the newest first; those of a storage server end in `sealedEnd`. Files
 * of other names are left alone.
 */
export function keptBackups(siteId: string, names: readonly string[], end: '' | typeof sealedEnd = ''): KeptBackup[] {
  const begin = formOf(siteId)
  const found = names.flatMap((name) => {
    const rest = name.startsWith(begin) && name.endsWith(end) ? name.slice(begin.length, name.length - end.length) : ''
    const madeMs = /^\d{8}T\d{6}Z\.tar$/.test(rest) ? madeMsIn(`-${rest}`) : null
    return madeMs === null ? [] : [{ name, madeMs }]
  })
  return found.toSorted((a, b) => b.madeMs - a.madeMs)
}

/** Returns the time in the name of a scheduled backup; null for other names. */
export function madeMsIn(path: string): number | null {
  const time = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar(\.sealed)?$/.exec(path)
  if (!time) return null
  const [, year, month, day, hour, minute, second] = time
  const madeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(madeMs) ? null : madeMs
}

const dayMs = 86_400_000

/** Returns the backups that can have been made by now. A name that is over a day ahead of the clock is not of this box. */
export function madeByNow(kept: readonly KeptBackup[], nowMs: number): KeptBackup[] {
  return kept.filter(({ madeMs }) => madeMs <= nowMs + dayMs)
}

/** Returns the newest that can have been made by now; on a box whose clock has lost its time, the newest of all. */
export function newestOf(kept: readonly KeptBackup[], nowMs: number): KeptBackup | undefined {
  return madeByNow(kept, nowMs)[0] ?? kept[0]
}
