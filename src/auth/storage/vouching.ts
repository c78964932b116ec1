import { permissionsOf, type Role, roleWhileUnconfirmed } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import { type NameSettings, roleOfGroups } from '../config-names.ts'
import { type Presented, sameButForCase } from '../credentials.ts'
import type { Verified } from '../verifier.ts'
import type { GateAnswer } from './gate.ts'

/** `instances`: as the config names them; only these are asked. */
export type StorageSettings = NameSettings & {
  readonly freshForMs: number
  readonly staleForMs: number
  readonly defaultRole: Role
}

export type Belief = { readonly username: string; readonly isStale: boolean }

export type Credential = {
  /** HMAC of it, base64. */
  readonly key: string
  /** Under which another user's name is remembered. */
  readonly mismatchKey: string
  readonly presented: Presented
  readonly login: string
  readonly instance: string
}

/** A verified caller, with the settings and answer behind it. */
export type Vouched = { readonly settings: StorageSettings; readonly isStale: boolean; readonly verified: Verified }

/** Returns the caller as the groups make it. A stale admin is a supervisor. */
export function callerOf(
  { username, isStale }: Belief,
  instance: string,
  groups: readonly string[],
  settings: StorageSettings,
): Caller {
  const role = roleOfGroups(groups, instance, settings)
  const named = { username, instance, groups }
  if (!isStale) return { ...named, role, permissions: permissionsOf(role), authMode: 'storage' }
  const lowered = roleWhileUnconfirmed(role)
  return {
    ...named,
    role: lowered,
    permissions: permissionsOf(lowered),
    authMode: 'offline-cache',
    ...(lowered !== role && {
      withheld: 'acts of an admin wait until the storage server has answered; try again in some seconds',
    }),
  }
}

/** Turns a full queue into an unclear answer, so that a known caller gets the last yes. */
export function tooMany(error: unknown): GateAnswer {
  if (!(error instanceof AppError) || error.code !== 'NOT_READY') throw error
  const why = 'not asked: too many questions at once'
  return {
    kind: 'unclear',
    why,
    isLockOut: false,
    retryAfterMs: undefined,
    mayCount: false,
    asBearer: true,
    knowsLogin: false,
  }
}

export const idOf = (key: string): Buffer => Buffer.from(key, 'base64')

/** Says whether the presented name is one that the server accepts for the same user. */
export function isNameOf({ presented, login }: Credential, answer: GateAnswer & { kind: 'verified' }): boolean {
  const { username } = presented
  if (username === answer.username || (username === login && answer.knowsLogin)) return true
  if (presented.basicUser === undefined) return false
  const others = [answer.username, answer.email, ...(answer.knowsLogin ? [login] : [])]
  return others.some((name) => name !== undefined && sameButForCase(username, name))
}

/**
 * A bearer token without a login is checked more strictly than the same secret with one, so they are remembered
 * separately.
 */
export const mismatchKey = (key: string, presented: Presented): string =>
  presented.basicUser !== undefined || presented.isTyped ? `login ${key}` : key

/** Makes the error for a question without an answer: why, and how long it lasts. */
export function notVouchedFor(answer: GateAnswer): AppError {
  const retryAfterMs = answer.kind === 'unclear' ? answer.retryAfterMs : undefined
  const retryAfterSeconds = Math.max(1, Math.ceil((retryAfterMs ?? (answer.held ? 300_000 : 5000)) / 1000))
  const cause = answer.kind === 'unclear' ? { cause: answer.why } : {}
  const inTheMeantime = 'an application password works at once'
  if (answer.held === 'own-tries') {
    return new AppError('RATE_LIMITED', 'Too many wrong passwords for this user name from here', {
      details: `try again in ${retryAfterSeconds} s; ${inTheMeantime}`,
      retryAfterSeconds,
    })
  }
  if (answer.held === 'tries-of-all') {
    return new AppError('SIGN_IN_TRIES_SPENT', 'Too many wrong passwords were sent through this gateway', {
      details: `the storage server takes no more account passwords from it for now: try again in ${retryAfterSeconds} s; ${inTheMeantime}`,
      retryAfterSeconds,
      ...cause,
    })
  }
  return new AppError('AUTH_BACKEND_UNREACHABLE', 'The storage server cannot say who you are', {
    details: `try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
    ...cause,
  })
}
