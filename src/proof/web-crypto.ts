import type { Bytes } from './bytes.ts'

/** The part of WebCrypto (`crypto.subtle`) that a check needs. Node has it as well as a page over HTTPS. */
export type Crypto = {
  digest(algorithm: 'SHA-256', data: Bytes): Promise<ArrayBuffer>
  importKey(format: string, key: Bytes, algorithm: string, extractable: boolean, uses: 'verify'[]): Promise<object>
  verify(algorithm: string, key: object, signature: Bytes, data: Bytes): Promise<boolean>
}
