import type { ClientError } from 'openid-client'
import { AppError } from '../errors/index.ts'
import { errorLine, NoOutsideAnswer } from '../platform/index.ts'
import { type Library, loadedLibrary } from './library.ts'

/** Why a sign-in at a provider did not work; what the person reads. The page has the same in its words (`sign-in/provider-texts.ts`). */
export const reasons = {
  unreachable: 'the provider does not answer as it should; try again in some seconds',
  again: 'this sign-in is too old, used, or of another browser; begin it again',
  denied: 'the provider did not sign you in',
  'other-provider': 'the answer came from another provider than the one that was asked; begin again',
  token: 'the provider signed in somebody for another program, or its answer is not genuine',
  clocks: 'the clocks of this gateway and the provider differ by more than a minute',
  setup: 'the provider does not know this gateway as the config says; an admin finds the reason in the log',
  factor: 'your role needs a second factor, and the provider did not say that you showed one',
  groups: 'you are in more groups than the provider names; an admin assigns fewer of them to this gateway',
  'not-fresh': 'the provider did not say that you signed in again just now',
  'other-person': 'another person signed in than the one of this session',
} as const

export type Reason = keyof typeof reasons

/** A sign-in at a provider, or a question about one, that did not work. `message` is for the log. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly reason: Reason
  /** The provider says that the sign-in is over. */
  readonly isEnded: boolean

  constructor(reason: Reason, message: string, { isEnded = false } = {}) {
    super(message)
    this.reason = reason
    this.isEnded = isEnded
  }
}

/** Makes the error of the answer. */
export function refusalOf({ reason, message }: ProviderFailure, retryAfterSeconds = 5): AppError {
  if (reason === 'unreachable') {
    const details = `try again in ${retryAfterSeconds} s`
    const options = { details, retryAfterSeconds, cause: message }
    return new AppError('AUTH_BACKEND_UNREACHABLE', 'The OpenID provider cannot say who you are', options)
  }
  return new AppError('PROVIDER_SIGN_IN_FAILED', 'The sign-in at the OpenID provider did not work', {
    details: reasons[reason],
  })
}

/** Errors of OAuth (RFC 6749, 5.2) that blame the config of this gateway. */
const setupErrors = ['invalid_client', 'unauthorized_client', 'invalid_scope', 'unsupported_grant_type']

/** Reads an error of the library. No token, claim or code comes into the message. */
export function failureOf(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  const silent = chainOf(error).find((one) => one instanceof NoOutsideAnswer)
  if (silent) return new ProviderFailure('unreachable', silent.message)
  const library = loadedLibrary()
  return (library && ofLibrary(library, error)) ?? new ProviderFailure('unreachable', errorLine(error))
}

function ofLibrary(library: Library, error: unknown): ProviderFailure | undefined {
  if (error instanceof library.AuthorizationResponseError) {
    return new ProviderFailure(
      setupErrors.includes(error.error) ? 'setup' : 'denied',
      `answered ${nameOf(error.error)}`,
    )
  }
  if (error instanceof library.ResponseBodyError) return ofBody(error.error, error.status)
  if (error instanceof library.WWWAuthenticateChallengeError) {
    return new ProviderFailure('again', 'refused the access token', { isEnded: error.status === 401 })
  }
  return error instanceof library.ClientError ? ofCheck(error) : undefined
}

function ofBody(code: string, status: number): ProviderFailure {
  const message = `answered ${nameOf(code)} (HTTP ${status})`
  if (code === 'invalid_grant') return new ProviderFailure('again', message, { isEnded: true })
  return new ProviderFailure(setupErrors.includes(code) ? 'setup' : 'unreachable', message)
}

/** Codes of the library's checks that say that an answer is no answer of a provider. */
const noAnswer = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR', 'OAUTH_TIMEOUT']

function ofCheck(error: ClientError): ProviderFailure {
  const { code = '' } = error
  const claim = claimOf(error)
  const message = `${code || error.message}${claim === '' ? '' : ` in ${claim}`}`
  if (noAnswer.includes(code) || code === 'OAUTH_ABORT') return new ProviderFailure('unreachable', message)
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') {
    return new ProviderFailure(claim === 'auth_time' ? 'not-fresh' : 'clocks', message)
  }
  // `max_age` makes the claim obligatory (OpenID Connect Core, 3.1.2.1), and the library says this in words alone.
  const lacksTime = chainOf(error).some((one) => one instanceof Error && one.message.includes('"auth_time"'))
  return lacksTime
    ? new ProviderFailure('not-fresh', 'answered without auth_time')
    : new ProviderFailure('token', message)
}

/** Returns the claim that a check blames; '' when it names none. */
function claimOf(error: ClientError): string {
  const named = chainOf(error).map((one) => (typeof one === 'object' && one && 'claim' in one ? one.claim : undefined))
  return nameOf(named.find((claim) => typeof claim === 'string') ?? '')
}

function chainOf(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : [error]
}

/** A name from outside in the log: short, and of harmless letters. */
const nameOf = (text: string): string => text.replace(/[^A-Za-z0-9_.-]/g, '').slice(0, 64)
