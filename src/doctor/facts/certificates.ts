import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { type Config, isLoopback } from '../../config/index.ts'
import { ExitError } from '../../errors/index.ts'
import { readCertificate } from '../../http/index.ts'
import type { CertificateFacts } from '../findings/network.ts'

const dayMs = 86_400_000

/** Looks at the certificate of each listener, as the daemon would read it. */
export function certificateFacts({ listen, site }: Pick<Config, 'listen' | 'site'>, nowMs: number): CertificateFacts[] {
  const host = new URL(site.url).hostname.replace(/^\[|\]$/g, '')
  const needed = isLoopback(host) ? [] : [host]
  return listen.flatMap(({ tls }) => (tls ? [lookAt(tls, needed, nowMs)] : []))
}

function lookAt(
  files: { certFile: string; keyFile: string },
  needed: readonly string[],
  nowMs: number,
): CertificateFacts {
  const nothing = { certFile: files.certFile, daysLeft: 0, uncovered: [], chain: 'unknown' } as const
  try {
    const { notAfterMs } = readCertificate(files)
    const chain = certificatesIn(readFileSync(files.certFile, 'utf8'))
    const [leaf] = chain
    const covers = (name: string) => (isIP(name) ? leaf?.checkIP(name) : leaf?.checkHost(name)) !== undefined
    return {
      ...nothing,
      problem: null,
      daysLeft: Math.floor((notAfterMs - nowMs) / dayMs),
      uncovered: needed.filter((name) => !covers(name)),
      chain: chainOf(chain, join(dirname(files.certFile), 'ca.pem')),
    }
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    return { ...nothing, problem: error.message }
  }
}

function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

const isBy = (one: X509Certificate, issuer: X509Certificate) => one.checkIssued(issuer) && one.verify(issuer.publicKey)

/** Says who vouches for the last certificate of a chain, or that a link is missing. */
function chainOf(chain: readonly X509Certificate[], caFile: string): CertificateFacts['chain'] {
  const broken = chain.some((one, i) => {
    const next = chain[i + 1]
    return next !== undefined && !isBy(one, next)
  })
  const last = chain.at(-1)
  if (broken || !last) return 'incomplete'
  if (own(caFile).some((ca) => isBy(last, ca))) return 'box-ca'
  const known = getCACertificates('default').map((pem) => new X509Certificate(pem))
  if (known.some((root) => root.fingerprint256 === last.fingerprint256 || isBy(last, root))) return 'public'
  if (isBy(last, last)) return chain.length === 1 ? 'self-signed' : 'unknown'
  // An issuer with an address for fetching it is an authority of the internet: its intermediate belongs in the file.
  return last.infoAccess?.includes('CA Issuers') ? 'incomplete' : 'unknown'
}

function own(caFile: string): X509Certificate[] {
  try {
    return certificatesIn(readFileSync(caFile, 'utf8'))
  } catch {
    return []
  }
}
