import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ExitError } from '../errors/index.ts'
import { daemonUser, isoTime, readFileIfThere } from '../platform/index.ts'
import { answersOf, type Program, type ProgramVersion } from './previous.ts'

/** Where `way-back` of the package keeps the version before. */
export const versionsFolder = '/usr/lib/gatehouse/versions'

/** Days after an upgrade in which a rollback is possible. */
export const rollbackDays = 30

const dayMs = 86_400_000
const limitMs = 300_000

export type LookBackOrder = {
  readonly versions: string
  readonly dataDir: string
  readonly nowMs: number
  /** Returns the program that runs the stored binary; the binary itself, outside of tests. */
  readonly run?: (binary: string) => Program
}

/**
 * Looks whether the version before can serve the ledger as it is now, by asking that version. Throws ExitError with why it cannot.
 * Changes nothing.
 */
export async function lookBack({ versions, dataDir, nowMs, run }: LookBackOrder): Promise<ProgramVersion> {
  const binary = join(versions, 'previous')
  if (!existsSync(binary)) {
    throw new ExitError(1, `no previous version is kept at ${binary}; an upgrade of the package keeps one`)
  }
  const tookOverMs = Number(readFileIfThere(join(versions, 'since'))?.toString('utf8')) * 1000
  if (!(tookOverMs > 0)) {
    throw new ExitError(
      1,
      'the version that serves did not take over from the one that is kept; there is nothing to go back from',
    )
  }
  if (nowMs - tookOverMs > rollbackDays * dayMs) {
    throw new ExitError(1, `the upgrade was on ${isoTime(tookOverMs)}; after ${rollbackDays} days there is no way back`)
  }
  // The stored binary opens the ledger, and its files there must belong to the daemon's user.
  const asked = { folder: dataDir, since: isoTime(nowMs), most: 1, limitMs, as: daemonUser(dataDir) }
  const said = await answersOf(run ? run(binary) : [binary], asked)
  if ('answers' in said) return said.by
  throw new ExitError(1, `the previous version cannot serve the ledger as it is now: ${said.problem}`)
}
