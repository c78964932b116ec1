import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

/**
 * Who runs this command, as the box knows that person: with sudo the one in front of it. The name goes into the audit
 * trail and, as their operator, into the events of an import.
 */
export function whoRunsThis(env: NodeJS.ProcessEnv = process.env): string {
  const inFront = env['SUDO_USER']
  return inFront && mayBelieve(env['SUDO_UID']) ? inFront : userInfo().username
}

/** The kernel keeps who signed in, and nobody can change that; a variable of the environment anybody can set. */
function mayBelieve(sudoUid: string | undefined): boolean {
  const signedInAs = loginUid()
  return signedInAs === undefined || signedInAs === sudoUid
}

/** Undefined where the kernel does not know: services, containers. */
function loginUid(): string | undefined {
  const none = '4294967295'
  try {
    const text = readFileSync('/proc/self/loginuid', 'utf8').trim()
    return text === '' || text === none ? undefined : text
  } catch {
    return undefined
  }
}
