import { X509Certificate } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { HubConfig } from '../config/index.ts'
import { readFileIfThere } from '../platform/index.ts'

/** The certificate that gateways trust at the head office, and its SHA-256 in hex. */
export type Authority = { readonly pem: string; readonly fingerprint: string }

const onePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Returns the authority of the first listener with TLS: the last certificate of its chain, or `ca.pem` beside it, where
 * "gatehouse tls init" puts it. Undefined when neither is its own authority, as with a public one: then gateways know it
 * already.
 */
export function authorityOf(listen: HubConfig['listen']): Authority | undefined {
  const tls = listen.find((one) => one.tls !== null)?.tls
  const chain = tls ? certificatesIn(tls.certFile) : []
  const [leaf] = chain
  if (!tls || !leaf) return undefined
  const beside = certificatesIn(join(dirname(tls.certFile), 'ca.pem'))
  const found = [...chain.toReversed(), ...beside].find((one) => isSelfSigned(one) && vouchesFor(one, chain.at(-1)))
  if (!found) return undefined
  return { pem: found.toString(), fingerprint: fingerprintOf(found.raw) }
}

/** Returns the SHA-256 of a certificate (DER), in hex. */
export function fingerprintOf(certificate: X509Certificate | Buffer): string {
  const { fingerprint256 } = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate)
  return fingerprint256.replaceAll(':', '').toLowerCase()
}

function certificatesIn(file: string): X509Certificate[] {
  const text = readFileIfThere(file)?.toString('utf8') ?? ''
  return [...text.matchAll(onePem)].map(([pem]) => new X509Certificate(pem))
}

const isSelfSigned = (one: X509Certificate): boolean => one.issuer === one.subject && one.verify(one.publicKey)

function vouchesFor(authority: X509Certificate, last: X509Certificate | undefined): boolean {
  return last !== undefined && last.issuer === authority.subject && last.verify(authority.publicKey)
}
