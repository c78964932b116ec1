import { readFileSync } from 'node:fs'
import { systemUser } from '../platform/index.ts'

/**
 * Returns the system user who runs this command; with sudo, the user who called sudo. The name goes into the audit
 * trail and, as the operator, into the events of an import.
 */
export function whoRunsThis(env: NodeJS.ProcessEnv = process.env): string {
  const inFront = env['SUDO_USER']
  return inFront && mayBelieve(env['SUDO_UID']) ? inFront : systemUser().name
}

/** Compares SUDO_UID with the login user that the kernel keeps: anyone can set an environment variable. */
function mayBelieve(sudoUid: string | undefined): boolean {
  const signedInAs = loginUid()
  return signedInAs === undefined || signedInAs === sudoUid
}

/** Returns the kernel's login uid; undefined where it has none: services, containers. */
function loginUid(): string | undefined {
  const none = '4294967295'
  try {
    const text = readFileSync('/proc/self/loginuid', 'utf8').trim()
    return text === '' || text === none ? undefined : text
  } catch {
    return undefined
  }
}
