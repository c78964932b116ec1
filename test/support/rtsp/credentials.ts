/** Sign-in by Basic (RFC 7617) and Digest with MD5 (RFC 2617 and 7616), as cameras do it. */
import { createHash } from 'node:crypto'

export type Credentials = {
  readonly username: string
  readonly password: string
  /** Default: digest. */
  readonly scheme?: 'basic' | 'digest'
}

const realm = 'camera'

/** The value of WWW-Authenticate. */
export function challenge(scheme: 'basic' | 'digest', nonce: string): string {
  return scheme === 'basic' ? `Basic realm="${realm}"` : `Digest realm="${realm}", nonce="${nonce}"`
}

/** Whether this Authorization header proves knowledge of the credentials for this request. */
export function isSignedIn(
  header: string,
  request: { readonly method: string; readonly url: string },
  credentials: Credentials,
  nonce: string,
): boolean {
  if (credentials.scheme === 'basic') return header === `Basic ${base64(credentials)}`
  const fields = digestFields(header)
  if (fields['nonce'] !== nonce || fields['uri'] !== request.url) return false
  return (
    fields['response'] === digestResponse(fields, request.method, credentials.password) &&
    fields['username'] === credentials.username
  )
}

/** The response that a client computes from the fields of its header (RFC 7616, 3.4.1; without qop RFC 2069's). */
export function digestResponse(fields: Record<string, string>, method: string, password: string): string {
  const secret = md5(fields['username'], fields['realm'], password)
  const what = md5(method, fields['uri'])
  if (fields['qop'] === undefined) return md5(secret, fields['nonce'], what)
  return md5(secret, fields['nonce'], fields['nc'], fields['cnonce'], fields['qop'], what)
}

/** The fields of `Digest name="value", name=value`; none when it is another scheme. */
export function digestFields(header: string): Record<string, string> {
  if (!/^digest /i.test(header)) return {}
  const fields = header.slice('digest '.length).matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)
  return Object.fromEntries([...fields].map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']))
}

const base64 = ({ username, password }: Credentials) => Buffer.from(`${username}:${password}`).toString('base64')

const md5 = (...parts: readonly (string | undefined)[]) => createHash('md5').update(parts.join(':')).digest('hex')
