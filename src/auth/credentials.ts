import { AppError } from '../errors/index.ts'
import { Recent } from './rates/recent.ts'

/** Claims of a request about its caller, before verification. */
export type Presented = {
  readonly scheme: 'bearer' | 'basic'
  readonly secret: string
  /** User name inside Basic credentials. */
  readonly basicUser?: string
  readonly instance: string
  readonly username: string
  /** A person typed the name, so it may be any login that the server takes. */
  readonly isTyped?: boolean
}

export const invalidCredentials = () => new AppError('INVALID_CREDENTIALS', 'User name or secret is wrong')

/** Makes USER_MISMATCH. @param details the two names and the remedy; a storage user's only for a right secret */
export const userMismatch = (details: string) =>
  new AppError('USER_MISMATCH', 'The secret belongs to another user name', { details })

/** Makes the error for different names in Authorization and X-Storage-Username; no verifier is asked. */
export const twoNames = (basicUser: string, username: string) =>
  userMismatch(
    `Authorization names ${JSON.stringify(basicUser)}, and X-Storage-Username names ${JSON.stringify(username)}: send the same name in both`,
  )

/** Compares names without case, as storage servers do. */
export const sameButForCase = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

type Headers = { authorization?: string | undefined; instance?: string | undefined; username?: string | undefined }

/** Parsed headers of the newest request of each connection; they end with the connection. */
const readLast = new WeakMap<object, Headers & { readonly presented: Presented }>()

const longestUrl = 2048
const utf8 = new TextDecoder('utf-8', { fatal: true })

const isAscii = /^[\x20-\x7e]*$/

/** Decodes a header as UTF-8, since HTTP hands bytes over as Latin-1. Other text stays as it is. */
function fromHeader(value: string | undefined): string | undefined {
  if (!value || isAscii.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/**
 * Reads the three credential headers. The same headers again on the same connection give the same object, so that what is
 * computed of a secret can be kept with it. Throws AUTH_REQUIRED or STORAGE_HEADERS_REQUIRED.
 */
export function readCredentials(sent: Headers, connection?: object): Presented {
  const last = connection && readLast.get(connection)
  if (last && areSame(last, sent)) return last.presented
  const presented = readAnew(sent)
  if (connection) readLast.set(connection, { ...sent, presented })
  return presented
}

const areSame = (a: Headers, b: Headers): boolean =>
  a.authorization === b.authorization && a.instance === b.instance && a.username === b.username

function readAnew({ authorization, instance, username: sent }: Headers): Presented {
  const username = fromHeader(sent)
  const presented = parseAuthorization(authorization)
  if (!presented) throw new AppError('AUTH_REQUIRED', 'Sign in with Authorization: Bearer or Basic')
  if (!instance || !username) {
    const missing = [!instance && 'X-Storage-Instance', !username && 'X-Storage-Username'].filter(Boolean).join(', ')
    throw new AppError('STORAGE_HEADERS_REQUIRED', 'Both X-Storage headers are needed', {
      details: `missing: ${missing}`,
    })
  }
  return { ...presented, instance, username }
}

function parseAuthorization(
  header: string | undefined,
): Pick<Presented, 'scheme' | 'secret' | 'basicUser'> | undefined {
  const [, scheme, value] = header?.match(/^(Bearer|Basic) +([A-Za-z0-9._~+/-]+=*)$/i) ?? []
  if (!scheme || !value) return undefined
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', secret: value }
  try {
    const text = utf8.decode(Buffer.from(value, 'base64'))
    const colon = text.indexOf(':')
    if (colon < 1 || colon === text.length - 1) return undefined
    return { scheme: 'basic', basicUser: text.slice(0, colon), secret: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}

/** Most requests name one of a few instances. */
const normalised = new Recent<{ readonly url: string | undefined }>(256)

/**
 * Normalizes an instance URL for comparison: origin and path without a final slash. Undefined when it cannot be one.
 */
export function normaliseInstance(value: string): string | undefined {
  const known = normalised.get(value)
  if (known) return known.url
  const url = normalise(value)
  if (value.length <= longestUrl) normalised.set(value, { url })
  return url
}

function normalise(value: string): string | undefined {
  // The URL parser drops or changes these characters, so such a value is no other spelling of a configured address.
  if (/[\s\\?#@]/.test(value) || !URL.canParse(value)) return undefined
  const { origin, pathname } = new URL(value)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}
