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
export function stampAuthority(t: { teardown(work: () => unknown): void }): StampAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'stamp-authority-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  writeFileSync(join(folder, 'tsa.cnf'), config)
  writeFileSync(join(folder, 'serial'), '01\n')
  const usage = ['-addext', 'extendedKeyUsage=critical,timeStamping', '-addext', 'keyUsage=critical,digitalSignature']
  const subject = ['-subj', '/CN=Time of the tests', '-days', '30', ...usage]
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.pem', ...subject)
  const file = join(folder, 'tsa.pem')
  return {
    file,
    certificate: readFileSync(file, 'utf8'),
    stamp: (data) => {
      writeFileSync(join(folder, 'data'), data)
      openssl('ts', '-query', '-data', 'data', '-sha256', '-cert', '-out', 'query')
      const made = ['-config', 'tsa.cnf', '-queryfile', 'query', '-signer', 'tsa.pem', '-inkey', 'tsa.key']
      openssl('ts', '-reply', ...made, '-token_out', '-out', 'token')
      return readFileSync(join(folder, 'token'))
    },
  }
}
