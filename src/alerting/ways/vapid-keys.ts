import { join } from 'node:path'
import webPush from 'web-push'
import { readFileIfThere, writeFileDurably } from '../../platform/index.ts'

export type VapidKeys = { readonly publicKey: string; readonly privateKey: string }

/**
 * Reads the key pair by which push services know this gateway, or makes it. A browser's subscription is bound to it: with another
 * pair each person must subscribe again. Throws when the file is damaged.
 */
export function vapidKeys(dataDir: string): VapidKeys {
  const path = join(dataDir, 'keys', 'vapid.json')
  const found = readFileIfThere(path)
  if (found === undefined) {
    const made = webPush.generateVAPIDKeys()
    writeFileDurably(path, Buffer.from(`${JSON.stringify(made)}\n`), 0o600)
    return made
  }
  const { publicKey, privateKey } = parsed(found.toString('utf8')) ?? {}
  if (typeof publicKey === 'string' && typeof privateKey === 'string') return { publicKey, privateKey }
  throw new Error(`${path} is damaged; put it back from a backup, or remove it, then people subscribe again`)
}

function parsed(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
