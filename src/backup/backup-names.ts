/** A scheduled backup in its folder. */
export type KeptBackup = { readonly name: string; readonly madeMs: number }

const formOf = (siteId: string) => `gatehouse-${siteId.replaceAll(/[^\w.-]/g, '_')}-`

/** Returns the name of a scheduled backup: `gatehouse-dc-7-20260302T080000Z.tar`. */
export function backupName(siteId: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${formOf(siteId)}${time.replaceAll(/[-:]/g, '')}.tar`
}

/** Returns the scheduled backups of a site among these names, the newest first. Files of other names are nobody's here. */
export function keptBackups(siteId: string, names: readonly string[]): KeptBackup[] {
  const begin = formOf(siteId)
  const found = names.flatMap((name) => {
    const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar$/.exec(
      name.startsWith(begin) ? name.slice(begin.length) : '',
    )
    if (!time) return []
    const [, year, month, day, hour, minute, second] = time
    const madeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
    return Number.isNaN(madeMs) ? [] : [{ name, madeMs }]
  })
  return found.toSorted((a, b) => b.madeMs - a.madeMs)
}
