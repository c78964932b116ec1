import { X509Certificate } from 'node:crypto'
import { dirname, join } from 'node:path'
import { readFileIfThere } from '../../platform/index.ts'
import type { TlsFiles } from './certificate.ts'

/** The box's own CA, as devices install it. */
export type BoxAuthority = {
  readonly pem: string
  /** SHA-256 of the certificate, as every device shows it: pairs of hex digits with colons. */
  readonly fingerprint: string
}

/**
 * Returns the CA beside the certificate of a listener, if that CA signed the certificate. Returns undefined for a certificate of
 * another CA, without TLS, and while the files cannot be read. It holds the certificate alone, whatever else the file has.
 */
export function servedAuthority(
  listeners: readonly { readonly tls: Pick<TlsFiles, 'certFile'> | null }[],
): BoxAuthority | undefined {
  for (const { tls } of listeners) {
    const found = tls ? authorityOf(tls.certFile) : undefined
    if (found) return found
  }
  return undefined
}

function authorityOf(certFile: string): BoxAuthority | undefined {
  try {
    const [cert, ca] = [readFileIfThere(certFile), readFileIfThere(join(dirname(certFile), 'ca.pem'))]
    if (!cert || !ca) return undefined
    const authority = new X509Certificate(ca)
    if (!authority.ca || !new X509Certificate(cert).verify(authority.publicKey)) return undefined
    return { pem: authority.toString(), fingerprint: authority.fingerprint256 }
  } catch {
    return undefined
  }
}
