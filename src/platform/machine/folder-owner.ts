import { readFileSync, statSync } from 'node:fs'

/** The user of a folder, with its group. */
export type Owner = { readonly uid: number; readonly gid: number }

/** User of the package. */
const packageUser = 'gatehouse'

/**
 * Returns the user of the daemon that works on a data folder: the folder's owner, or the package's user while there is no folder.
 * Undefined unless this process is root and that user is another.
 */
export function daemonUser(dataDir: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(dataDir, { throwIfNoEntry: false }) ?? userCalled(packageUser) ?? { uid: 0, gid: 0 }
  return uid === 0 ? undefined : { uid, gid }
}

/**
 * Runs `work` on the files of the data folder as the folder's user, and is root again afterwards. The user could put a link in the
 * place of a file that root opens. `work` must not wait, because the whole process has that user.
 */
export function asDaemonUser<T>(dataDir: string, work: () => T): T {
  const user = daemonUser(dataDir)
  if (!user) return work()
  const groups = process.getgroups?.() ?? []
  process.setgroups?.([user.gid])
  process.setegid?.(user.gid)
  process.seteuid?.(user.uid)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(process.getgid?.() ?? 0)
    process.setgroups?.(groups)
  }
}

function userCalled(name: string): Owner | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
