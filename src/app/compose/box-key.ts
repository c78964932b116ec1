import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadTx } from '../../database/index.ts'
import { hasBadges } from '../../devices/index.ts'
import { ExitError } from '../../errors/index.ts'
import { loadBoxKey, type RandomBytes, readFileIfThere, secretBox } from '../../platform/index.ts'
import { usableSecrets } from '../../webhooks/index.ts'

const keyBytes = 32

/**
 * Reads the key of the box, or makes it at the first start. Throws ExitError (78) when the database has secrets or badges and the key
 * is missing, damaged or another one. The file `box.key.lost` accepts the loss. It is removed once the key opens a secret again.
 */
export function boxKeyOf(dataDir: string, tx: ReadTx, random: RandomBytes): Buffer {
  const path = join(dataDir, 'keys', 'box.key')
  const lostMark = `${path}.lost`
  const isLost = existsSync(lostMark)
  const found = readFileIfThere(path)
  const bytes = found?.length
  if (isLost && bytes !== keyBytes) rmSync(path, { force: true })
  else if (bytes !== undefined && bytes !== keyBytes) throw refusal(path, `has ${bytes} bytes instead of ${keyBytes}`)
  const secrets = usableSecrets(tx, found?.length === keyBytes ? secretBox(found, random) : undefined)
  if (!isLost && found === undefined && (secrets !== 'none' || hasBadges(tx)))
    throw refusal(path, 'is missing, although webhook secrets or badges in the database need it')
  if (!isLost && secrets === 'unusable')
    throw refusal(path, 'is not the key that sealed the webhook secrets in the database; another box may have it')
  if (isLost && secrets === 'usable') rmSync(lostMark)
  return loadBoxKey(path, random)
}

function refusal(path: string, found: string): ExitError {
  return new ExitError(
    78,
    `${path} ${found}. Put it back from a backup. If it is lost, run "touch ${path}.lost" and start: the gateway makes a new key. Then rotate the secret of each webhook, and register each badge again`,
  )
}
