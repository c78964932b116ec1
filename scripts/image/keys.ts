import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { distFolder } from '../build/inputs.ts'
import { run } from './run.ts'

/** Signer of updates: a certificate that the boxes know, and its key. */
export type Keys = { readonly cert: string; readonly key: string }

/** The pair that is given, or the one of this tree, which is made once. A box takes only updates that its own pair has signed. */
export async function keysOf(given: { readonly cert?: string; readonly key?: string }): Promise<Keys> {
  if (given.cert !== undefined && given.key !== undefined) return { cert: given.cert, key: given.key }
  if (given.cert !== undefined || given.key !== undefined) throw new Error('--cert and --key belong together')
  const folder = join(distFolder, 'appliance-keys')
  const keys = { cert: join(folder, 'update-cert.pem'), key: join(folder, 'update-key.pem') }
  if (existsSync(keys.cert)) return keys
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const subject = ['-subj', '/CN=gatehouse appliance updates', '-days', '7300']
  const usage = ['-addext', 'keyUsage=critical,digitalSignature', '-addext', 'extendedKeyUsage=emailProtection']
  const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', keys.key, '-out', keys.cert]
  await run('openssl', ['req', '-x509', '-nodes', ...pair, ...subject, ...usage])
  return keys
}
