import { createCipheriv, createDecipheriv } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { readFileIfThere, writeFileDurably } from '../files.ts'
import type { RandomBytes } from './random.ts'

/** Encrypts secrets that must be read again (webhook secrets) with the key of this box: AES-256-GCM. */
export type SecretBox = {
  /** version byte, 12-byte nonce, 16-byte tag, ciphertext; `context` binds it to its row. */
  seal(text: string, context: string): Buffer
  /** The text again. Throws when the key, the bytes or the context differ. */
  open(sealed: Uint8Array, context: string): string
}

export function secretBox(key: Uint8Array, random: RandomBytes): SecretBox {
  return {
    seal(text, context) {
      const nonce = random(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), sealed])
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed)
      if (bytes[0] !== 1 || bytes.length < 29) throw new Error('not a sealed secret')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 13)).setAAD(Buffer.from(context))
      decipher.setAuthTag(bytes.subarray(13, 29))
      return Buffer.concat([decipher.update(bytes.subarray(29)), decipher.final()]).toString('utf8')
    },
  }
}

/** Reads the box's key, or makes it at first start (0600). Throws when the file is not 32 bytes. */
export function loadBoxKey(path: string, random: RandomBytes): Buffer {
  const found = readFileIfThere(path)
  if (found) {
    if (found.length !== 32) throw new Error(`${path} is not a key of 32 bytes; restore it from a backup`)
    return found
  }
  const key = random(32)
  writeFileDurably(path, key, 0o600)
  chmodSync(path, 0o600)
  return key
}
