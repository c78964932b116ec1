import { statSync } from 'node:fs'
import { compose } from '../app/index.ts'
import type { Config } from '../config/index.ts'
import { AppError, ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { createLogger, daemonUser, systemClock, systemRandom } from '../platform/index.ts'

type Gateway = Awaited<ReturnType<typeof compose>>

/**
 * Runs `work` on the gateway's state while no daemon runs: this process holds the lock and becomes the owner of the data folder.
 * Throws ExitError when the gateway refuses.
 */
export async function alone<T>(
  config: Config,
  work: (gateway: Gateway) => Promise<T>,
  configFile?: string,
): Promise<T> {
  becomeOwnerOf(config.dataDir)
  const { version } = buildInfo()
  const log = createLogger({ level: 'error' })
  const outside = { clock: systemClock, random: systemRandom, log, version, configFile }
  const gateway = await compose(config, outside, false)
  try {
    return await work(gateway)
  } catch (error) {
    if (error instanceof AppError) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    gateway.close()
  }
}

/** Where the package lets the daemon unpack its native parts. */
const daemonsCache = '/var/cache/gatehouse'

/**
 * Changes from root to the user of the daemon. The daemon could not open files of root, and its user could make root write through a
 * link. Later files are unpacked where the
 * daemon unpacks them, because its user cannot open the home of root.
 */
export function becomeOwnerOf(dataDir: string): void {
  const owner = daemonUser(dataDir)
  if (!owner) return
  if (statSync(daemonsCache, { throwIfNoEntry: false })?.uid === owner.uid) {
    process.env['PKG_NATIVE_CACHE_PATH'] ??= daemonsCache
  }
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}
