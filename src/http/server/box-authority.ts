import { createPrivateKey, generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto'
import { chmodSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type * as X509 from '@peculiar/x509'
import { ExitError } from '../../errors/index.ts'
import { giveToGroup, makeGroupFolder, readFileIfThere, writeFileDurably } from '../../platform/index.ts'
import { readCertificate } from './certificate.ts'

export type TlsMade = {
  readonly certFile: string
  readonly keyFile: string
  /** The box's own authority, which clients install; absent with an admin's certificate. */
  readonly caFile?: string
  /** SHA-256 of the authority's certificate, as every device shows it. */
  readonly caFingerprint?: string
  readonly names: readonly string[]
  readonly notAfter: string
}

const dayMs = 86_400_000
const caDays = 3653
const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

type Library = typeof X509

/** Loaded when a certificate is made: a gateway that only serves one starts without it. */
async function library(): Promise<Library> {
  const x509 = await import('@peculiar/x509')
  // The package is typed against the DOM; Node has the same API.
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0])
  return x509
}

/**
 * Makes the CA of the box in `dir`, once, and a certificate signed by it for these names and addresses. A later call makes
 * a new certificate by the same CA, so that clients keep trusting the box. A certificate of another CA is replaced only
 * with `force`. Throws ExitError.
 */
export async function initTls(options: {
  dir: string
  names: readonly string[]
  days: number
  nowMs: number
  force: boolean
}): Promise<TlsMade> {
  const { dir, names, days, nowMs, force } = options
  const x509 = await library()
  const ca = await authorityIn(dir, x509, names[0] ?? 'gatehouse', nowMs)
  const files = filesIn(dir)
  const before = readFileIfThere(files.certFile)
  if (before && !force && !isBy(before, ca.certificate)) {
    throw new ExitError(1, `${files.certFile} is not of this box's authority; --force replaces it`)
  }
  const keys = newKeys()
  const notAfterMs = Math.min(nowMs + days * dayMs, ca.certificate.notAfter.getTime())
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: [{ CN: [names[0] ?? 'gatehouse'] }],
    issuer: ca.certificate.subject,
    // The clock of a handheld may be a little behind ours.
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: ecdsa,
    publicKey: await keys.publicKey,
    signingKey: ca.key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(await keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(ca.certificate.publicKey),
    ],
  })
  writePair(dir, `${certificate.toString('pem')}\n`, keys.pem)
  return {
    ...files,
    caFile: join(dir, 'ca.pem'),
    caFingerprint: new X509Certificate(ca.certificate.toString('pem')).fingerprint256,
    names,
    notAfter: new Date(notAfterMs).toISOString(),
  }
}

/** Checks the admin's certificate chain and key and copies them into `dir`. Throws ExitError. */
export function takeTls(options: { dir: string; certFile: string; keyFile: string; nowMs: number }): TlsMade {
  const { cert, key, notAfterMs } = readCertificate(options)
  if (notAfterMs <= options.nowMs) throw new ExitError(1, `${options.certFile} has run out`)
  writePair(options.dir, cert, key)
  const names = new X509Certificate(cert).subjectAltName?.split(', ').map((name) => name.replace(/^[^:]*:/, '')) ?? []
  return { ...filesIn(options.dir), names, notAfter: new Date(notAfterMs).toISOString() }
}

const filesIn = (dir: string) => ({ certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') })

/** The key first: between the two renames a listener that reads them finds a pair that does not fit, and keeps its own. */
function writePair(dir: string, cert: string | Buffer, key: string | Buffer): void {
  makeGroupFolder(dir)
  const { certFile, keyFile } = filesIn(dir)
  writeFileDurably(keyFile, key, 0o600)
  // The daemon reads the key through the folder's group when root has called this.
  giveToGroup(keyFile)
  chmodSync(keyFile, statSync(dir).mode & 0o040 ? 0o640 : 0o600)
  writeFileDurably(certFile, cert, 0o644)
  giveToGroup(certFile)
}

async function authorityIn(dir: string, x509: Library, name: string, nowMs: number) {
  const [certFile, keyFile] = [join(dir, 'ca.pem'), join(dir, 'ca.key')]
  const known = readFileIfThere(certFile)
  if (known) {
    const { cert, key, notAfterMs } = readCertificate({ certFile, keyFile })
    if (notAfterMs <= nowMs) throw new ExitError(1, `${certFile} has run out; move it away to make a new authority`)
    return { certificate: new x509.X509Certificate(cert.toString('utf8')), key: await signingKey(key) }
  }
  // Devices trust the certificate, and only this key signs for it.
  if (readFileIfThere(keyFile)) {
    throw new ExitError(
      1,
      `${certFile} is missing beside ca.key: put it back, or move ca.key away to make a new authority`,
    )
  }
  const keys = newKeys()
  const [publicKey, key] = [await keys.publicKey, await signingKey(keys.pem)]
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [`gatehouse ${name}`] }],
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(nowMs + caDays * dayMs),
    signingAlgorithm: ecdsa,
    keys: { publicKey, privateKey: key },
    extensions: [
      // Path length 0: it signs certificates of this box and no further CA.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  makeGroupFolder(dir)
  writeFileDurably(keyFile, keys.pem, 0o600)
  writeFileDurably(certFile, `${certificate.toString('pem')}\n`, 0o644)
  return { certificate, key }
}

function isBy(pem: Buffer, ca: X509.X509Certificate): boolean {
  try {
    return new X509Certificate(pem).verify(new X509Certificate(ca.toString('pem')).publicKey)
  } catch {
    return false
  }
}

function newKeys(): { pem: string; publicKey: Promise<webcrypto.CryptoKey> } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return {
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: webcrypto.subtle.importKey('spki', spki, ecdsa, true, ['verify']) as Promise<webcrypto.CryptoKey>,
  }
}

function signingKey(pem: string | Buffer): Promise<webcrypto.CryptoKey> {
  const pkcs8 = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  return webcrypto.subtle.importKey('pkcs8', pkcs8, ecdsa, false, ['sign'])
}

/** Positive, and random enough that no two are alike (RFC 5280 asks for at most 20 octets). */
function serial(): string {
  const bytes = webcrypto.getRandomValues(Buffer.alloc(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}
