import { ask, Refused } from '../data/ask.ts'
import type { List } from '../data/shapes.ts'
import type { PushState } from '../push/subscribe.ts'

export type Account = {
  readonly username: string
  readonly source: 'config' | 'database'
  readonly role: string
  readonly groups: readonly string[]
  readonly status: 'active' | 'disabled' | 'overridden'
  readonly sessions: number
  readonly factors: number
  readonly passkeyAlone: boolean
}
export type OwnAccount = Account & {
  readonly canChangePassword: boolean
  readonly secondFactor: {
    readonly required: boolean
    readonly factors: readonly { readonly id: number; readonly kind: 'totp' | 'passkey'; readonly name: string }[]
    readonly recoveryCodes: number
  }
}
export type MadeAccount = Account & { readonly secret: string }
export type OpenSession = {
  readonly id: string
  readonly username: string
  readonly instance: string
  readonly address: string | null
  readonly createdAt: string
  readonly current: boolean
}
export type Named = { readonly name: string; readonly role: string; readonly isDevice: boolean }
export type Sight = {
  readonly username: string
  readonly role: string
  readonly groups: readonly string[]
  readonly warehouses: readonly Seen[]
  readonly cameras: readonly (Seen & { readonly control: boolean; readonly export: boolean })[]
  readonly routes: readonly {
    readonly permission: string
    readonly granted: boolean
    readonly operations: readonly string[]
  }[]
}
export type Seen = {
  readonly id: number
  readonly name: string
  readonly seen: boolean
  readonly why: 'everyone' | 'admin' | 'owner' | 'viewers' | 'not-in-viewers' | 'other-warehouses'
  readonly by: readonly string[]
}

export type PeopleData = {
  /** Undefined for callers without an account of this gateway. */
  readonly own: OwnAccount | undefined
  /** Undefined for callers who may not read it, such as one who has to set up a second factor first. */
  readonly push: PushState | undefined
  readonly sessions: readonly OpenSession[]
  /** Undefined for callers who do not manage accounts. */
  readonly accounts: readonly Account[] | undefined
  readonly linked: readonly Named[]
}

/** Loads what the caller may see of people: the own account and sessions, and for admins everybody. */
export async function loadPeople(manages: boolean): Promise<PeopleData> {
  const [own, push, sessions, accounts, devices, operators] = await Promise.all([
    ask<OwnAccount>('/api/own-account').catch(noneIfNotFound),
    ask<PushState>('/api/push-subscriptions').catch(noneIfWithheld),
    ask<List<OpenSession>>('/api/sessions'),
    manages ? ask<List<Account>>('/api/accounts') : undefined,
    manages ? ask<List<{ name: string; role: string; status: string }>>('/api/devices') : undefined,
    manages ? ask<List<{ username: string; role: string; revokedAt: string | null }>>('/api/operators') : undefined,
  ])
  const inUse = devices?.data.filter(({ status }) => status !== 'revoked') ?? []
  const badges = operators?.data.filter(({ revokedAt }) => revokedAt === null) ?? []
  return {
    own,
    push,
    sessions: sessions.data,
    accounts: accounts?.data,
    linked: [
      ...badges.map(({ username, role }) => ({ name: username, role, isDevice: false })),
      ...inUse.map(({ name, role }) => ({ name, role, isDevice: true })),
    ],
  }
}

function noneIfNotFound(error: unknown): undefined {
  if (error instanceof Refused && error.status === 404) return undefined
  throw error
}

function noneIfWithheld(error: unknown): undefined {
  if (error instanceof Refused && error.status === 403) return undefined
  throw error
}

/** Splits a field of groups at commas. */
export const groupsIn = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
