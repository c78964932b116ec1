import { StorageClient } from '../../auth/index.ts'
import { type Config, readSecretFile, SecretFileError } from '../../config/index.ts'
import type { Clock } from '../../platform/index.ts'
import { lookAtAccount } from '../../upload/index.ts'
import type { AccountFacts, ServerFacts } from '../findings/network.ts'

type StorageNeeds = { readonly clock: Clock; readonly version: string }
type StorageConfig = Config['storage']

/** Asks every configured storage server, without a credential, whether it answers as one. */
export function serverFacts({ instances }: StorageConfig, { clock, version }: StorageNeeds): Promise<ServerFacts[]> {
  const client = new StorageClient({ clock, instances: () => instances, version })
  return Promise.all(
    instances.map(async ({ url }) => {
      const startedMs = clock.monotonic()
      const answer = await client.ask(url)
      const problem = answer.kind === 'unclear' ? answer.why : null
      return { url, problem, tookMs: clock.monotonic() - startedMs }
    }),
  )
}

/** Signs in with the account of storage.upload by a real request, and reads its quota. Undefined: none is configured. */
export async function accountFacts(
  { upload, instances }: StorageConfig,
  { clock, version }: StorageNeeds,
): Promise<AccountFacts | undefined> {
  const instance = upload && instances.find(({ url }) => url === upload.instance)
  if (!upload || !instance) return undefined
  const { username } = upload
  const of = { username, url: instance.url }
  try {
    const password = readSecretFile(upload.passwordFile)
    return { ...of, ...(await lookAtAccount({ instance, username, password }, { clock, version })) }
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    return { ...of, problem: error.message, isRefused: false, freeBytes: null }
  }
}
