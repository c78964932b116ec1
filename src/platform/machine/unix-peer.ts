import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { libc } from './libc.ts'

const SOL_SOCKET = 1
const SO_PEERCRED = 17
/** struct ucred: pid, uid, gid of 32 bits each. */
const credentialBytes = 12

/**
 * Returns the uid of the process that opened a Unix socket, as the kernel stored it at connect(2); undefined where the kernel cannot
 * be asked. Node does not offer SO_PEERCRED, so libc reads it.
 */
export function peerUid(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null || !('fd' in handle) || typeof handle.fd !== 'number')
    return undefined
  const credential = Buffer.alloc(credentialBytes)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(credentialBytes)
  try {
    const result = libc().getsockopt(handle.fd, SOL_SOCKET, SO_PEERCRED, credential, length)
    return result === 0 ? credential.readUInt32LE(4) : undefined
  } catch {
    return undefined
  }
}

/** Returns the name of a user of this system; one that only a directory server knows is called `user NUMBER`. */
export function nameOfUid(uid: number): string {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [name] = users.map((line) => line.split(':')).find((fields) => fields[2] === `${uid}`) ?? []
  return name ?? `user ${uid}`
}
