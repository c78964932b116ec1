import { AppError } from '../errors/index.ts'
import { Recent } from './recent.ts'

/** What a request says of its caller, before anything of it is believed. */
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

/** @param details what the two names are, and what to send; of a storage user only to who has the right secret */
export const userMismatch = (details: string) =>
  new AppError('USER_MISMATCH', 'The secret belongs to another user name', { details })

/** The names in Authorization and in X-Storage-Username differ, and nobody is asked what that means. */
export const twoNames = (basicUser: string, username: string) =>
  userMismatch(
    `Authorization names ${JSON.stringify(basicUser)}, and X-Storage-Username names ${JSON.stringify(username)}: send the same name in both`,
  )

/** Storage servers know no difference of case; what they take for the same name is theirs to say. */
export const sameButForCase = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

type Headers = { authorization?: string | undefined; instance?: string | undefined; username?: string | undefined }

const longestUrl = 2048
const utf8 = new TextDecoder('utf-8', { fatal: true })

const isAscii = /^[\x20-\x7e]*$/

/** HTTP hands over bytes as Latin-1; clients send UTF-8. What is no UTF-8 stays as it is. */
function fromHeader(value: string | undefined): string | undefined {
  if (!value || isAscii.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** Reads the three headers of the document. Throws AUTH_REQUIRED or STORAGE_HEADERS_REQUIRED. */
export function readCredentials({ authorization, instance, username: sent }: Headers): Presented {
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

/** Few are named over and over, by every request; strangers' many are not worth more memory. */
const normalised = new Recent<{ readonly url: string | undefined }>(256)

/** An instance URL in the form in which two of them are compared: origin and path without a final slash. */
export function normaliseInstance(value: string): string | undefined {
  const known = normalised.get(value)
  if (known) return known.url
  const url = normalise(value)
  if (value.length <= longestUrl) normalised.set(value, { url })
  return url
}

function normalise(value: string): string | undefined {
  // What the parser would drop or turn round is no other spelling of a configured address.
  if (/[\s\\?#@]/.test(value) || !URL.canParse(value)) return undefined
  const { origin, pathname } = new URL(value)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}
