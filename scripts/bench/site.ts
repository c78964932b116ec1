import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { hashSecret, type LocalAccount } from '../../src/auth/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { siteId, siteUrl } from './rooms.ts'

/** Plain secret of the one account. */
export const secret = 'the-secret-of-ada'

/** The one account of the bench, with the hash that the command line would have made. */
export async function makeAccount(): Promise<LocalAccount> {
  return { username: 'ada', role: 'admin', secretHash: await hashSecret(secret, systemRandom) }
}

export const signedIn = {
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': 'ada',
} as const

export const jsonHeaders = { ...signedIn, 'Content-Type': 'application/json' } as const

/** Writes the config of a gateway whose state is `FOLDER/state`. Returns its path. */
export function writeConfig(folder: string, account: LocalAccount, known: Record<string, unknown> = {}): string {
  const file = join(folder, 'gatehouse.yaml')
  const config = {
    site: { id: siteId, url: siteUrl },
    listen: [{ host: '127.0.0.1', port: 0 }],
    dataDir: 'state',
    runtimeDir: 'run',
    auth: { users: [account] },
    rateLimit: { requestsPerMinute: 1_000_000 },
    ...known,
  }
  writeFileSync(file, stringify(config))
  return file
}

export const stateOf = (folder: string): string => join(folder, 'state')
