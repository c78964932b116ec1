/** An error answer of the server, with the class and the words that the real one names. */
export class DavFault extends Error {
  readonly status: number
  readonly exception: string
  readonly text: string | undefined
  /** Further elements of the answer, with their prefix. */
  readonly more: Readonly<Record<string, string>>
  /** Thrown before the server says who asks. */
  isEarly = false

  constructor(status: number, exception: string, text?: string, more: Readonly<Record<string, string>> = {}) {
    super(text ?? exception)
    this.status = status
    this.exception = exception
    this.text = text
    this.more = more
  }

  get xml(): string {
    const elements = { 's:exception': this.exception, ...(this.text !== undefined && { 's:message': this.text }) }
    return errorXml({ ...elements, ...this.more })
  }
}

function errorXml(elements: Readonly<Record<string, string>>): string {
  const inner = Object.entries(elements).map(([name, text]) => `<${name}>${escaped(text)}</${name}>`)
  const spaces = 'xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:o="http://owncloud.org/ns"'
  return `<?xml version="1.0" encoding="utf-8"?><d:error ${spaces}>${inner.join('')}</d:error>`
}

export const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign)

const sabre = (name: string) => `Sabre\\DAV\\Exception\\${name}`
const own = (name: string) => `OCA\\DAV\\Connector\\Sabre\\Exception\\${name}`

export const notFound = (path: string) =>
  new DavFault(404, sabre('NotFound'), `File with name ${path} could not be located`)
export const noNode = (text: string) => new DavFault(404, sabre('NotFound'), text)
export const noPrincipal = (name: string) => noNode(`Principal with name ${name} not found`)
export const conflict = (text: string) => new DavFault(409, sabre('Conflict'), text)
export const forbidden = (text?: string) => new DavFault(403, sabre('Forbidden'), text)
export const badRequest = (text: string) => new DavFault(400, sabre('BadRequest'), text)
export const notAllowed = (text: string) => new DavFault(405, sabre('MethodNotAllowed'), text)
export const noRoom = (text: string) => new DavFault(507, sabre('InsufficientStorage'), text)
export const noPlugin = (method: string) =>
  new DavFault(
    501,
    sabre('NotImplemented'),
    `There was no plugin in the system that was willing to handle this ${method} method.`,
  )
export const noXmlBody = () =>
  new DavFault(
    415,
    sabre('UnsupportedMediaType'),
    'The request body for the MKCOL request must have an xml Content-Type',
  )
export const taken = () =>
  new DavFault(
    412,
    sabre('PreconditionFailed'),
    'The destination node already exists, and the overwrite header is set to false',
    {
      's:header': 'Overwrite',
    },
  )
export const matched = () =>
  new DavFault(
    412,
    sabre('PreconditionFailed'),
    'An If-None-Match header was specified, but the ETag matched (or * was specified).',
    { 's:header': 'If-None-Match' },
  )
export const unmatched = (text: string) =>
  new DavFault(412, sabre('PreconditionFailed'), `An If-Match header was specified${text}`, { 's:header': 'If-Match' })
export const badPath = (text: string) =>
  new DavFault(400, own('InvalidPath'), text, { 'o:retry': 'false', 'o:reason': text })
export const locked = (path: string) => new DavFault(423, own('FileLocked'), `"${path}.upload.part" is locked`)
export const outOfRange = (from: number, size: number) =>
  new DavFault(
    416,
    sabre('RequestedRangeNotSatisfiable'),
    `The start offset (${from}) exceeded the size of the entity (${size})`,
  )
export const notSignedIn = (why: string) =>
  new DavFault(401, sabre('NotAuthenticated'), `No public access to this resource., ${why}`)
export const passwordLogin = () =>
  new DavFault(401, own('PasswordLoginForbidden'), undefined, { 'o:hint': 'password login forbidden' })
export const tooMany = () => new DavFault(429, own('TooManyRequests'), undefined, { 'o:hint': 'too many requests' })
export const disabled = (scheme: 'basic' | 'bearer') =>
  scheme === 'basic'
    ? new DavFault(503, sabre('ServiceUnavailable'), 'OC\\User\\DisabledUserException: Account disabled')
    : new DavFault(500, 'OC\\User\\DisabledUserException', 'Account disabled')
export const inMaintenance = () =>
  new DavFault(503, 'OCA\\DAV\\Exception\\ServerMaintenanceMode', 'System is in maintenance mode.')
/** At the first request to an account that no one has used. */
export const firstUse = () => new DavFault(500, 'Error', 'Call to a member function getMetadata() on null')
export const noAlgorithm = () =>
  new DavFault(500, 'ValueError', 'hash_file(): Argument #1 ($algo) must be a valid hashing algorithm')
export const hiddenFile = (path: string) =>
  new DavFault(500, 'OCP\\Files\\ForbiddenException', `Invalid path: files${path}`)
/** The same to a PUT, which is refused before the server says who asks. */
export function earlyHiddenFile(path: string): DavFault {
  const fault = hiddenFile(path)
  fault.isEarly = true
  return fault
}
export const badMtime = (value: string) =>
  new DavFault(
    500,
    'InvalidArgumentException',
    /^\d+$/.test(value)
      ? `X-OC-MTime header must be a valid positive unix timestamp greater than one day, got "${value}".`
      : `X-OC-MTime header must be a valid integer (unix timestamp), got "${value}".`,
  )
