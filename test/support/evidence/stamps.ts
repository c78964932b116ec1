/** A time stamp authority of RFC 3161, made by openssl. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type StampAuthority = {
  /** File with the PEM of its certificate. */
  readonly file: string
  readonly certificate: string
  /** Returns the token (DER) that stamps the SHA-256 of these bytes. */
  stamp(data: string | Uint8Array): Buffer
  /** Answers a request (DER) as openssl does. */
  reply(query: Uint8Array): Buffer
}

const config = `
[tsa]
default_tsa = here
[here]
serial = serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
`

/** Makes an authority that lives as long as the test. */
export function stampAuthority(
  t: { teardown(work: () => unknown): void },
  { chained = false }: { chained?: boolean } = {},
): StampAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'stamp-authority-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  writeFileSync(join(folder, 'tsa.cnf'), config)
  writeFileSync(join(folder, 'serial'), '01\n')
  const usage = ['-addext', 'extendedKeyUsage=critical,timeStamping', '-addext', 'keyUsage=critical,digitalSignature']
  const subject = ['-subj', '/CN=Time of the tests', '-days', '30', ...usage]
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.pem', ...subject)
  if (chained) {
    const authority = ['-subj', '/CN=Authority of the tests', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '30',
      ...authority,
    )
    openssl('req', '-new', '-key', 'tsa.key', '-subj', '/CN=Time of the tests', '-out', 'tsa.csr')
    writeFileSync(join(folder, 'ext'), 'extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n')
    const issued = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', '7', '-days', '30', '-extfile', 'ext']
    openssl('x509', '-req', '-in', 'tsa.csr', ...issued, '-out', 'tsa.pem')
  }
  const file = join(folder, chained ? 'ca.pem' : 'tsa.pem')
  const made = ['-config', 'tsa.cnf', '-queryfile', 'query', '-signer', 'tsa.pem', '-inkey', 'tsa.key']
  return {
    file,
    certificate: readFileSync(file, 'utf8'),
    stamp: (data) => {
      writeFileSync(join(folder, 'data'), data)
      openssl('ts', '-query', '-data', 'data', '-sha256', '-cert', '-out', 'query')
      openssl('ts', '-reply', ...made, '-token_out', '-out', 'token')
      return readFileSync(join(folder, 'token'))
    },
    reply: (query) => {
      writeFileSync(join(folder, 'query'), query)
      openssl('ts', '-reply', ...made, '-out', 'reply')
      return readFileSync(join(folder, 'reply'))
    },
  }
}
