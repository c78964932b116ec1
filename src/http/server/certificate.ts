import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ExitError } from '../../errors/index.ts'
import { errorMessage } from '../../platform/faults.ts'

export type TlsFiles = { readonly certFile: string; readonly keyFile: string }

export type Certificate = {
  readonly cert: Buffer
  readonly key: Buffer
  readonly notAfterMs: number
}

/** Reads a certificate chain and its key, both PEM. Throws ExitError when one cannot be read or they do not match. */
export function readCertificate({ certFile, keyFile }: TlsFiles): Certificate {
  const [cert, key] = [read(certFile), read(keyFile)]
  const parsed = parse(certFile, () => new X509Certificate(cert))
  const secret = parse(keyFile, () => createPrivateKey(key))
  if (!parsed.checkPrivateKey(secret))
    throw new ExitError(1, `${keyFile} is not the key of the certificate ${certFile}`)
  return { cert, key, notAfterMs: Date.parse(parsed.validTo) }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ExitError(1, `the certificate cannot be read: ${errorMessage(error)}`, error)
  }
}

/** Does not repeat the message of OpenSSL, which might quote the key. */
function parse<T>(file: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new ExitError(1, `${file} holds no PEM that can be used for TLS`)
  }
}
