import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../platform/faults.ts'
import { readFileIfThere } from '../platform/index.ts'

const folderOf = (dataDir: string) => join(dataDir, 'upgrade.part')
const pidFile = (dataDir: string) => join(folderOf(dataDir), 'pid')

/** Makes the empty folder of a rehearsal, and notes which process works in it. Returns its path. */
export function makeRehearsalFolder(dataDir: string): string {
  removeRehearsalFolder(dataDir)
  const folder = folderOf(dataDir)
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(pidFile(dataDir), `${process.pid}\n`)
  return folder
}

/** Removes the folder of a rehearsal with the copy of the ledger in it. */
export function removeRehearsalFolder(dataDir: string): void {
  rmSync(folderOf(dataDir), { recursive: true, force: true })
}

/** Removes what a killed rehearsal left: a copy of the ledger that no erasure reaches. One that is under way stays. */
export function removeLeftRehearsal(dataDir: string): void {
  const pid = Number(readFileIfThere(pidFile(dataDir))?.toString('utf8'))
  if (!isAlive(pid)) removeRehearsalFolder(dataDir)
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user.
    return errorCode(error) === 'EPERM'
  }
}
