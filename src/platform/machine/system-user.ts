import { userInfo } from 'node:os'

export type SystemUser = { readonly uid: number; readonly gid: number; readonly name: string }

/** Returns who runs this process. A number that the user database does not know, as in a container, is called `user NUMBER`. */
export function systemUser(): SystemUser {
  try {
    const { uid, gid, username } = userInfo()
    return { uid, gid, name: username }
  } catch {
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
    return { uid, gid, name: `user ${uid}` }
  }
}
