import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from './faults.ts'

/**
 * Makes a folder that only this user can read; the caller removes it. Takes the first place with room for it: where the root file
 * system is read-only, /tmp may be too. Throws a sentence for the admin when there is none.
 */
export function temporaryFolder(places: readonly string[] = [tmpdir(), '/dev/shm']): string {
  const failures: string[] = []
  for (const place of places) {
    try {
      return mkdtempSync(join(place, 'gatehouse-'))
    } catch (error) {
      failures.push(`${place}: ${errorCode(error)}`)
    }
  }
  throw new Error(
    `there is no place for temporary files (${failures.join(', ')}); set TMPDIR to a folder that this user may write to`,
  )
}
